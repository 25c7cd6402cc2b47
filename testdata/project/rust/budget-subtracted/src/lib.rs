mod pages;

use std::thread::sleep;
use std::time::Duration;

pub fn crawl(client: &reqwest::blocking::Client, url: &str) -> reqwest::Result<String> {
    let mut left = 5u32;
    loop {
        match pages::page(client, url, &mut left) {
            Err(_) if left > 0 => sleep(Duration::from_secs(5)),
            outcome => return outcome,
        }
    }
}
