//! Hands the events of a shop on to the webhooks of its partners, and does no harm where one of them is down.

use std::time::{Duration, Instant, SystemTime};

use anyhow::{Result, bail};
use rand::Rng;
use reqwest::Response;
use reqwest::header::RETRY_AFTER;
use serde::{Deserialize, Serialize};
use tracing::{info, warn};

const MAX_ATTEMPTS: u32 = 5;
const MAX_DELAY: Duration = Duration::from_secs(30);
/// All attempts and waits together.
const TIME_FOR_AN_EVENT: Duration = Duration::from_secs(240);

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
    let client = reqwest::Client::builder().timeout(Duration::from_secs(10)).build()?;
    let deadline = Instant::now() + TIME_FOR_AN_EVENT;
    let mut attempt = 0;
    loop {
        attempt += 1;
        let mut delay = backoff(attempt);
        // The event's own number: the same over all attempts, and over redeliveries by the queue.
        let problem = match client.post(url).header("Idempotency-Key", &event.id).json(event).send().await {
            Ok(response) if response.status().is_success() => return Ok(response.json().await?),
            Ok(response) => {
                let status = response.status().as_u16();
                if !matches!(status, 408 | 425 | 429 | 500 | 502 | 503 | 504) {
                    bail!("{url} refuses event {}: status {status}", event.id);
                }
                delay = delay.max(server_wait(&response));
                format!("status {status}")
            }
            Err(error) => error.to_string(),
        };
        warn!("{url}: {problem}, attempt {attempt} of {MAX_ATTEMPTS}");
        if attempt >= MAX_ATTEMPTS || Instant::now() + delay > deadline {
            bail!("{url} did not take event {}: {problem}", event.id);
        }
        tokio::time::sleep(delay).await;
    }
}

/// Grows from attempt to attempt up to a ceiling; the upper half is drawn at random.
fn backoff(attempt: u32) -> Duration {
    let longest = Duration::from_secs(2u64.saturating_pow(attempt)).min(MAX_DELAY);
    longest.mul_f64(rand::thread_rng().gen_range(0.5..1.0))
}

/// For how long the server wants to be left alone; zero where it does not say.
fn server_wait(response: &Response) -> Duration {
    let Some(advice) = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()) else {
        return Duration::ZERO;
    };
    if let Ok(seconds) = advice.trim().parse() {
        return Duration::from_secs(seconds);
    }
    match httpdate::parse_http_date(advice) {
        Ok(until) => until.duration_since(SystemTime::now()).unwrap_or_default(),
        Err(_) => Duration::ZERO,
    }
}
