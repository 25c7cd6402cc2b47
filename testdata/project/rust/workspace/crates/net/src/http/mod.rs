mod fault;

use std::time::Duration;

pub use self::fault::Fault;

pub async fn get_text(client: &reqwest::Client, url: &str) -> Result<String, Fault> {
    let mut tries = 0;
    loop {
        tries += 1;
        match client.get(url).timeout(Duration::from_secs(5)).send().await {
            Ok(response) => return response.text().await.map_err(Fault::from),
            Err(error) if tries >= 3 => return Err(error.into()),
            Err(_) => tokio::time::sleep(Duration::from_secs(tries)).await,
        }
    }
}
