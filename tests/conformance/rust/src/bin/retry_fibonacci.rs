// fault: drop
use retry::delay::{Fibonacci, jitter};
use retry::retry;

fn load(client: &reqwest::blocking::Client, address: &str) -> Result<reqwest::blocking::Response, retry::Error<reqwest::Error>> {
    retry(Fibonacci::from_millis(10).map(jitter).take(2), || client.get(address).send())
}

fn main() {
    let address = std::env::var("SERVER").unwrap();
    println!("{:?}", load(&reqwest::blocking::Client::new(), &address).is_ok());
}
