// fault: drop
use retry::delay::Exponential;
use retry::retry;

fn load(client: &reqwest::blocking::Client, address: &str) -> Result<reqwest::blocking::Response, retry::Error<reqwest::Error>> {
    retry(Exponential::from_millis(10).take(5), || client.get(address).send())
}

fn main() {
    let address = std::env::var("SERVER").unwrap();
    println!("{:?}", load(&reqwest::blocking::Client::new(), &address).is_ok());
}
