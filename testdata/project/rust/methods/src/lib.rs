pub mod api;
pub mod forecast;
