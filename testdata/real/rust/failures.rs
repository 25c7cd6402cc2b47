//! Failure is often no `Err`.

use std::ops::ControlFlow;
use std::process::Command;
use std::thread;
use std::time::Duration;

use reqwest::blocking::{Client, Response};

pub fn status(client: &Client, url: &str) -> reqwest::Result<Option<Response>> {
    for _ in 0..3 { // site: cap=count max_attempts=3 retried_statuses=500-599
        let response = client.get(url).send()?;
        if !response.status().is_server_error() {
            return Ok(Some(response));
        }
        thread::sleep(Duration::from_secs(1));
    }
    Ok(None)
}

fn try_once(client: &Client, url: &str) -> Option<String> {
    client.get(url).send().ok()?.text().ok()
}

pub fn option(client: &Client, url: &str) -> Option<String> {
    for _ in 0..3 { // site: cap=count max_attempts=3 delay=fixed
        if let Some(text) = try_once(client, url) {
            return Some(text);
        }
        thread::sleep(Duration::from_secs(1));
    }
    None
}

fn sent(client: &Client, url: &str) -> bool {
    client.put(url).send().is_ok()
}

pub fn boolean(client: &Client, url: &str) -> bool {
    let mut tries = 0;
    while !sent(client, url) { // site: cap=count max_attempts=5 delay=fixed
        tries += 1;
        if tries == 5 {
            return false;
        }
        thread::sleep(Duration::from_secs(3));
    }
    true
}

pub enum Outcome {
    Done,
    Busy,
}

fn push(client: &Client, url: &str) -> reqwest::Result<Outcome> {
    let response = client.put(url).send()?;
    Ok(if response.status() == 503 { Outcome::Busy } else { Outcome::Done })
}

pub fn enumerated(client: &Client, url: &str) -> reqwest::Result<bool> {
    for _ in 0..4 { // site: cap=count max_attempts=4 delay=fixed
        match push(client, url)? {
            Outcome::Done => return Ok(true),
            Outcome::Busy => thread::sleep(Duration::from_secs(1)),
        }
    }
    Ok(false)
}

fn step(client: &Client, url: &str) -> ControlFlow<Response> {
    match client.get(url).send() {
        Ok(response) => ControlFlow::Break(response),
        Err(_) => ControlFlow::Continue(()),
    }
}

pub fn control_flow(client: &Client, url: &str) -> Option<Response> {
    for _ in 0..4 { // site: cap=count max_attempts=4 delay=fixed
        if let ControlFlow::Break(response) = step(client, url) {
            return Some(response);
        }
        thread::sleep(Duration::from_secs(1));
    }
    None
}

pub fn exit_status(address: &str) -> bool {
    for _ in 0..3 { // site: cap=count max_attempts=3 delay=fixed
        let done = Command::new("curl").args(["--fail", address]).status();
        if done.is_ok_and(|status| status.success()) {
            return true;
        }
        thread::sleep(Duration::from_secs(1));
    }
    false
}
