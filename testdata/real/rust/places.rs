//! The operation may sit in the loop's condition, before the loop, or behind a match.

use std::thread;
use std::time::Duration;

use reqwest::blocking::{Client, Response};

pub fn in_the_condition(client: &Client, url: &str) -> reqwest::Result<()> {
    let mut left = 4;
    while let Err(error) = client.put(url).send() { // site: cap=count max_attempts=5 delay=fixed
        if left == 0 {
            return Err(error);
        }
        left -= 1;
        thread::sleep(Duration::from_secs(1));
    }
    Ok(())
}

pub fn before_the_loop(client: &Client, url: &str) -> reqwest::Result<Response> {
    let mut answer = client.get(url).send();
    let mut tries = 0;
    while answer.is_err() && tries < 3 { // site: cap=count delay=fixed
        tries += 1;
        thread::sleep(Duration::from_secs(1));
        answer = client.get(url).send();
    }
    answer
}

pub fn behind_a_match(client: &Client, url: &str) -> reqwest::Result<Response> {
    let mut left = 3;
    loop { // site: cap=count max_attempts=4 delay=fixed
        return match client.get(url).send() {
            Err(_) if left > 0 => {
                left -= 1;
                thread::sleep(Duration::from_secs(1));
                continue;
            }
            other => other,
        };
    }
}

pub fn labelled(client: &Client, hosts: &[&str], path: &str) -> Option<Response> {
    let mut left = 3;
    'retry: loop { // site: cap=count delay=fixed
        for host in hosts {
            match client.get(format!("https://{host}/{path}")).send() {
                Ok(response) => return Some(response),
                Err(error) if error.is_connect() => continue,
                Err(_) if left > 0 => {
                    left -= 1;
                    thread::sleep(Duration::from_secs(1));
                    continue 'retry;
                }
                Err(_) => return None,
            }
        }
        return None;
    }
}

pub fn let_else(client: &Client, url: &str) -> bool {
    for turn in 0..3 { // site: cap=count max_attempts=3 delay=exponential
        let Err(error) = client.put(url).send() else { return true };
        eprintln!("{error}");
        thread::sleep(Duration::from_secs(1 << turn));
    }
    false
}
