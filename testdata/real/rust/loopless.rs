//! A retry may have no loop.

use std::thread;
use std::time::Duration;

use reqwest::blocking::{Client, Response};

pub fn second_try(client: &Client, url: &str) -> reqwest::Result<Response> {
    match client.get(url).send() {
        Ok(response) => Ok(response),
        Err(error) if error.is_connect() => {
            thread::sleep(Duration::from_secs(1));
            client.get(url).send() // site: kind=straight-line max_attempts=2
        }
        Err(error) => Err(error),
    }
}

pub fn first(client: &Client, url: &str, left: u32) -> reqwest::Result<Response> {
    match client.get(url).send() {
        Err(_) if left > 0 => second(client, url, left),
        other => other,
    }
}

fn second(client: &Client, url: &str, left: u32) -> reqwest::Result<Response> {
    thread::sleep(Duration::from_secs(1));
    first(client, url, left - 1) // site: kind=recursion
}
