// fault: 503
use reqwest_middleware::ClientBuilder;
use reqwest_retry::RetryTransientMiddleware;
use reqwest_retry::policies::ExponentialBackoff;

async fn load(address: &str) -> reqwest_middleware::Result<reqwest::Response> {
    let policy = ExponentialBackoff::builder().build_with_max_retries(3);
    let client = ClientBuilder::new(reqwest::Client::new()).with(RetryTransientMiddleware::new_with_policy(policy)).build();
    client.get(address).send().await
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    let address = std::env::var("SERVER").unwrap();
    println!("{:?}", load(&address).await.is_ok());
}
