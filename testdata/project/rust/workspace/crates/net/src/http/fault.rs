#[derive(Debug)]
pub struct Fault(pub reqwest::Error);

impl From<reqwest::Error> for Fault {
    fn from(error: reqwest::Error) -> Self {
        Fault(error)
    }
}
