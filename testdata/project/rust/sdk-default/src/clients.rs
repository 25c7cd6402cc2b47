pub async fn storage() -> aws_sdk_s3::Client {
    let config = aws_config::load_defaults(aws_config::BehaviorVersion::latest()).await;
    aws_sdk_s3::Client::new(&config)
}
