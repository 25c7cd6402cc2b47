// fault: 503
use std::time::Duration;

async fn load(client: &octocrab::Octocrab) -> octocrab::Result<octocrab::models::Repository> {
    let mut attempt = 0;
    loop {
        match client.repos("a", "b").get().await {
            Ok(repository) => return Ok(repository),
            Err(error) if attempt == 1 => return Err(error),
            Err(_) => attempt += 1,
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    let address = std::env::var("SERVER").unwrap();
    let client = octocrab::Octocrab::builder().base_uri(address).unwrap().build().unwrap();
    println!("{:?}", load(&client).await.is_ok());
}
