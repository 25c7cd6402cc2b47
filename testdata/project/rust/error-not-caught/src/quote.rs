use std::thread::sleep;
use std::time::Duration;

use crate::wire::{WireError, rate};

pub fn quote(client: &reqwest::blocking::Client, currency: &str) -> Result<String, WireError> {
    let mut turn = 0;
    loop {
        match rate(client, currency) {
            Err(WireError::Busy) if turn < 4 => {
                turn += 1;
                sleep(Duration::from_secs(5));
            }
            outcome => return outcome,
        }
    }
}
