use std::time::Duration;

pub async fn ask(client: &reqwest::Client, path: &str) -> reqwest::Result<String> {
    let mut last = None;
    for attempt in 0..5u64 {
        if attempt > 0 {
            tokio::time::sleep(Duration::from_millis(500 * attempt)).await;
        }
        let url = format!("https://stock.example.com{path}");
        match client.get(url).timeout(Duration::from_secs(3)).send().await {
            Ok(response) => return response.text().await,
            Err(error) => last = Some(error),
        }
    }
    Err(last.expect("five attempts were made"))
}
