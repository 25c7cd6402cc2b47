//! Brings the catalogue of a shop, some 9,000 items, into a partner's search index every night.

use std::collections::HashSet;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use rand::Rng;
use reqwest::blocking::{Client, Response};
use reqwest::header::RETRY_AFTER;
use serde::Serialize;
use thiserror::Error;

const INDEX: &str = "https://search.example.com/v2/items";
const ATTEMPTS: u32 = 4;
const TIME_FOR_ALL: Duration = Duration::from_secs(3 * 3600);
/// Repetitions for the whole job, whichever item needs them.
const REPETITIONS: u32 = 900;

#[derive(Serialize)]
pub struct Item {
    pub id: String,
    pub title: String,
    pub price: u64,
}

#[derive(Debug, Error)]
pub enum SyncError {
    #[error("the index does not take item {0}: status {1}")]
    Refused(String, u16),
    #[error("the index is in trouble: the job stops, and goes on tomorrow where it stopped")]
    OutOfBudget,
    #[error(transparent)]
    Transport(#[from] reqwest::Error),
}

/// What all items together may cost beyond one request each.
struct Budget {
    repetitions: u32,
    deadline: Instant,
}

impl Budget {
    fn pay(&mut self, wait: Duration) -> Result<(), SyncError> {
        if self.repetitions == 0 || Instant::now() + wait > self.deadline {
            return Err(SyncError::OutOfBudget);
        }
        self.repetitions -= 1;
        Ok(())
    }
}

/// Writes one item. The only place that repeats anything.
fn push(client: &Client, item: &Item, budget: &mut Budget) -> Result<(), SyncError> {
    let mut attempt = 1;
    loop {
        let response = client.put(format!("{INDEX}/{}", item.id)).json(item).send()?;
        let status = response.status().as_u16();
        if response.status().is_success() {
            return Ok(());
        }
        let busy = matches!(status, 429 | 500 | 502 | 503 | 504);
        if !busy || attempt == ATTEMPTS {
            return Err(SyncError::Refused(item.id.clone(), status));
        }
        let own = Duration::from_secs(1 << attempt).mul_f64(rand::thread_rng().gen_range(0.5..1.0));
        let wait = own.max(server_wait(&response));
        budget.pay(wait)?;
        thread::sleep(wait);
        attempt += 1;
    }
}

/// Writes the items that are not in the ledger `done` yet; gives those that were refused.
pub fn sync(items: &[Item], done: &mut HashSet<String>) -> Result<Vec<String>, SyncError> {
    let client = Client::builder().timeout(Duration::from_secs(10)).build()?;
    let mut budget = Budget { repetitions: REPETITIONS, deadline: Instant::now() + TIME_FOR_ALL };
    let mut refused = Vec::new();
    for item in items {
        if done.contains(&item.id) {
            continue;
        }
        match push(&client, item, &mut budget) {
            Ok(()) => {
                done.insert(item.id.clone());
            }
            Err(SyncError::Refused(id, status)) => {
                eprintln!("item {id} was refused: status {status}");
                refused.push(id);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(refused)
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
