// fault: drop
use backon::{BlockingRetryable, ConstantBuilder};
use std::time::Duration;

fn load(client: &reqwest::blocking::Client, address: &str) -> reqwest::Result<reqwest::blocking::Response> {
    let ask = || client.get(address).send();
    ask.retry(ConstantBuilder::default().with_delay(Duration::from_millis(20)).with_max_times(4)).call()
}

fn main() {
    let address = std::env::var("SERVER").unwrap();
    println!("{:?}", load(&reqwest::blocking::Client::new(), &address).is_ok());
}
