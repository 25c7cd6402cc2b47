use std::time::Duration;

use super::net::ask;

pub async fn level(client: &reqwest::Client, article: &str) -> reqwest::Result<String> {
    let mut left = 3;
    loop {
        left -= 1;
        match ask(client, article).await {
            Err(error) if error.is_connect() && left > 0 => tokio::time::sleep(Duration::from_secs(2)).await,
            outcome => return outcome,
        }
    }
}
