//! Hands the events of a shop on to the webhooks of its partners.

use serde::{Deserialize, Serialize};
use tracing::{info, warn};

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
pub async fn handle(webhook: &str, event: &Event) -> Result<Receipt, reqwest::Error> {
    let receipt = deliver(webhook, event).await?;
    info!("event {} taken by {webhook} as {}", event.id, receipt.id);
    Ok(receipt)
}

async fn deliver(url: &str, event: &Event) -> Result<Receipt, reqwest::Error> {
    let client = reqwest::Client::new();
    loop {
        let response = client.post(url).json(event).send().await?;
        let status = response.status().as_u16();
        if status < 500 {
            return response.json().await;
        }
        warn!("{url} answered {status}, once more");
    }
}
