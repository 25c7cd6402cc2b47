use std::thread::sleep;
use std::time::Duration;

use reqwest::blocking::Client;

pub fn fetch(client: &Client, url: &str) -> reqwest::Result<String> {
    let mut attempt = 1;
    loop {
        match client.get(url).timeout(Duration::from_secs(5)).send() {
            Ok(response) => return response.error_for_status()?.text(),
            Err(error) if attempt == 3 => return Err(error),
            Err(_) => sleep(Duration::from_secs(attempt)),
        }
        attempt += 1;
    }
}
