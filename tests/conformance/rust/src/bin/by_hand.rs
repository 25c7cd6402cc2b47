// fault: drop
use std::time::Duration;

async fn load(client: &reqwest::Client, address: &str) -> reqwest::Result<reqwest::Response> {
    let mut attempt = 0;
    loop {
        match client.get(address).send().await {
            Ok(response) => return Ok(response),
            Err(error) if attempt == 4 => return Err(error),
            Err(_) => attempt += 1,
        }
        tokio::time::sleep(Duration::from_millis(100 << attempt)).await;
    }
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    let address = std::env::var("SERVER").unwrap();
    println!("{:?}", load(&reqwest::Client::new(), &address).await.is_ok());
}
