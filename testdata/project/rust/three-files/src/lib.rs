pub mod net;
pub mod report;
pub mod stock;
