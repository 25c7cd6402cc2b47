// fault: drop
use std::time::Duration;

async fn load(client: &reqwest::Client, address: &str) -> reqwest::Result<reqwest::Response> {
    tryhard::retry_fn(|| client.get(address).send())
        .retries(4)
        .exponential_backoff(Duration::from_millis(100))
        .max_delay(Duration::from_secs(1))
        .await
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    let address = std::env::var("SERVER").unwrap();
    println!("{:?}", load(&reqwest::Client::new(), &address).await.is_ok());
}
