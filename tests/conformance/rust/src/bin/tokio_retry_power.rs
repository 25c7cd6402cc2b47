// fault: drop
use tokio_retry::strategy::ExponentialBackoff;
use tokio_retry::Retry;

async fn load(client: &reqwest::Client, address: &str) -> reqwest::Result<reqwest::Response> {
    let waits = ExponentialBackoff::from_millis(1000).take(2);
    Retry::spawn(waits, || client.get(address).send()).await
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    let address = std::env::var("SERVER").unwrap();
    println!("{:?}", load(&reqwest::Client::new(), &address).await.is_ok());
}
