//! Pagination and retry share one loop; two policies live in one loop; broad arms may be narrow.

use std::thread;
use std::time::Duration;

use reqwest::blocking::{Client, Response};

pub fn pages(client: &Client, url: &str) -> reqwest::Result<Vec<String>> {
    let (mut found, mut page, mut failures) = (Vec::new(), 1, 0);
    loop { // site: cap=count max_attempts=4 delay=fixed
        match client.get(format!("{url}?page={page}")).send().and_then(|response| response.text()) {
            Ok(text) if text.is_empty() => return Ok(found),
            Ok(text) => {
                failures = 0;
                found.push(text);
                page += 1;
            }
            Err(error) => {
                failures += 1;
                if failures > 3 {
                    return Err(error);
                }
                thread::sleep(Duration::from_secs(2));
            }
        }
    }
}

pub fn two_policies(client: &Client, url: &str) -> reqwest::Result<Response> {
    let mut connects = 0;
    loop { // site: max_attempts=null
        match client.get(url).send() {
            Err(error) if error.is_connect() => {
                connects += 1;
                if connects == 3 {
                    return Err(error);
                }
            }
            Err(_) => {}
            good => return good,
        }
        thread::sleep(Duration::from_secs(1));
    }
}

fn is_transient(error: &reqwest::Error) -> bool {
    error.is_timeout() || error.is_connect()
}

pub fn narrow(client: &Client, url: &str) -> reqwest::Result<Response> {
    for turn in 0..4 { // site: cap=count max_attempts=4 retried_statuses=
        match client.get(url).send().and_then(|response| response.error_for_status()) {
            Ok(response) => return Ok(response),
            Err(error) if !is_transient(&error) || turn == 3 => return Err(error),
            Err(_) => thread::sleep(Duration::from_secs(1 << turn)),
        }
    }
    unreachable!()
}
