use std::time::Duration;

use crate::clients::storage;

pub async fn size(key: &str) -> anyhow::Result<i64> {
    let client = storage().await;
    for attempt in 0..4u32 {
        match client.head_object().bucket("backup").key(key).send().await {
            Ok(found) => return Ok(found.content_length().unwrap_or(0)),
            Err(error) if attempt == 3 => return Err(error.into()),
            Err(_) => tokio::time::sleep(Duration::from_millis(300 << attempt)).await,
        }
    }
    unreachable!("the fourth attempt returns")
}
