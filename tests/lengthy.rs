//! What a policy says of itself holds where what it repeats is too long to be followed to its end.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, missing_docs)]

mod common;

use common::inventory::python;
use serde_json::json;

/// So many statements, each of which takes some steps.
fn long(count: u32, indent: &str) -> String {
    (0..count).map(|number| format!("{indent}lines.append(answer.part({number}))\n")).collect()
}

#[test]
fn a_policy_is_over_where_what_it_runs_succeeds_though_that_is_not_come_to() {
    python(
        &format!(
            r#"
import requests
from tenacity import retry, stop_after_attempt, wait_fixed


@retry(stop=stop_after_attempt(6), wait=wait_fixed(3))
def report(day):
    answer = requests.get(f"https://reports.example/{{day}}", timeout=5)
    lines = []
{}    return lines
"#,
            long(1600, "    ")
        ),
        &json!({ "kind": "decorator", "remote": true, "cap": "count", "max_attempts": 6, "delay": "fixed" }),
    );
}

#[test]
fn a_policy_that_is_gone_through_keeps_to_its_stops() {
    let text = |stop: &str| {
        format!(
            r#"
import requests
from tenacity import Retrying, retry_if_not_exception_type, stop_after_attempt, wait_fixed


class Reports:
    def __init__(self, tries):
        self.tries = tries

    def report(self, day):
        for attempt in Retrying(stop={stop}, wait=wait_fixed(3), retry=retry_if_not_exception_type(ValueError)):
            with attempt:
                return self.send(day)

    def send(self, answer):
        lines = []
{}        return requests.put("https://reports.example/", json=lines, timeout=5)
"#,
            long(200, "        ")
        )
    };
    python(&text("stop_after_attempt(20)"), &json!({ "kind": "loop", "cap": "count", "max_attempts": 20 }));
    python(&text("stop_after_attempt(self.tries)"), &json!({ "kind": "loop", "cap": "caller", "max_attempts": null }));
}

#[test]
fn one_of_several_stops_counts_whatever_the_others_ask() {
    python(
        r#"
import requests
from tenacity import retry, stop_after_attempt, wait_fixed
from tenacity.stop import stop_base


class Ending(stop_base):
    def __call__(self, attempt):
        return ending()


def patient(**settings):
    tries = settings.get("tries")

    def fetch(url):
        return requests.get(url, timeout=5)

    return retry(stop=stop_after_attempt(tries) | Ending(), wait=wait_fixed(2))(fetch)
"#,
        &json!({ "kind": "decorator", "cap": "count", "max_attempts": null }),
    );
}

/// So many things that are set or not.
fn options(count: u32, indent: &str) -> String {
    (0..count)
        .map(|number| {
            format!(
                "{indent}if self.wants_{number}(url):\n{indent}    headers[\"X-{number}\"] = self.value_{number}(url)\n"
            )
        })
        .collect()
}

#[test]
fn a_success_that_leaves_is_seen_however_many_ways_lead_through_further_turns() {
    python(
        &format!(
            r#"
import requests


class Tokens:
    def __init__(self, tries=3):
        self.tries = tries
        self.session = requests.Session()

    def token(self, url):
        for attempt in range(self.tries):
            try:
                answer = self.ask(url)
                if not self.is_odd(answer):
                    return answer.text
            except requests.ConnectionError as error:
                print(error)
        return None

    def ask(self, url):
        headers = {{}}
{}        return self.session.get(url, headers=headers, timeout=1)
"#,
            options(9, "        ")
        ),
        &json!({ "kind": "loop", "remote": true, "cap": "count", "max_attempts": 3, "delay": "none" }),
    );
}
