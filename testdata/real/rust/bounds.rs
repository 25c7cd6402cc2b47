//! The bound is seldom the loop's counter.

use std::thread;
use std::time::{Duration, Instant};

use reqwest::blocking::{Client, Response};

pub fn by_the_delay(client: &Client, url: &str) -> reqwest::Result<Response> {
    let mut pause = Duration::from_secs(1);
    loop { // site: cap=count max_attempts=7 delay=exponential
        match client.get(url).send() {
            Err(error) if pause > Duration::from_secs(60) => return Err(error),
            Err(_) => thread::sleep(pause),
            good => return good,
        }
        pause *= 2;
    }
}

pub fn by_an_iterator_that_ends(client: &Client, url: &str) -> reqwest::Result<Response> {
    let mut pauses = [1, 3, 9].into_iter();
    loop { // site: cap=count max_attempts=4 delay=exponential
        match client.get(url).send() {
            Ok(response) => return Ok(response),
            Err(error) => match pauses.next() {
                Some(pause) => thread::sleep(Duration::from_secs(pause)),
                None => return Err(error),
            },
        }
    }
}

pub fn by_an_iterator_that_does_not(client: &Client, url: &str) -> Option<Response> {
    for pause in (0..10).chain(std::iter::repeat(30)) { // site: cap=none max_attempts=null
        if let Ok(response) = client.get(url).send() {
            return Some(response);
        }
        thread::sleep(Duration::from_secs(pause));
    }
    None
}

pub fn by_a_list_that_grows(client: &Client, url: &str) -> Result<Response, Vec<reqwest::Error>> {
    let mut errors = Vec::new();
    while errors.len() < 4 { // site: cap=count max_attempts=4 delay=fixed
        match client.get(url).send() {
            Ok(response) => return Ok(response),
            Err(error) => errors.push(error),
        }
        thread::sleep(Duration::from_secs(2));
    }
    Err(errors)
}

const PAUSES: [u64; 3] = [1, 5, 25];

pub fn by_a_list_of_delays(client: &Client, url: &str) -> reqwest::Result<Response> {
    for pause in PAUSES { // site: cap=count max_attempts=3 delay=exponential
        if let Ok(response) = client.get(url).send() {
            return Ok(response);
        }
        thread::sleep(Duration::from_secs(pause));
    }
    client.get(url).send()
}

pub fn by_a_deadline(client: &Client, url: &str) -> reqwest::Result<Response> {
    let until = Instant::now() + Duration::from_secs(90);
    loop { // site: cap=deadline delay=fixed
        match client.get(url).send() {
            Err(error) if Instant::now() >= until => return Err(error),
            Err(_) => thread::sleep(Duration::from_secs(5)),
            good => return good,
        }
    }
}

pub async fn by_a_limit_around(client: &reqwest::Client, url: &str) -> Option<reqwest::Response> {
    tokio::time::timeout(Duration::from_secs(60), async {
        loop { // site: cap=deadline delay=fixed
            match client.get(url).send().await {
                Ok(response) => return response,
                Err(_) => tokio::time::sleep(Duration::from_secs(2)).await,
            }
        }
    })
    .await
    .ok()
}

pub fn by_a_flag(client: &Client, url: &str) -> reqwest::Result<Response> {
    let mut second = false;
    loop { // site: cap=count max_attempts=2 delay=fixed
        match client.get(url).send() {
            Err(_) if !second => second = true,
            other => return other,
        }
        thread::sleep(Duration::from_secs(1));
    }
}

fn by_recursion(client: &Client, url: &str, left: u32) -> reqwest::Result<Response> {
    match client.get(url).send() {
        Err(_) if left > 0 => {
            thread::sleep(Duration::from_secs(1));
            by_recursion(client, url, left - 1) // site: kind=recursion cap=count max_attempts=4
        }
        other => other,
    }
}

pub fn begun(client: &Client, url: &str) -> reqwest::Result<Response> {
    by_recursion(client, url, 3)
}

pub fn by_nothing(client: &Client, url: &str) -> Response {
    loop { // site: cap=none max_attempts=null
        match client.get(url).send() {
            Ok(response) => return response,
            Err(error) => eprintln!("again: {error}"),
        }
        thread::sleep(Duration::from_secs(10));
    }
}
