// fault: drop
use backon::{ExponentialBuilder, Retryable};

async fn load(client: &reqwest::Client, address: &str) -> reqwest::Result<reqwest::Response> {
    let ask = || client.get(address).send();
    ask.retry(ExponentialBuilder::default().with_max_times(2)).when(|error: &reqwest::Error| error.is_request()).await
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    let address = std::env::var("SERVER").unwrap();
    println!("{:?}", load(&reqwest::Client::new(), &address).await.is_ok());
}
