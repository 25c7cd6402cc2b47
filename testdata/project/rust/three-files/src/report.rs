use std::time::Duration;

use crate::stock;

pub async fn line(client: &reqwest::Client, article: &str) -> anyhow::Result<String> {
    for turn in 0..3 {
        match stock::level(client, article).await {
            Ok(level) => return Ok(format!("{article}: {level}")),
            Err(error) if turn == 2 => return Err(error.into()),
            Err(_) => tokio::time::sleep(Duration::from_secs(10)).await,
        }
    }
    unreachable!("the third turn returns")
}
