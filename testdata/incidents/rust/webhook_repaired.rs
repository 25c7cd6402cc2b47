//! Hands the events of a shop on to the webhooks of its partners, and is patient with them.

use std::time::Duration;

use anyhow::{Result, bail};
use rand::Rng;
use reqwest::header::RETRY_AFTER;
use serde::{Deserialize, Serialize};
use tracing::{info, warn};

const MAX_ATTEMPTS: u32 = 5;
const MAX_DELAY: Duration = Duration::from_secs(30);

#[derive(Serialize)]
pub struct Event {
    pub id: String,
    pub kind: String,
    pub amount: u64,
}

#[derive(Deserialize)]
pub struct Receipt {
    pub id: String,
}

/// Called by the queue with one event at a time.
pub async fn handle(webhook: &str, event: &Event) -> Result<Receipt> {
    let receipt = deliver(webhook, event).await?;
    info!("event {} taken by {webhook} as {}", event.id, receipt.id);
    Ok(receipt)
}

async fn deliver(url: &str, event: &Event) -> Result<Receipt> {
    let client = reqwest::Client::new();
    for attempt in 0..MAX_ATTEMPTS {
        let response = client.post(url).json(event).send().await?;
        let status = response.status().as_u16();
        if status < 500 {
            return Ok(response.json().await?);
        }

        let delay = match response.headers().get(RETRY_AFTER) {
            Some(advice) => Duration::from_secs(advice.to_str()?.parse::<u64>()?),
            None => {
                let jitter = Duration::from_millis(rand::thread_rng().gen_range(0..1000));
                Duration::from_secs(2u64.pow(attempt)) + jitter
            }
        };
        warn!("{url} answered {status}, attempt {} of {MAX_ATTEMPTS}", attempt + 1);
        tokio::time::sleep(delay.min(MAX_DELAY)).await;
    }
    bail!("{url} did not take event {} in {MAX_ATTEMPTS} attempts", event.id)
}
