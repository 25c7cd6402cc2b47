//! What `inventory` says of a site: each case is a short program and the facts of its first site.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, missing_docs)]

mod common;

use std::sync::Arc;

use common::inventory::{python, rust, sites};
use serde_json::json;
use stormlint::check::{Input, check};
use stormlint::report;
use stormlint::source::{Language, SourceFile};

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
fn who_only_takes_addresses_apart_opens_none() {
    let text = |import: &str| {
        format!(
            r#"
import time
{import}

def digest(item, read):
    places, facts = item
    while True:
        try:
            with places.first.open("rb") as source:
                return read(source)
        except OSError:
            time.sleep(1)
"#
        )
    };
    python(&text("from urllib.parse import quote"), &json!({ "remote": "unknown" }));
    python(&text("from urllib.request import HTTPCookieProcessor"), &json!({ "remote": true }));
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

#[test]
fn a_limit_is_as_long_as_it_is_wherever_it_is_tested() {
    let text = r#"
import time, requests

def fetch(url):
    until = time.monotonic() + 30
    while True:
        response = requests.get(url, timeout=2)
        if response.status_code < 500:
            return response
        time.sleep(2)
        if time.monotonic() > until:
            raise TimeoutError(url)
"#;
    let file = SourceFile::new("case.py", text, Language::Python);
    let input = Input { file, module: "case".to_owned(), root_path: "case.py".into(), config: Arc::default() };
    let mut out = Vec::new();
    report::inventory::concise(&check(vec![input]), &mut out).expect("writing to memory");
    let line = String::from_utf8(out).expect("text");
    assert!(line.contains("for at most 30 s"), "{line}");
}

#[test]
fn a_recursion_begins_with_its_default_or_with_what_is_passed() {
    python(
        r#"
import time, requests

def fetch(url, tried=0):
    try:
        return requests.get(url, timeout=5)
    except requests.Timeout:
        if tried >= 2:
            raise
        time.sleep(min(2 ** tried, 10))
        return fetch(url, tried + 1)
"#,
        &json!({ "cap": "count", "max_attempts": 3, "delay": "exponential", "schedule": [[1.0, 1.0], [2.0, 2.0]] }),
    );
    rust(
        r#"
use std::{thread, time::Duration};

pub fn fetch(client: &reqwest::blocking::Client, url: &str) -> reqwest::Result<String> {
    attempt(client, url, 3)
}

fn attempt(client: &reqwest::blocking::Client, url: &str, left: u32) -> reqwest::Result<String> {
    match client.get(url).send() {
        Ok(response) => response.text(),
        Err(error) if left == 0 => Err(error),
        Err(_) => {
            thread::sleep(Duration::from_secs(5));
            attempt(client, url, left - 1)
        }
    }
}
"#,
        &json!({ "cap": "count", "max_attempts": 4, "schedule": [[5.0, 5.0], [5.0, 5.0], [5.0, 5.0]] }),
    );
}

#[test]
fn a_closed_range_ends_with_its_last() {
    rust(
        r#"
use rand::Rng;
use std::{thread, time::Duration};

pub fn fetch(client: &reqwest::blocking::Client, url: &str) -> reqwest::Result<String> {
    let mut left = 2;
    loop {
        match client.get(url).send() {
            Ok(response) => return response.text(),
            Err(error) if left == 0 => return Err(error),
            Err(_) => left -= 1,
        }
        thread::sleep(Duration::from_secs(2).mul_f64(rand::thread_rng().gen_range(0.5..=1.5)));
    }
}
"#,
        &json!({ "jitter": true, "delay": "fixed", "schedule": [[1.0, 3.0], [1.0, 3.0]] }),
    );
}

#[test]
fn the_waits_are_those_of_the_path_whose_pace_is_told() {
    python(
        r#"
import time, requests

def fetch(url):
    for turn in range(3):
        try:
            response = requests.get(url, timeout=5)
        except requests.ConnectionError:
            time.sleep(3 * 2 ** turn)
            continue
        if response.status_code != 503:
            return response
        time.sleep(1)
    raise TimeoutError(url)
"#,
        &json!({ "delay": "exponential", "schedule": [[3.0, 3.0], [6.0, 6.0]], "worst_case_wait": 9.0 }),
    );
}

#[test]
fn waits_that_become_shorter_have_no_known_pace() {
    python(
        r#"
import time, requests

def fetch(url):
    for pause in (8, 4, 1):
        try:
            return requests.get(url, timeout=5)
        except requests.ConnectionError:
            time.sleep(pause)
    raise TimeoutError(url)
"#,
        &json!({ "delay": "unknown" }),
    );
}

#[test]
fn a_second_try_is_found_by_the_way_that_leads_to_it() {
    let of = |body: &str| sites(&format!("import requests\n\ndef load(url, spare):\n{body}"), Language::Python);
    let form = |body: &str| of(body).iter().map(|site| site["kind"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    let handler = "    try:\n        return requests.get(url, timeout=5)\n    except requests.ConnectionError:\n        \
                   return requests.get(url, timeout=5)\n";
    let status = "    answer = requests.get(url, timeout=5)\n    if answer.status_code >= 500:\n        \
                  answer = requests.get(url, timeout=5)\n    return answer\n";
    for found in [handler, status] {
        assert_eq!(form(found).len(), 1, "{found}");
    }
    let either =
        "    if spare:\n        return requests.get(url, timeout=5)\n    return requests.get(url, timeout=5)\n";
    let both = "    one = requests.get(url, timeout=5)\n    two = requests.get(url, timeout=5)\n    return one, two\n";
    let asked =
        "    one = requests.get(url, timeout=5)\n    if spare:\n        requests.get(url, timeout=5)\n    return one\n";
    for silent in [either, both, asked] {
        assert_eq!(form(silent).len(), 0, "{silent}");
    }
}

#[test]
fn what_a_helper_makes_of_the_same_things_is_the_same_in_a_second_try() {
    let of = |second: &str, wrapped: &str| {
        let text = format!(
            r#"
import requests


class Refused(Exception):
    @property
    def code(self):
        return str(self.args[0])


class Desk:
    def __init__(self):
        self.session = requests.Session()

    def once(self, url, order):
        sealed = {wrapped}
        answer = self.session.post(url, data=sealed, timeout=5)
        if not answer.ok:
            raise Refused(answer.text)
        return answer

    def post(self, url, order, other):
        try:
            return self.once(url, order)
        except Refused as refused:
            if refused.code == "stale":
                return self.once(url, {second})
            raise
"#
        );
        sites(&text, Language::Python).len()
    };
    assert_eq!(of("order", "self.seal(order)"), 1);
    assert_eq!(of("order", "self.seal(self.stamp(order))"), 1);
    assert_eq!(of("other", "self.seal(order)"), 0);
    assert_eq!(of("other", "self.seal(self.stamp(order))"), 0);
}

#[test]
fn a_loop_over_items_that_nothing_ends_early_is_no_retry() {
    let text = |last: &str| {
        format!(
            "import requests\n\ndef load(url):\n    for _ in range(3):\n        answer = requests.get(url, timeout=5)\n{last}"
        )
    };
    let of = |last: &str| sites(&text(last), Language::Python).len();
    assert_eq!(of("        if answer.ok:\n            return answer\n    return None\n"), 1);
    assert_eq!(of("        print(answer.ok)\n    return answer\n"), 0);
    assert_eq!(of("        if answer.ok:\n            print(answer)\n    return answer\n"), 0);
}

#[test]
fn what_the_error_says_of_the_wait_is_the_servers_advice() {
    rust(
        r#"
use std::time::Duration;
use crate::forge::{Forge, ForgeError, Release};

pub async fn latest(forge: &Forge, project: &str) -> Result<Release, ForgeError> {
    for _ in 0..4 {
        match forge.release(project).await {
            Err(ForgeError::Throttled { pause }) => {
                tokio::time::sleep(pause.unwrap_or(Duration::from_secs(60))).await;
            }
            other => return other,
        }
    }
    Err(ForgeError::GaveUp)
}
"#,
        &json!({"delay": "server", "retry_after": "honored", "max_attempts": 4}),
    );
}

#[test]
fn an_attempt_that_gives_its_outcome_among_other_things_fails_with_it() {
    rust(
        r#"
use crate::model::{Answer, Fault, Model};

pub struct Reader { model: Model, more: usize }

impl Reader {
    async fn once(&self, text: &str) -> (Result<Answer, Fault>, u64) {
        let (answer, spent) = self.model.ask(text).await;
        let answer = match answer {
            Ok(answer) => answer,
            Err(fault) => return (Err(fault), spent),
        };
        if answer.parts() == 0 {
            return (Err(Fault::Empty), spent);
        }
        (serde_json::from_str(&answer.text).map_err(Fault::from), spent)
    }

    pub async fn read(&self, text: &str) -> Result<(Answer, u64), Fault> {
        let mut total = 0;
        let mut last = Fault::Empty;
        for _ in 0..=self.more {
            let (answer, spent) = self.once(text).await;
            total += spent;
            match answer {
                Ok(answer) => return Ok((answer, total)),
                Err(fault) => last = fault,
            }
        }
        Err(last)
    }
}
"#,
        &json!({"kind": "loop", "operation": "self.model.ask(text)", "cap": "caller"}),
    );
}

#[test]
fn a_constructor_that_has_much_to_do_hides_no_loop() {
    python(
        r#"
import requests

class Fetcher:
    def __init__(self, url=None, tries=1, config=None):
        if config is None:
            config = {}
        self._url = self._choose(url, config)
        self._tries = tries
        self._proxies = proxies_for(self._url)

    def _choose(self, url, config):
        if url != "https://example.com":
            chosen = url
        elif config.get("endpoint"):
            chosen = config.get("endpoint")
        elif config.get("mode") == "six":
            chosen = "https://six.example.com"
        else:
            chosen = "https://example.com"
        if not is_sound(chosen):
            raise ValueError(chosen)
        return chosen

    def _address(self, path):
        sep = "/" if self._url and not self._url.endswith("/") else ""
        return f"{self._url}{sep}{path}"

    def get(self, path):
        url = self._address(path)
        for _ in range(self._tries):
            try:
                return requests.get(url, proxies=self._proxies, timeout=3)
            except requests.ConnectionError:
                print("again")
        raise RuntimeError("no answer")

def is_sound(url):
    return is_plain(url) or is_bracketed(url)

def is_plain(url):
    parts = split(url)
    if parts.host is None or parts.port is None:
        return False
    if len(parts.host) > 255:
        return False
    if parts.host[-1] == ".":
        return False
    if parts.user or parts.password:
        return False
    if parts.query and parts.fragment:
        return False
    return bool(parts.host.strip())

def is_bracketed(url):
    parts = split(url)
    return parts.host is not None and parts.host.startswith("[") and parts.zone is None or parts.scope

def proxies_for(url):
    found = {}
    for name in ("http", "https", "all"):
        if name in environ and not skips(url):
            found[name] = environ[name]
    return found

def skips(url):
    for part in excluded():
        if part in url or url.endswith(part) or part == "*":
            return True
    return False
"#,
        &json!({"kind": "loop", "cap": "caller", "delay": "none"}),
    );
}

#[test]
fn a_field_that_a_class_declares_has_its_default() {
    python(
        r#"
import time, requests
from dataclasses import dataclass, field
from pydantic import BaseModel, Field

class Limits(BaseModel):
    tries: int = Field(4, ge=1, description="attempts in all")
    pause: float = Field(default=1.5)

@dataclass
class Settings:
    limits: Limits = field(default_factory=Limits)

class Client:
    def __init__(self, settings: Settings):
        self.settings = settings

    def fetch(self, url):
        for turn in range(self.settings.limits.tries):
            try:
                return requests.get(url, timeout=5)
            except requests.ConnectionError:
                if turn == self.settings.limits.tries - 1:
                    raise
                time.sleep(self.settings.limits.pause)
"#,
        &json!({"cap": "count", "max_attempts": 4, "schedule": [[1.5, 1.5], [1.5, 1.5], [1.5, 1.5]]}),
    );
    python(
        r#"
import requests
from pydantic import BaseModel, Field, PrivateAttr

class Worker(BaseModel):
    most: int = Field(default=2, description="further tries")
    _done: int = PrivateAttr(default=0)

    def work(self, url):
        try:
            return requests.get(url, timeout=5)
        except requests.ConnectionError as error:
            return self._again(error, url)

    def _again(self, error, url):
        self._done += 1
        if self._done > self.most:
            raise error
        return self.work(url)
"#,
        &json!({"kind": "recursion", "cap": "count", "max_attempts": 3}),
    );
}

#[test]
fn a_field_whose_attribute_declares_it_has_its_default() {
    let text = |before: &str, attribute: &str| {
        format!(
            r"
use std::time::Duration;

{before}

pub struct Options {{
    #[{attribute}]
    pub tries: u32,
    pub address: String,
}}

pub async fn load(client: &reqwest::Client, options: &Options) -> reqwest::Result<reqwest::Response> {{
    let mut failed = 0;
    loop {{
        match client.get(&options.address).send().await {{
            Err(_) if failed + 1 < options.tries => failed += 1,
            answer => return answer,
        }}
        tokio::time::sleep(Duration::from_secs(1)).await;
    }}
}}
"
        )
    };
    for (before, attribute) in [
        ("fn usual() -> u32 { 4 }", r#"serde(rename = "tries", default = "usual")"#),
        ("", "arg(long, default_value_t = 4)"),
        ("", r#"clap(short, default_value = "4")"#),
        ("const USUAL: u32 = 4;", "builder(setter(into), default = USUAL)"),
        ("", r#"builder(default = "4")"#),
    ] {
        rust(&text(before, attribute), &json!({ "cap": "count", "max_attempts": 4 }));
    }
    // What another crate's function gives, and what is said of something else.
    for attribute in [r#"serde(default = "usual::tries")"#, "serde(default)", "arg(long, num_args = 4)"] {
        rust(&text("", attribute), &json!({ "cap": "caller", "max_attempts": null }));
    }
}

#[test]
fn an_error_that_stands_for_an_answer_carries_its_status() {
    let text = |test: &str| {
        format!(
            r#"
import time, requests

def fetch(catalogue, name):
    for turn in range(4):
        try:
            return catalogue.look_up(name)
        except requests.HTTPError as error:
            {test}
            time.sleep(2 ** turn)
    raise RuntimeError(name)
"#
        )
    };
    let picks = text("if error.response.status_code not in (429, 503):\n                raise");
    python(&picks, &json!({"retried_statuses": "429,503", "retry_after": "ignored"}));
    let sorts = text("if error.response.status_code < 500:\n                raise");
    python(&sorts, &json!({"retried_statuses": "500-599", "retry_after": "ignored"}));
    python(&text("print(error)"), &json!({"retried_statuses": "400-599"}));
    // From a call of which it is known that it leaves the process, too.
    let sorts = sorts.replace("import time, requests", "import time, requests, braintree");
    let known = sorts.replace("catalogue.look_up(name)", "braintree.Customer.find(name)");
    python(&known, &json!({"remote": true, "retried_statuses": "500-599"}));
}

#[test]
fn an_outage_that_nothing_leaves_is_endless_however_many_ways_lead_on() {
    python(
        r#"
class Feed:
    def __init__(self, wire, settings):
        self.wire = wire
        self.gap = settings.get("gap", 0)

    def page(self, name, strict=True, note=True, **options):
        while True:
            if self.gap:
                self.wire.rest(self.gap)
            if self.keys and self.tags:
                self.prepare(self.keys)
            options["extra"] = self.extra
            answer = self.wire.request("https://feed.example.com/" + name, **options)
            try:
                data = answer.json()
            except ValueError:
                data = {}
            code = answer.status_code
            if 200 <= code < 400:
                return data
            if not strict and code != 429:
                return None
            if code == 429:
                if self.gap < 30:
                    self.gap += 1
            else:
                return data
"#,
        &json!({ "cap": "none", "retry_after": "ignored", "retried_statuses": "429" }),
    );
}

#[test]
fn a_key_that_is_set_in_each_turn_makes_no_other_request() {
    python(
        r#"
import time

import requests


def order(session, basket):
    body = {"basket": basket}
    while True:
        body["ticket"] = session.ticket
        answer = requests.put("https://shop.example.com/orders", json=body, timeout=5)
        if answer.status_code == 503:
            time.sleep(2)
            continue
        return answer
"#,
        &json!({ "cap": "none", "delay": "fixed", "retried_statuses": "503" }),
    );
}

#[test]
fn a_long_constructor_takes_no_steps_from_what_its_attributes_are_used_for() {
    let choices: String = (0..14)
        .map(|at| {
            format!(
                "        if given.want('k{at}'):\n            self.k{at} = {at}\n        else:\n            self.k{at} = given.k{at}\n"
            )
        })
        .collect();
    let text = format!(
        r#"
class Desk:
    def __init__(self, given):
        self.wire = given.wire
{choices}
    def call(self, name):
        while True:
            answer = self.wire.request("https://desk.example.com/" + name, k=(self.k0, self.k1, self.k2, self.k3, self.k4, self.k5))
            if answer.status_code == 429:
                continue
            return answer.json()
"#
    );
    python(&text, &json!({ "kind": "loop", "cap": "none", "retried_statuses": "429" }));
}

#[test]
fn two_waits_grow_as_a_third_would() {
    let text = |last: &str, wait: &str| {
        format!(
            r#"
import time, requests

def fetch(url):
    for turn in range(3):
        try:
            return requests.get(url, timeout=5)
        except requests.ConnectionError:
            {last}
            time.sleep({wait})
"#
        )
    };
    let raises = "if turn == 2: raise";
    python(&text(raises, "5 * (turn + 1)"), &json!({ "delay": "linear", "schedule": [[5.0, 5.0], [10.0, 10.0]] }));
    python(&text(raises, "5 * 2 ** turn"), &json!({ "delay": "exponential", "schedule": [[5.0, 5.0], [10.0, 10.0]] }));
    python(
        r#"
import time, requests

def fetch(url):
    made = 0
    while made < 3:
        try:
            return requests.get(url, timeout=5)
        except requests.ConnectionError:
            made += 1
            if made < 3:
                time.sleep(5 * made)
    raise TimeoutError(url)
"#,
        &json!({ "delay": "linear", "max_attempts": 3, "schedule": [[5.0, 5.0], [10.0, 10.0]] }),
    );
}

#[test]
fn a_long_helper_that_runs_what_it_is_given_is_gone_into() {
    rust(
        r#"
use std::time::Duration;

pub struct Again { made: u32, most: u32, log: Log }

impl Again {
    pub fn attempt<T>(&mut self, work: impl FnOnce() -> Result<T, Failure>) -> Next<T> {
        match work() {
            Ok(value) => Next::Done(value),
            Err(failure) if self.made < self.most => {
                self.made += 1;
                if failure.is_dns() { self.log.note("dns"); }
                if failure.is_tls() { self.log.note("tls"); }
                if failure.is_proxy() { self.log.note("proxy"); }
                if failure.is_reset() { self.log.note("reset"); }
                if failure.is_partial() { self.log.note("partial"); }
                if failure.is_slow() { self.log.note("slow"); }
                Next::Later(Duration::from_secs(2))
            }
            Err(failure) => Next::Failed(failure),
        }
    }
}

pub enum Next<T> { Done(T), Later(Duration), Failed(Failure) }

pub fn keep_at<T>(mut work: impl FnMut() -> Result<T, Failure>, log: Log) -> Result<T, Failure> {
    let mut again = Again { made: 0, most: 4, log };
    loop {
        match again.attempt(&mut work) {
            Next::Done(value) => return Ok(value),
            Next::Later(pause) => std::thread::sleep(pause),
            Next::Failed(failure) => return Err(failure),
        }
    }
}
"#,
        &json!({ "kind": "loop", "operation": "work()", "cap": "count", "max_attempts": 5, "delay": "fixed" }),
    );
}

#[test]
fn a_future_that_is_made_anew_by_a_helper_is_the_same_work() {
    rust(
        r#"
use std::time::Duration;
use tokio::time;

async fn dial(address: &str, limit: Duration) -> Result<Line, Failure> {
    let line = async { open_line(address).await };
    time::timeout(limit, line).await.map_err(Failure::from)?
}

pub async fn keep_open(address: &str) -> Line {
    loop {
        match dial(address, Duration::from_secs(5)).await {
            Ok(line) => return line,
            Err(_) => time::sleep(Duration::from_secs(1)).await,
        }
    }
}
"#,
        &json!({ "kind": "loop", "operation": "time::timeout(limit, line).await", "cap": "none", "delay": "fixed" }),
    );
}

#[test]
fn a_session_that_is_begun_again_is_repeated_whatever_is_made_anew_inside() {
    rust(
        r#"
use std::time::Duration;

pub struct Feed { client: reqwest::Client, nodes: Nodes }

impl Feed {
    async fn session(&self, address: &str) -> Result<(), Failure> {
        let line = self.nodes.dial(address).await;
        line.greet(self.client.post(address)).await?;
        Ok(())
    }

    pub async fn run(&self, address: &str) {
        loop {
            if let Err(failure) = self.session(address).await {
                tracing::warn!("{failure}");
            }
            tokio::time::sleep(Duration::from_secs(3)).await;
        }
    }
}
"#,
        &json!({ "kind": "daemon", "operation": "self.session(address).await", "cap": "none", "delay": "fixed" }),
    );
}

#[test]
fn how_often_is_fixed_where_no_caller_says() {
    for limit in ["limits.TRIES", "int(stored.limit('tries'))"] {
        let text = format!(
            r#"
import time, requests
from ferry import limits, stored

def depart(url):
    for turn in range({limit}):
        try:
            return requests.get(url, timeout=5)
        except requests.ConnectionError:
            time.sleep(2)
    raise LookupError(url)
"#
        );
        python(&text, &json!({ "cap": "count", "max_attempts": null }));
    }
    python(
        r#"
import time, requests

def depart(url, tries):
    for turn in range(tries):
        try:
            return requests.get(url, timeout=5)
        except requests.ConnectionError:
            time.sleep(2)
    raise LookupError(url)
"#,
        &json!({ "cap": "caller", "max_attempts": null }),
    );
}

#[test]
fn an_error_of_a_class_of_answers_may_be_a_refusal_whatever_it_comes_from() {
    let text = |handled: &str| {
        format!(
            r"
import time, aiohttp, requests, httpx

def repeated(work, tries=4):
    for turn in range(tries):
        try:
            return work()
        except {handled}:
            time.sleep(2 ** turn)
    raise RuntimeError('given up')
"
        )
    };
    for refused in ["requests.HTTPError", "requests.RequestException", "aiohttp.ClientError", "httpx.HTTPStatusError"] {
        python(&text(refused), &json!({ "retry_after": "ignored", "max_attempts": 4 }));
    }
    for other in
        ["requests.ConnectionError", "aiohttp.ClientConnectionError", "httpx.TransportError", "OSError", "Exception"]
    {
        python(&text(other), &json!({ "retry_after": "not-applicable" }));
    }
    // What a request raises is known: no answer is among it.
    let request = text("requests.RequestException").replace("work()", "requests.get(work, timeout=5)");
    python(&request, &json!({ "retry_after": "not-applicable" }));
    python(&request.replace("timeout=5)", "timeout=5).json()"), &json!({ "retry_after": "not-applicable" }));
}

#[test]
fn what_a_class_below_defines_may_fail_like_anything_else() {
    for body in ["pass", "...", "\"\"\"Fetches one.\"\"\"", "raise NotImplementedError"] {
        let text = format!(
            r#"
import time
from abc import ABC, abstractmethod

class Mint(ABC):
    @abstractmethod
    def token(self) -> str:
        {body}

class Holder:
    def __init__(self, mint: Mint):
        self.mint = mint

    def token(self):
        for turn in range(4):
            try:
                return self.mint.token()
            except Refused:
                time.sleep(2)
        raise Refused
"#
        );
        python(
            &text,
            &json!({ "kind": "loop", "operation": "self.mint.token()", "max_attempts": 4, "delay": "fixed" }),
        );
    }
    // A hook that does nothing does nothing.
    let hook = r"
import time

class Mint:
    def prepared(self):
        pass

class Holder:
    def __init__(self, mint: Mint):
        self.mint = mint

    def token(self):
        while True:
            try:
                self.mint.prepared()
                return 1
            except Refused:
                time.sleep(2)
";
    assert_eq!(sites(hook, Language::Python), Vec::<serde_json::Value>::new());
}

#[test]
fn who_is_asked_about_an_answer_is_no_operation_and_tells_success_from_failure() {
    python(
        r"
import time, requests

def fetch(url, policy):
    attempt = 0
    while True:
        attempt += 1
        response = requests.get(url, timeout=5)
        if not policy.wants_another(response, attempt):
            return response
        time.sleep(1)
",
        &json!({ "kind": "loop", "operation": "requests.get(url, timeout=5)", "cap": null, "delay": "fixed" }),
    );
    // The answer of the turn before is asked about at the loop's head, by way of a helper.
    python(
        r"
import requests

class Courier:
    def deliver(self, url, data):
        attempt = 1
        response = self.send(url, data)
        while self.is_unhappy(response, attempt):
            attempt += 1
            response = self.send(url, data)
        return response

    def send(self, url, data):
        return requests.post(url, data=data, timeout=5)

    def is_unhappy(self, response, attempt):
        pause = self.handlers.ask(response, attempt)
        if pause is None:
            return False
        return True
",
        &json!({ "kind": "loop", "method": "POST", "cap": null }),
    );
}

#[test]
fn what_is_asked_of_an_answer_is_asked_of_the_operation_that_gave_it() {
    rust(
        r#"
pub async fn tidy(runner: &dyn Runner, command: Command) -> Result<Output, Fault> {
    let mut made = 0;
    loop {
        made += 1;
        let output = runner.run(command.clone()).await?;
        if output.succeeded() {
            return Ok(output);
        }
        if made == 5 {
            return Ok(output);
        }
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    }
}
"#,
        &json!({ "kind": "polling", "operation": "runner.run(command.clone())", "max_attempts": 5, "delay": "fixed" }),
    );
    // That a part of it is there, or sound, is no bad word on it.
    rust(
        r#"
pub async fn bound(names: &dyn Names, socket: Socket) -> Result<Bound, Fault> {
    let mut made = 0;
    loop {
        let address = names.of("desk").await?.first().unwrap();
        match socket.bind(address) {
            Ok(bound) => return Ok(bound),
            Err(fault) => {
                made += 1;
                if made == 4 {
                    return Err(fault);
                }
                tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            }
        }
    }
}
"#,
        &json!({ "kind": "loop", "operation": "socket.bind(address)", "max_attempts": 4, "delay": "fixed" }),
    );
    // What is found by an answer is no part of it.
    let merged = r"
pub async fn merged(mut cursors: Vec<Cursor>, page: &mut Page) -> Result<(), Fault> {
    loop {
        let best = cursors.iter().enumerate().filter_map(|(at, cursor)| cursor.rank(at)).max();
        let Some(best) = best else { return Ok(()) };
        let cursor = &mut cursors[best];
        if cursor.ahead() {
            return Err(Fault::Ahead);
        }
        cursor.next = cursor.stream.next().await?;
        page.push(cursor.id);
    }
}
";
    assert_eq!(sites(merged, Language::Rust), Vec::<serde_json::Value>::new());
    // Who does not wait takes the next one.
    let next = r"
pub async fn first_letter(inbox: &dyn Inbox) -> Result<Letter, Fault> {
    loop {
        let letter = inbox.take().await?;
        if letter.sealed() {
            return Ok(letter);
        }
    }
}
";
    assert_eq!(sites(next, Language::Rust), Vec::<serde_json::Value>::new());
}

#[test]
fn what_is_long_before_the_request_does_not_hide_it() {
    python(
        r#"
import time, requests

AXES = ("x", "y", "z")

def corners():
    found = []
    for a in AXES:
        for b in AXES:
            for c in AXES:
                for d in AXES:
                    for e in AXES:
                        for f in AXES:
                            for g in AXES:
                                found.append(a + b + c + d + e + f + g)
    return found

def send(url):
    for attempt in range(4):
        try:
            found = corners()
            return requests.put(url, timeout=5).json(), found
        except requests.ConnectionError:
            if attempt == 3:
                raise
            time.sleep(2 ** attempt)
"#,
        &json!({ "cap": "count", "max_attempts": 4, "delay": "exponential" }),
    );
}

#[test]
fn an_option_that_is_not_given_by_its_name_has_its_default() {
    let text = |tries: &str| {
        format!(
            r"
import time, requests

def fetch(url, **options):
    tries = {tries}
    pause = options.pop('pause', 2)
    for turn in range(tries):
        try:
            return requests.get(url, timeout=5, **options)
        except requests.ConnectionError:
            if turn == tries - 1:
                raise
            time.sleep(pause)
"
        )
    };
    python(
        &text("options.get('tries', 4)"),
        &json!({ "cap": "count", "max_attempts": 4, "delay": "fixed", "schedule": [[2.0, 2.0], [2.0, 2.0], [2.0, 2.0]] }),
    );
    python(&text("options['tries']"), &json!({ "cap": "caller", "max_attempts": null }));
}

#[test]
fn an_option_that_is_read_with_a_default_has_it() {
    let text = |tries: &str| {
        format!(
            r"
import time, requests

class Client:
    def __init__(self, config):
        self.config = config

    def fetch(self, url, record):
        answer = record
        for turn in range({tries}):
            try:
                return requests.get(url, timeout=5)
            except requests.ConnectionError:
                time.sleep(1)
        raise RuntimeError(url)
"
        )
    };
    for tries in ["self.config.get('tries', 6)", "record.get('tries', 6)"] {
        python(&text(tries), &json!({ "cap": "count", "max_attempts": 6 }));
    }
    for tries in ["self.config.get(url, 6)", "self.config.get('tries')", "self.config.get('tries', 1)"] {
        python(&text(tries), &json!({ "max_attempts": null }));
    }
}

#[test]
fn what_callers_hand_on_or_keep_is_given_too() {
    let text = |given: &str| {
        format!(
            r"
import time, requests

class Client:
    tries = 5

    def first(self, url, most=4):
        {given}

    def _fetch(self, url, tries):
        for turn in range(tries):
            try:
                return requests.get(url, timeout=5)
            except requests.ConnectionError:
                time.sleep(1)
        raise RuntimeError(url)
"
        )
    };
    python(&text("return self._fetch(url, tries=self.tries)"), &json!({ "cap": "count", "max_attempts": 5 }));
    python(&text("return self._fetch(url, most)"), &json!({ "cap": "count", "max_attempts": 4 }));
    python(
        &text("most = len(url)\n        return self._fetch(url, most)"),
        &json!({ "cap": "caller", "max_attempts": null }),
    );
    python(&text("return self._fetch(url, url.tries)"), &json!({ "cap": "caller", "max_attempts": null }));
}
