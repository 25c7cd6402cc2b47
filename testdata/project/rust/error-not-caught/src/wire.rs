use std::thread::sleep;
use std::time::Duration;

pub enum WireError {
    Busy,
    GaveUp,
}

pub fn rate(client: &reqwest::blocking::Client, currency: &str) -> Result<String, WireError> {
    for attempt in 0..3u64 {
        match client.get(currency).timeout(Duration::from_secs(5)).send() {
            Ok(response) if response.status() == 409 => return Err(WireError::Busy),
            Ok(response) if !response.status().is_success() => return Err(WireError::GaveUp),
            Ok(response) => return response.text().map_err(|_| WireError::GaveUp),
            Err(_) if attempt == 2 => return Err(WireError::GaveUp),
            Err(_) => sleep(Duration::from_secs(1 + attempt)),
        }
    }
    Err(WireError::GaveUp)
}
