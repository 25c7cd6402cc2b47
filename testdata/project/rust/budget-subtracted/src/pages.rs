use std::thread::sleep;
use std::time::Duration;

pub fn page(client: &reqwest::blocking::Client, url: &str, left: &mut u32) -> reqwest::Result<String> {
    let mut tries = 0;
    loop {
        *left -= 1;
        tries += 1;
        match client.get(url).timeout(Duration::from_secs(5)).send() {
            Ok(response) => return response.text(),
            Err(error) if *left == 0 || tries == 3 => return Err(error),
            Err(_) => sleep(Duration::from_secs(2)),
        }
    }
}
