// fault: drop
use tokio_retry2::strategy::ExponentialFactorBackoff;
use tokio_retry2::{Retry, RetryError};

async fn load(client: &reqwest::Client, address: &str) -> reqwest::Result<reqwest::Response> {
    let waits = ExponentialFactorBackoff::from_millis(500, 2.0).take(4);
    Retry::spawn(waits, || async { Ok::<_, RetryError<reqwest::Error>>(client.get(address).send().await?) }).await
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    let address = std::env::var("SERVER").unwrap();
    println!("{:?}", load(&reqwest::Client::new(), &address).await.is_ok());
}
