//! The model files that are part of the program: one line a file.

use crate::source::Language;

/// Name and text of the built-in files of a language. Of two that tell of the same name, the later holds: hence what is
/// said of whole packages stands before what is said of each library.
#[must_use]
pub fn files(language: Language) -> &'static [(&'static str, &'static str)] {
    match language {
        Language::Python => PYTHON,
        Language::Rust => RUST,
    }
}

const PYTHON: &[(&str, &str)] = &[
    ("python/exceptions.toml", include_str!("../../rules/models/python/exceptions.toml")),
    ("python/builtins.toml", include_str!("../../rules/models/python/builtins.toml")),
    ("python/time.toml", include_str!("../../rules/models/python/time.toml")),
    ("python/concurrency.toml", include_str!("../../rules/models/python/concurrency.toml")),
    ("python/http_status.toml", include_str!("../../rules/models/python/http_status.toml")),
    ("python/sockets.toml", include_str!("../../rules/models/python/sockets.toml")),
    ("python/network.toml", include_str!("../../rules/models/python/network.toml")),
    ("python/urllib.toml", include_str!("../../rules/models/python/urllib.toml")),
    ("python/urllib3.toml", include_str!("../../rules/models/python/urllib3.toml")),
    ("python/requests.toml", include_str!("../../rules/models/python/requests.toml")),
    ("python/httpx.toml", include_str!("../../rules/models/python/httpx.toml")),
    ("python/aiohttp.toml", include_str!("../../rules/models/python/aiohttp.toml")),
    ("python/openai.toml", include_str!("../../rules/models/python/openai.toml")),
    ("python/anthropic.toml", include_str!("../../rules/models/python/anthropic.toml")),
    ("python/tenacity.toml", include_str!("../../rules/models/python/tenacity.toml")),
    ("python/backoff.toml", include_str!("../../rules/models/python/backoff.toml")),
    ("python/retry.toml", include_str!("../../rules/models/python/retry.toml")),
    ("python/decorator.toml", include_str!("../../rules/models/python/decorator.toml")),
    ("python/stamina.toml", include_str!("../../rules/models/python/stamina.toml")),
    ("python/retrying.toml", include_str!("../../rules/models/python/retrying.toml")),
    ("python/aiohttp_retry.toml", include_str!("../../rules/models/python/aiohttp_retry.toml")),
    ("python/httpx_retries.toml", include_str!("../../rules/models/python/httpx_retries.toml")),
    ("python/google.toml", include_str!("../../rules/models/python/google.toml")),
    ("python/botocore.toml", include_str!("../../rules/models/python/botocore.toml")),
    ("python/celery.toml", include_str!("../../rules/models/python/celery.toml")),
    ("python/task_queues.toml", include_str!("../../rules/models/python/task_queues.toml")),
    ("python/opnieuw.toml", include_str!("../../rules/models/python/opnieuw.toml")),
    ("python/airflow.toml", include_str!("../../rules/models/python/airflow.toml")),
    ("python/azure_core.toml", include_str!("../../rules/models/python/azure_core.toml")),
    ("python/cohere.toml", include_str!("../../rules/models/python/cohere.toml")),
    ("python/dagster.toml", include_str!("../../rules/models/python/dagster.toml")),
    ("python/elasticsearch.toml", include_str!("../../rules/models/python/elasticsearch.toml")),
    ("python/groq.toml", include_str!("../../rules/models/python/groq.toml")),
    ("python/huggingface_hub.toml", include_str!("../../rules/models/python/huggingface_hub.toml")),
    ("python/jira.toml", include_str!("../../rules/models/python/jira.toml")),
    ("python/kubernetes.toml", include_str!("../../rules/models/python/kubernetes.toml")),
    ("python/langchain.toml", include_str!("../../rules/models/python/langchain.toml")),
    ("python/messages.toml", include_str!("../../rules/models/python/messages.toml")),
    ("python/notion_client.toml", include_str!("../../rules/models/python/notion_client.toml")),
    ("python/litellm.toml", include_str!("../../rules/models/python/litellm.toml")),
    ("python/opensearchpy.toml", include_str!("../../rules/models/python/opensearchpy.toml")),
    ("python/pygithub.toml", include_str!("../../rules/models/python/pygithub.toml")),
    ("python/redis.toml", include_str!("../../rules/models/python/redis.toml")),
    ("python/retryhttp.toml", include_str!("../../rules/models/python/retryhttp.toml")),
    ("python/slack_sdk.toml", include_str!("../../rules/models/python/slack_sdk.toml")),
    ("python/stripe.toml", include_str!("../../rules/models/python/stripe.toml")),
];

const RUST: &[(&str, &str)] = &[
    ("rust/std.toml", include_str!("../../rules/models/rust/std.toml")),
    ("rust/net.toml", include_str!("../../rules/models/rust/net.toml")),
    ("rust/runtimes.toml", include_str!("../../rules/models/rust/runtimes.toml")),
    ("rust/values.toml", include_str!("../../rules/models/rust/values.toml")),
    ("rust/http.toml", include_str!("../../rules/models/rust/http.toml")),
    ("rust/tower.toml", include_str!("../../rules/models/rust/tower.toml")),
    ("rust/network.toml", include_str!("../../rules/models/rust/network.toml")),
    ("rust/octocrab.toml", include_str!("../../rules/models/rust/octocrab.toml")),
    ("rust/aws.toml", include_str!("../../rules/models/rust/aws.toml")),
    ("rust/reqwest.toml", include_str!("../../rules/models/rust/reqwest.toml")),
    ("rust/reqwest_retry.toml", include_str!("../../rules/models/rust/reqwest_retry.toml")),
    ("rust/object_store.toml", include_str!("../../rules/models/rust/object_store.toml")),
    ("rust/opendal.toml", include_str!("../../rules/models/rust/opendal.toml")),
    ("rust/ureq.toml", include_str!("../../rules/models/rust/ureq.toml")),
    ("rust/tokio_retry.toml", include_str!("../../rules/models/rust/tokio_retry.toml")),
    ("rust/retry.toml", include_str!("../../rules/models/rust/retry.toml")),
    ("rust/backon.toml", include_str!("../../rules/models/rust/backon.toml")),
    ("rust/backoff.toml", include_str!("../../rules/models/rust/backoff.toml")),
    ("rust/curl.toml", include_str!("../../rules/models/rust/curl.toml")),
    ("rust/again.toml", include_str!("../../rules/models/rust/again.toml")),
    ("rust/async_openai.toml", include_str!("../../rules/models/rust/async_openai.toml")),
    ("rust/kube.toml", include_str!("../../rules/models/rust/kube.toml")),
];
