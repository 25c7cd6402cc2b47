use std::thread::sleep;
use std::time::Duration;

use crate::transport;

pub fn refresh(client: &reqwest::blocking::Client, url: &str) -> Option<String> {
    for turn in 0..12 {
        if let Ok(text) = transport::fetch(client, url) {
            return Some(text);
        }
        if turn < 11 {
            sleep(Duration::from_secs(30));
        }
    }
    None
}
