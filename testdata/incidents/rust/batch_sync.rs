//! Brings the catalogue of a shop, some 9,000 items, into a partner's search index every night.

use std::time::Duration;

use anyhow::{Result, bail};
use reqwest::blocking::Client;
use serde::Serialize;

const INDEX: &str = "https://search.example.com/v2/items";
const BATCH_SIZE: usize = 50;
const PASSES: usize = 4;
const TRIES: usize = 2;

#[derive(Serialize)]
pub struct Item {
    pub id: String,
    pub title: String,
    pub price: u64,
}

/// Writes one item; `false` where the index was too busy for it.
fn push(client: &Client, item: &Item) -> Result<bool> {
    for _ in 0..TRIES {
        let response = client.put(format!("{INDEX}/{}", item.id)).json(item).send()?;
        match response.status().as_u16() {
            200..=299 => return Ok(true),
            429 | 500 | 502 | 503 | 504 => continue,
            status => bail!("item {}: status {status}", item.id),
        }
    }
    Ok(false)
}

/// Writes a batch; `true` if every item of it arrived.
fn push_batch(client: &Client, batch: &[Item]) -> Result<bool> {
    let mut missed = 0;
    for item in batch {
        if !push(client, item)? {
            missed += 1;
        }
    }
    Ok(missed == 0)
}

/// Writes all items; gives the number of batches that did not arrive as a whole.
pub fn sync(items: &[Item]) -> Result<usize> {
    let client = Client::builder().timeout(Duration::from_secs(10)).build()?;
    let mut incomplete = 0;
    for batch in items.chunks(BATCH_SIZE) {
        let mut complete = false;
        for _ in 0..PASSES {
            if push_batch(&client, batch)? {
                complete = true;
                break;
            }
        }
        if !complete {
            eprintln!("a batch of {} items is incomplete", batch.len());
            incomplete += 1;
        }
    }
    Ok(incomplete)
}
