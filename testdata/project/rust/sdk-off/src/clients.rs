use aws_config::BehaviorVersion;
use aws_config::retry::RetryConfig;

pub async fn storage() -> aws_sdk_s3::Client {
    let config = aws_config::defaults(BehaviorVersion::latest()).retry_config(RetryConfig::disabled()).load().await;
    aws_sdk_s3::Client::new(&config)
}
