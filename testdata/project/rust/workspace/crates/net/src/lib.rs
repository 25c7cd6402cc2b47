mod http;

pub use http::get_text as text;
pub use http::Fault;
