//! What only looks like a retry, and gives no finding.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use reqwest::blocking::{Client, Response};

pub fn polled(client: &Client, url: &str) -> reqwest::Result<String> {
    loop {
        let text = client.get(url).send()?.error_for_status()?.text()?;
        if text != "running" {
            return Ok(text);
        }
        thread::sleep(Duration::from_secs(5));
    }
}

pub fn ready(client: &Client, url: &str) -> bool {
    for _ in 0..60 { // site: kind=probe
        if client.get(url).timeout(Duration::from_secs(1)).send().is_ok() {
            return true;
        }
        thread::sleep(Duration::from_secs(1));
    }
    false
}

pub fn written(out: &mut impl Write, mut data: &[u8]) -> io::Result<()> {
    while !data.is_empty() {
        match out.write(data) {
            Ok(count) => data = &data[count..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

pub fn unique(folder: &str) -> io::Result<File> {
    let mut number = 0;
    loop {
        match File::create_new(format!("{folder}/{number}")) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            other => return other,
        }
    }
}

pub fn mirrors(client: &Client, path: &str, hosts: &[&str]) -> Option<Response> {
    for host in hosts {
        match client.get(format!("https://{host}/{path}")).timeout(Duration::from_secs(5)).send() {
            Ok(response) => return Some(response),
            Err(_) => eprintln!("Retrying with another mirror"),
        }
    }
    None
}

pub fn raised(counter: &AtomicU64, value: u64) {
    let mut known = counter.load(Ordering::Relaxed);
    while known < value {
        match counter.compare_exchange(known, value, Ordering::SeqCst, Ordering::Relaxed) {
            Ok(_) => return,
            Err(other) => known = other,
        }
    }
}

pub fn skipped(client: &Client, urls: &[String]) -> Vec<Response> {
    let mut found = Vec::new();
    for url in urls {
        let Ok(response) = client.get(url).send() else { continue };
        found.push(response);
    }
    found
}

#[cfg(test)]
mod tests {
    #[test]
    fn becomes_ready() {
        while reqwest::blocking::get("http://localhost:8080").is_err() {}
    }
}
