use std::time::Duration;

use harbour_net::{Fault, text as fetch};

async fn table(client: &reqwest::Client, port: &str) -> Result<String, Fault> {
    let url = format!("https://tides.example.org/{port}");
    let mut failures = 0;
    loop {
        match fetch(client, &url).await {
            Ok(table) => return Ok(table),
            Err(fault) => {
                failures += 1;
                if failures == 2 {
                    return Err(fault);
                }
            }
        }
        tokio::time::sleep(Duration::from_secs(15)).await;
    }
}

fn main() {}
