mod pacing;

use std::time::Duration;

pub async fn is_known(client: &reqwest::Client, address: &str) -> reqwest::Result<bool> {
    let mut attempt = 0;
    loop {
        let request = client.get("https://mail.example.org/known").query(&[("of", address)]);
        match request.timeout(Duration::from_secs(5)).send().await {
            Ok(response) => return Ok(response.status().is_success()),
            Err(error) if attempt == 4 => return Err(error),
            Err(_) => pacing::rest(attempt).await,
        }
        attempt += 1;
    }
}
