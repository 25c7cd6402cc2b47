use std::time::Duration;

pub async fn rest(attempt: u32) {
    let ceiling = 2f64.powi(attempt as i32).min(30.0);
    tokio::time::sleep(Duration::from_secs_f64(ceiling * (0.5 + rand::random::<f64>() / 2.0))).await;
}
