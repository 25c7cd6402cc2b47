// fault: drop

async fn load(client: &reqwest::Client, address: &str) -> reqwest::Result<reqwest::Response> {
    again::retry(|| client.get(address).send()).await
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    let address = std::env::var("SERVER").unwrap();
    println!("{:?}", load(&reqwest::Client::new(), &address).await.is_ok());
}
