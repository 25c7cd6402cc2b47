use std::time::Duration;

pub trait Source {
    async fn read(&self, path: &str) -> reqwest::Result<String>;
}

pub struct Api {
    client: reqwest::Client,
    tries: u32,
}

impl Api {
    pub fn new(client: reqwest::Client) -> Self {
        Api { client, tries: 4 }
    }
}

impl Source for Api {
    async fn read(&self, path: &str) -> reqwest::Result<String> {
        let mut number = 0;
        loop {
            number += 1;
            let request = self.client.get(path).timeout(Duration::from_secs(10));
            match request.send().await {
                Ok(response) => return response.text().await,
                Err(error) if number == self.tries => return Err(error),
                Err(_) => tokio::time::sleep(Duration::from_secs(1)).await,
            }
        }
    }
}
