//! What `inventory` says of a site: each case is a short program and the facts of its first site.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, missing_docs)]

use serde_json::{Value, json};
use stormlint::check::{Input, check};
use stormlint::config::Config;
use stormlint::report;
use stormlint::source::{Language, SourceFile};

/// The sites of a text.
fn sites(text: &str, language: Language) -> Vec<Value> {
    let path = match language {
        Language::Python => "case.py",
        Language::Rust => "case.rs",
    };
    let file = SourceFile::new(path, text, language);
    let run = check(vec![Input { file, module: "case".to_owned(), root_path: path.into() }], &Config::default());
    let mut out = Vec::new();
    report::inventory::json(&run, &mut out).expect("writing to memory");
    serde_json::from_slice::<Value>(&out).expect("JSON")["sites"].as_array().expect("a list").clone()
}

/// Holds the only site of a text against these facts.
fn holds(language: Language, text: &str, facts: &Value) {
    let sites = sites(text, language);
    assert_eq!(sites.len(), 1, "{sites:#?}");
    for (key, expected) in facts.as_object().expect("facts") {
        assert_eq!(sites[0][key], *expected, "`{key}` of {:#}", sites[0]);
    }
}

fn python(text: &str, facts: &Value) {
    holds(Language::Python, text, facts);
}

fn rust(text: &str, facts: &Value) {
    holds(Language::Rust, text, facts);
}

#[test]
fn a_setting_that_is_not_set_has_its_default() {
    python(
        r#"
import os, time, requests

TRIES = int(os.environ.get("FETCH_TRIES", "3"))
PAUSE = float(os.getenv("FETCH_PAUSE", "1.5"))

def fetch(url):
    for turn in range(TRIES):
        try:
            return requests.get(url, timeout=5)
        except requests.ConnectionError:
            if turn == TRIES - 1:
                raise
            time.sleep(PAUSE)
"#,
        &json!({ "cap": "count", "max_attempts": 3, "delay": "fixed", "schedule": [[1.5, 1.5], [1.5, 1.5]] }),
    );
    rust(
        r#"
use std::time::Duration;

pub async fn fetch(client: &reqwest::Client, url: &str) -> reqwest::Result<reqwest::Response> {
    let tries = std::env::var("FETCH_TRIES").ok().and_then(|text| text.parse::<u32>().ok()).unwrap_or(4);
    let mut made = 0;
    loop {
        made += 1;
        match client.get(url).send().await {
            Ok(answer) => return Ok(answer),
            Err(error) if made >= tries => return Err(error),
            Err(_) => tokio::time::sleep(Duration::from_secs(2)).await,
        }
    }
}
"#,
        &json!({ "cap": "count", "max_attempts": 4, "delay": "fixed" }),
    );
}

#[test]
fn what_all_callers_of_a_private_function_give_is_a_constant() {
    let text = |second: &str| {
        format!(
            r#"
import time, requests

def _fetch(url, tries):
    while tries > 0:
        try:
            return requests.get(url, timeout=5)
        except requests.ConnectionError:
            tries -= 1
            time.sleep(1)
    raise RuntimeError(url)

def first(url):
    return _fetch(url, 4)

def second(url):
    return _fetch(url, {second})
"#
        )
    };
    python(&text("tries=4"), &json!({ "cap": "count", "max_attempts": 4 }));
    python(&text("5"), &json!({ "cap": "caller", "max_attempts": null }));
    rust(
        r#"
use std::time::Duration;

const TRIES: u32 = 6;

async fn fetch(client: &reqwest::Client, url: &str, tries: u32) -> Option<reqwest::Response> {
    for _ in 0..tries {
        if let Ok(answer) = client.get(url).send().await {
            return Some(answer);
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    None
}

pub async fn page(client: &reqwest::Client) -> Option<reqwest::Response> {
    fetch(client, "https://pages.example/one", TRIES).await
}
"#,
        &json!({ "cap": "count", "max_attempts": 6 }),
    );
    // Handed on as a value: whoever gets it may call it otherwise.
    python(
        r"
import time, requests

def _fetch(url, tries):
    while tries > 0:
        try:
            return requests.get(url, timeout=5)
        except requests.ConnectionError:
            tries -= 1
            time.sleep(1)
    raise RuntimeError(url)

def first(url, pool):
    pool.submit(_fetch, url, 2)
    return _fetch(url, 4)
",
        &json!({ "cap": "caller", "max_attempts": null }),
    );
}

#[test]
fn what_is_awaited_for_a_length_of_time_and_gives_nothing_is_a_wait() {
    python(
        r#"
import httpx

async def fetch(url, timer):
    client = httpx.AsyncClient()
    delay = 1
    for turn in range(4):
        try:
            return await client.get(url)
        except httpx.ConnectError:
            if turn == 3:
                raise
            await timer.hold(delay)
            delay *= 2
"#,
        &json!({ "delay": "exponential", "schedule": [[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]] }),
    );
    rust(
        r"
use std::time::Duration;

pub async fn fetch(client: &reqwest::Client, url: &str) -> reqwest::Response {
    loop {
        match client.get(url).send().await {
            Ok(answer) => return answer,
            Err(_) => crate::clock::hold(Duration::from_millis(250)).await,
        }
    }
}
",
        &json!({ "cap": "none", "delay": "fixed" }),
    );
    // Its answer is used: it is there for that.
    python(
        r#"
import httpx

async def fetch(url, mirrors):
    client = httpx.AsyncClient()
    for turn in range(4):
        try:
            return await client.get(url)
        except httpx.ConnectError:
            note = await mirrors.report(turn + 1)
            print(note)
"#,
        &json!({ "delay": "none" }),
    );
}

#[test]
fn errors_of_a_client_of_an_http_api_may_be_refusals_for_a_while() {
    python(
        r#"
import time, litellm

def ask(text):
    for turn in range(3):
        try:
            return litellm.completion(model="m", messages=[{"role": "user", "content": text}])
        except Exception:
            if turn == 2:
                raise
            time.sleep(2 ** turn)
"#,
        &json!({ "retry_after": "ignored" }),
    );
    python(
        r#"
import time, psycopg

def ask(place):
    for turn in range(3):
        try:
            return psycopg.connect(place)
        except Exception:
            if turn == 2:
                raise
            time.sleep(2 ** turn)
"#,
        &json!({ "retry_after": "not-applicable" }),
    );
}

#[test]
fn what_is_waited_for_is_the_operation_of_record() {
    rust(
        r"
use std::time::Duration;

pub async fn check(host: Host, address: Address) -> Status {
    let mut status = Status::Unknown;
    for _ in 0..3 {
        let part = address.fragment();
        match host.ask(&address, part).await {
            Ok(known) => return known,
            Err(error) => status = error.status(),
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    status
}
",
        &json!({ "operation": "host.ask(&address, part)", "max_attempts": 3, "delay": "fixed" }),
    );
}

#[test]
fn iterators_one_after_the_other_are_gone_through_in_turn() {
    let text = |delays: &str| {
        format!(
            r#"
import time, requests
from itertools import chain, repeat

def fetch(url):
    for number, delay in enumerate({delays}):
        try:
            return requests.get(url, timeout=5)
        except requests.ConnectionError:
            print(number)
            time.sleep(delay)
    raise RuntimeError(url)
"#
        )
    };
    python(&text("chain([1, 2], repeat(30))"), &json!({ "cap": "none", "max_attempts": null }));
    let limited = json!({ "cap": "count", "max_attempts": 4, "schedule": [[1.0, 1.0], [2.0, 2.0], [8.0, 8.0]] });
    python(&text("chain([1, 2], [8, 16])"), &limited);
    python(&text("repeat(30)"), &json!({ "cap": "none", "delay": "fixed" }));
    rust(
        r"
use std::time::Duration;

pub async fn fetch(client: &reqwest::Client, url: &str) -> Option<reqwest::Response> {
    for delay in std::iter::repeat(5).take(3) {
        if let Ok(answer) = client.get(url).send().await {
            return Some(answer);
        }
        tokio::time::sleep(Duration::from_secs(delay)).await;
    }
    None
}
",
        &json!({ "cap": "count", "max_attempts": 3, "schedule": [[5.0, 5.0], [5.0, 5.0]] }),
    );
}
