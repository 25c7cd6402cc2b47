//! The wait is seldom a sleep in the handler.

use std::sync::mpsc::Receiver;
use std::thread;
use std::time::Duration;

use reqwest::blocking::{Client, Response};

pub fn at_the_top(client: &Client, url: &str) -> reqwest::Result<Response> {
    let mut turn = 0;
    loop { // site: cap=count max_attempts=5 delay=exponential
        if turn > 0 {
            thread::sleep(Duration::from_secs(1 << turn));
        }
        turn += 1;
        match client.get(url).send() {
            Err(error) if turn == 5 => return Err(error),
            Err(_) => {}
            good => return good,
        }
    }
}

pub fn by_a_channel(client: &Client, url: &str, wake: &Receiver<()>) -> reqwest::Result<Response> {
    for turn in 1..=4 { // site: cap=count max_attempts=4 delay=fixed
        match client.get(url).send() {
            Err(error) if turn == 4 => return Err(error),
            Err(_) => {
                let _ = wake.recv_timeout(Duration::from_secs(3));
            }
            good => return good,
        }
    }
    unreachable!()
}

pub struct Backoff {
    length: Duration,
}

impl Backoff {
    fn wait(&mut self) {
        thread::sleep(self.length);
        self.length = (self.length * 2).min(Duration::from_secs(8));
    }
}

pub fn by_a_method(client: &Client, url: &str) -> reqwest::Result<Response> {
    let mut backoff = Backoff { length: Duration::from_millis(500) };
    let mut left = 5;
    loop { // site: cap=count max_attempts=6 delay=exponential
        match client.get(url).send() {
            Err(error) if left == 0 => return Err(error),
            Err(_) => left -= 1,
            good => return good,
        }
        backoff.wait();
    }
}

pub trait Clock {
    fn pause(&self, length: Duration);
}

pub fn behind_a_trait(client: &Client, clock: &dyn Clock, url: &str) -> reqwest::Result<Response> {
    let mut left = 2;
    loop { // site: cap=count max_attempts=3
        match client.get(url).send() {
            Err(error) if left == 0 => return Err(error),
            Err(_) => left -= 1,
            good => return good,
        }
        clock.pause(Duration::from_secs(2));
    }
}

pub async fn not_awaited(client: &reqwest::Client, url: &str) -> reqwest::Result<reqwest::Response> {
    let mut left = 2;
    loop { // site: cap=count max_attempts=3 delay=none
        match client.get(url).send().await {
            Err(error) if left == 0 => return Err(error),
            Err(_) => left -= 1,
            good => return good,
        }
        let _ = tokio::time::sleep(Duration::from_secs(2));
    }
}

pub fn in_slices(client: &Client, url: &str) -> reqwest::Result<Response> {
    let mut left = 2;
    loop { // site: cap=count max_attempts=3 delay=fixed
        match client.get(url).send() {
            Err(error) if left == 0 => return Err(error),
            Err(_) => left -= 1,
            good => return good,
        }
        for _ in 0..10 {
            thread::sleep(Duration::from_millis(200));
        }
    }
}
