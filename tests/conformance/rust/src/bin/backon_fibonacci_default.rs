// fault: drop
use backon::{FibonacciBuilder, Retryable};

async fn load(client: &reqwest::Client, address: &str) -> reqwest::Result<reqwest::Response> {
    let ask = || client.get(address).send();
    ask.retry(FibonacciBuilder::default()).await
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    let address = std::env::var("SERVER").unwrap();
    println!("{:?}", load(&reqwest::Client::new(), &address).await.is_ok());
}
