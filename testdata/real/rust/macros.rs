//! Retries in the bodies of macros.

use std::time::Duration;

use reqwest::{Client, Response};
use tokio_util::sync::CancellationToken;

pub async fn in_select(client: &Client, url: &str, stop: CancellationToken) -> Option<Response> {
    loop { // site: cap=none delay=fixed
        tokio::select! {
            _ = stop.cancelled() => return None,
            answer = client.get(url).send() => match answer {
                Ok(response) => return Some(response),
                Err(_) => tokio::time::sleep(Duration::from_secs(5)).await,
            },
        }
    }
}

macro_rules! attempt {
    ($client:expr, $url:expr, $times:expr) => {{
        let mut left = $times;
        loop { // site: max_attempts=null
            match $client.get($url).send().await {
                Ok(response) => break Ok(response),
                Err(error) if left == 0 => break Err(error),
                Err(_) => left -= 1,
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }};
}

pub async fn by_a_macro(client: &Client, url: &str) -> reqwest::Result<Response> {
    attempt!(client, url, 3)
}
