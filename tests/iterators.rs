//! Loops over generators and over iterators of the project's own: each item is what their code gives.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, missing_docs)]

mod common;

use common::inventory::{python, rust};
use serde_json::json;

/// A loop over what `waits` gives, after the text that defines it.
fn over(defined: &str, waits: &str) -> String {
    format!(
        r"
import random, time, requests

{defined}

def fetch(url):
    for wait in {waits}:
        try:
            return requests.get(url, timeout=5)
        except requests.ConnectionError:
            time.sleep(wait)
    raise RuntimeError(url)
"
    )
}

#[test]
fn a_generator_gives_each_turn_its_own_item() {
    python(
        &over("def three():\n    yield 1\n    yield 2\n    yield 4", "three()"),
        &json!({ "cap": "count", "max_attempts": 3, "delay": "exponential", "schedule": [[1.0, 1.0], [2.0, 2.0]] }),
    );
    python(
        &over(
            "def drawn(most=4):\n    for turn in range(most):\n        yield random.uniform(0, 2 ** turn)",
            "drawn()",
        ),
        &json!({ "max_attempts": 4, "jitter": true, "schedule": [[0.0, 1.0], [0.0, 2.0], [0.0, 4.0]] }),
    );
    python(
        &over("def given(items):\n    for item in items:\n        yield item * 2", "given([1, 2, 3])"),
        &json!({ "max_attempts": 3, "delay": "exponential", "schedule": [[2.0, 2.0], [4.0, 4.0]] }),
    );
}

#[test]
fn a_generator_without_end_bounds_nothing() {
    let endless = "def doubling(first, most):\n    wait = first\n    while True:\n        yield wait\n        wait = min(wait * 2, most)";
    python(
        &over(endless, "doubling(1, 30)"),
        &json!({ "cap": "none", "max_attempts": null, "delay": "exponential", "delay_ceiling": 30.0 }),
    );
    python(
        &over(endless, "doubling(1, 30)")
            .replace("for wait in doubling(1, 30)", "for turn, wait in enumerate(doubling(1, 30), 1)")
            .replace(
                "            time.sleep(wait)",
                "            if turn == 4:\n                raise\n            time.sleep(wait)",
            ),
        &json!({ "cap": "count", "max_attempts": 4, "schedule": [[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]] }),
    );
}

#[test]
fn what_a_generator_does_between_its_items_is_done_between_attempts() {
    let text = |body: &str| {
        format!(
            r"
import time, requests

def attempts(limit):
    {body}

def fetch(url):
    for turn in attempts(5):
        try:
            return requests.get(url, timeout=5)
        except requests.ConnectionError:
            pass
    raise RuntimeError(url)
"
        )
    };
    python(
        &text("for turn in range(limit):\n        yield turn\n        time.sleep(2 ** turn)"),
        &json!({ "max_attempts": 5, "schedule": [[1.0, 1.0], [2.0, 2.0], [4.0, 4.0], [8.0, 8.0]] }),
    );
    python(
        &text(
            "end = time.monotonic() + limit * 12\n    while time.monotonic() < end:\n        yield\n        time.sleep(3)",
        ),
        &json!({ "cap": "deadline", "delay": "fixed" }),
    );
}

#[test]
fn a_generator_may_be_asked_for_its_next_item() {
    let text = |wait: &str| {
        format!(
            r"
import time, requests

def waits():
    yield 0.5
    yield 2
    yield 8

def fetch(url):
    pauses = waits()
    while True:
        try:
            return requests.get(url, timeout=5)
        except requests.ConnectionError as error:
            {wait}
"
        )
    };
    let facts = json!({ "cap": "count", "max_attempts": 4, "schedule": [[0.5, 0.5], [2.0, 2.0], [8.0, 8.0]] });
    python(
        &text(
            "pause = next(pauses, None)\n            if pause is None:\n                raise\n            time.sleep(pause)",
        ),
        &facts,
    );
    python(
        &text(
            "try:\n                time.sleep(next(pauses))\n            except StopIteration:\n                raise error",
        ),
        &facts,
    );
}

#[test]
fn an_iterator_of_the_project_is_asked_for_each_item() {
    let class = r"class Waits:
    def __init__(self, first, tries):
        self.following = first
        self.left = tries

    def __iter__(self):
        return self

    def __next__(self):
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        wait = self.following
        self.following = wait * 3
        return wait";
    python(
        &over(class, "Waits(1, 4)"),
        &json!({ "cap": "count", "max_attempts": 4, "schedule": [[1.0, 1.0], [3.0, 3.0], [9.0, 9.0]] }),
    );
    let generating = "class Steps:\n    def __init__(self, tries):\n        self.tries = tries\n\n    def __iter__(self):\n        for turn in range(self.tries):\n            yield 1 + turn * 5";
    python(
        &over(generating, "Steps(4)"),
        &json!({ "cap": "count", "max_attempts": 4, "delay": "linear", "schedule": [[1.0, 1.0], [6.0, 6.0], [11.0, 11.0]] }),
    );
    let text = |waits: &str| {
        format!(
            r"
use std::time::Duration;

pub struct Backoff {{ wait: Duration, most: Duration, left: u32 }}

impl Iterator for Backoff {{
    type Item = Duration;
    fn next(&mut self) -> Option<Duration> {{
        if self.left == 0 {{
            return None;
        }}
        self.left -= 1;
        let wait = self.wait;
        self.wait = (self.wait * 2).min(self.most);
        Some(wait)
    }}
}}

fn backoff(left: u32) -> Backoff {{
    Backoff {{ wait: Duration::from_millis(250), most: Duration::from_secs(5), left }}
}}

pub async fn fetch(client: &reqwest::Client, url: &str) -> Option<reqwest::Response> {{
    for wait in {waits} {{
        if let Ok(answer) = client.get(url).send().await {{
            return Some(answer);
        }}
        tokio::time::sleep(wait).await;
    }}
    None
}}
"
        )
    };
    rust(
        &text("backoff(4)"),
        &json!({ "cap": "count", "max_attempts": 4, "schedule": [[0.25, 0.25], [0.5, 0.5], [1.0, 1.0]] }),
    );
    rust(
        &text("backoff(40).take(3)"),
        &json!({ "cap": "count", "max_attempts": 3, "schedule": [[0.25, 0.25], [0.5, 0.5]] }),
    );
}

#[test]
fn a_generator_that_hands_out_work_is_gone_through_and_not_repeated() {
    let text = r#"
import requests

def jobs(names):
    for name in names:
        if name:
            yield name

def fetch(names):
    for name in jobs(names):
        try:
            requests.get("https://jobs.example/" + name, timeout=5)
        except requests.ConnectionError:
            continue
"#;
    assert_eq!(common::inventory::sites(text, stormlint::source::Language::Python).len(), 0);
}

#[test]
fn a_field_that_has_the_name_of_a_method_is_not_called() {
    rust(
        r#"
use std::time::Duration;

#[derive(Clone)]
pub struct Growing { current: u64, base: u64, factor: u64, most: Option<Duration> }

impl Default for Growing {
    fn default() -> Self {
        Self::from(2).factor(500).most(Duration::from_secs(3))
    }
}

impl Growing {
    pub const fn from(base: u64) -> Growing {
        Growing { current: base, base, factor: 1u64, most: None }
    }
    pub const fn factor(mut self, factor: u64) -> Growing {
        self.factor = factor;
        self
    }
    pub const fn most(mut self, most: Duration) -> Growing {
        self.most = Some(most);
        self
    }
}

impl Iterator for Growing {
    type Item = Duration;
    fn next(&mut self) -> Option<Duration> {
        let wait = Duration::from_millis(self.current * self.factor);
        self.current *= self.base;
        match self.most {
            Some(most) if wait > most => Some(most),
            _ => Some(wait),
        }
    }
}

pub async fn fetch(client: &reqwest::Client, url: &str) -> reqwest::Response {
    let mut waits = Growing::default();
    loop {
        if let Ok(answer) = client.get(url).send().await {
            return answer;
        }
        tokio::time::sleep(waits.next().expect("always one")).await;
    }
}
"#,
        &json!({ "cap": "none", "delay": "exponential", "delay_ceiling": 3.0 }),
    );
}
