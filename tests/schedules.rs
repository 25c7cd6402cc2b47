//! What `inventory` says of how a site waits and how often it tries, where the code does not write it down in the loop:
//! each case is a short program and the facts of its only site.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, missing_docs)]

mod common;

use common::inventory::{python, rust};
use serde_json::json;

#[test]
fn what_is_taken_where_nothing_is_given_is_a_default() {
    let python_text = |set: &str| {
        format!(
            r"
import time, requests

def fetch(url, tries=None):
{set}
    for turn in range(tries):
        try:
            return requests.get(url, timeout=5)
        except requests.ConnectionError:
            time.sleep(1)
    raise RuntimeError(url)
"
        )
    };
    let four = json!({ "cap": "count", "max_attempts": 4 });
    python(&python_text("    tries = tries or 4"), &four);
    python(&python_text("    if tries is None:\n        tries = 4"), &four);
    python(&python_text("    tries = tries if tries is not None else 4"), &four);
    // Nought may stand for as many as one likes, and what is not asked whether it is there has no default.
    python(&python_text("    tries = tries or 0"), &json!({ "cap": "caller", "max_attempts": null }));
    python(&python_text("    tries = 4 if url else tries"), &json!({ "max_attempts": null }));
    rust(
        r#"
use std::net::TcpStream;

const MOST: usize = 5;

pub fn open(place: &str, most: Option<usize>) -> std::io::Result<TcpStream> {
    let most = most.unwrap_or(MOST);
    let mut failed = 0;
    loop {
        match TcpStream::connect(place) {
            Ok(stream) => return Ok(stream),
            Err(error) => {
                failed += 1;
                if failed > most {
                    return Err(error);
                }
                std::thread::sleep(std::time::Duration::from_secs(1));
            }
        }
    }
}
"#,
        &json!({ "cap": "count", "max_attempts": 6, "delay": "fixed" }),
    );
}

#[test]
fn what_an_object_is_made_with_by_itself_is_a_default() {
    let text = |default: &str| {
        format!(
            r"
use std::time::Duration;

const TRIES: u32 = 4;

pub struct Puller {{ client: reqwest::Client, tries: u32, pause: Duration }}

impl Default for Puller {{
    fn default() -> Self {{
        Self {{ client: reqwest::Client::new(), tries: TRIES, pause: Duration::from_secs(2) }}
    }}
}}

impl Puller {{
    pub fn with(client: reqwest::Client, tries: u32, pause: Duration) -> Self {{
        Self {{ client, tries, pause }}
    }}
{default}
    pub fn tries(mut self, tries: u32) -> Self {{
        self.tries = tries;
        self
    }}

    pub async fn pull(&self, url: &str) -> reqwest::Result<reqwest::Response> {{
        let mut made = 0;
        loop {{
            match self.client.get(url).send().await {{
                Ok(answer) => return Ok(answer),
                Err(error) => {{
                    made += 1;
                    if made >= self.tries {{
                        return Err(error);
                    }}
                    tokio::time::sleep(self.pause).await;
                }}
            }}
        }}
    }}
}}
"
        )
    };
    let facts = json!({ "cap": "count", "max_attempts": 4, "delay": "fixed", "schedule": [[2.0, 2.0], [2.0, 2.0], [2.0, 2.0]] });
    rust(&text(""), &facts);
    // Two sorts of object.
    let eager = "    pub fn eager() -> Self { Self { client: reqwest::Client::new(), tries: 9, pause: Duration::from_secs(2) } }";
    rust(&text(eager), &json!({ "cap": "caller", "max_attempts": null, "delay": "fixed" }));
    python(
        r"
import time, requests

class Puller:
    def __init__(self, pause=None):
        self._pause = pause or 2.5

    def pull(self, url):
        for turn in range(3):
            try:
                return requests.get(url, timeout=5)
            except requests.ConnectionError:
                time.sleep(self._pause)
        raise RuntimeError(url)
",
        &json!({ "max_attempts": 3, "delay": "fixed", "schedule": [[2.5, 2.5], [2.5, 2.5]] }),
    );
}

#[test]
fn what_a_function_sets_once_is_known_in_its_closures() {
    let text = |further: &str| {
        format!(
            r"
import time, requests

READS = 7

def reader(url):
    session = requests.Session()
    most = READS
{further}
    def read():
        for turn in range(1, most + 1):
            try:
                return session.get(url, timeout=5)
            except requests.ConnectionError:
                time.sleep(2)
        raise RuntimeError(url)

    return read
"
        )
    };
    python(&text(""), &json!({ "cap": "count", "max_attempts": 7 }));
    let other = "    def more(by):\n        nonlocal most\n        most += by\n";
    python(&text(other), &json!({ "max_attempts": null }));
}

#[test]
fn a_checked_product_is_there() {
    let text = |next: &str| {
        format!(
            r#"
use std::time::Duration;

pub struct Growing {{ current: u64, factor: u64, most: Option<Duration> }}

impl Default for Growing {{
    fn default() -> Self {{
        Growing {{ current: 2, factor: 250, most: Some(Duration::from_secs(60)) }}
    }}
}}

impl Iterator for Growing {{
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {{
        let length = match self.current.checked_mul(self.factor) {{
            Some(millis) => Duration::from_millis(millis),
            None => Duration::from_millis(u64::MAX),
        }};
        if let Some(most) = self.most && length > most {{
            return Some(most);
        }}
        self.current = {next};
        Some(length)
    }}
}}

pub async fn connect(place: &str) -> tokio::net::TcpStream {{
    let mut growing = Growing::default();
    loop {{
        match tokio::time::timeout(Duration::from_secs(3), tokio::net::TcpStream::connect(place)).await {{
            Ok(Ok(stream)) => return stream,
            Ok(Err(error)) => eprintln!("{{error}}"),
            Err(_) => eprintln!("late"),
        }}
        tokio::time::sleep(growing.next().expect("there is always another")).await;
    }}
}}
"#
        )
    };
    let is = |next: &str, delay: &str| rust(&text(next), &json!({ "cap": "none", "delay": delay }));
    is("self.current.checked_mul(2).unwrap_or(u64::MAX)", "exponential");
    is("self.current.checked_add(2).unwrap_or(u64::MAX)", "linear");
}

#[test]
fn lengths_that_are_not_known_are_reckoned_with() {
    let text = |wait: &str| {
        format!(
            r"
use std::time::Duration;

pub struct Service {{ client: reqwest::Client, pause: Duration, most: u32 }}

fn doubled(base: Duration, count: u32) -> Duration {{
    let factor = 1u32.checked_shl(count.saturating_sub(1)).unwrap_or(u32::MAX);
    base.saturating_mul(factor).min(base.max(Duration::from_secs(30)))
}}

impl Service {{
    pub async fn ask(&self, url: &str) -> reqwest::Result<reqwest::Response> {{
        let mut count = 0;
        let pause = self.pause;
        loop {{
            match self.client.get(url).send().await {{
                Ok(answer) => break Ok(answer),
                Err(error) => {{
                    count += 1;
                    if count >= self.most {{
                        break Err(error);
                    }}
                    {wait}
                }}
            }}
        }}
    }}
}}
"
        )
    };
    let is = |wait: &str, delay: &str| rust(&text(wait), &json!({ "cap": "caller", "delay": delay }));
    is("tokio::time::sleep(pause).await;", "fixed");
    is("if !pause.is_zero() { tokio::time::sleep(pause).await; }", "fixed");
    is("tokio::time::sleep(pause * count).await;", "linear");
    is("tokio::time::sleep(doubled(pause, count)).await;", "exponential");
    is("tokio::time::sleep(self.advised(count).await).await;", "unknown");
}

#[test]
fn one_wait_is_told_by_how_it_is_reckoned() {
    let text = |wait: &str| {
        format!(
            r"
import time, requests

def fetch(url):
    for turn in range(2):
        try:
            return requests.get(url, timeout=5)
        except requests.ConnectionError:
            if turn == 1:
                raise
            time.sleep({wait})
"
        )
    };
    for (wait, delay) in [("3", "fixed"), ("2 ** turn", "exponential"), ("2 * (turn + 1)", "linear")] {
        python(&text(wait), &json!({ "max_attempts": 2, "delay": delay }));
    }
}

#[test]
fn the_sum_of_the_last_two_waits_grows_as_a_power() {
    python(
        r"
import time, requests

def fetch(url):
    now, following = 1, 1
    for turn in range(8):
        try:
            return requests.get(url, timeout=5)
        except requests.ConnectionError:
            if turn == 7:
                raise
            time.sleep(now)
            now, following = following, now + following
",
        &json!({ "max_attempts": 8, "delay": "exponential" }),
    );
}

#[test]
fn a_pause_between_calls_is_no_deadline() {
    let text = |test: &str, leave: &str| {
        format!(
            r"
import time, requests

GAP = 0.5

class Client:
    def __init__(self):
        self.last = 0.0

    def fetch(self, url):
        self.last = time.monotonic()
        for turn in range(4):
            {test}
                {leave}
            try:
                return requests.get(url, timeout=5)
            except requests.ConnectionError:
                time.sleep(1)
        raise RuntimeError(url)
"
        )
    };
    let paced =
        "since = time.monotonic() - self.last\n            self.last = time.monotonic()\n            if since < GAP:";
    python(&text(paced, "time.sleep(GAP - since)"), &json!({ "cap": "count", "max_attempts": 4 }));
    python(&text("if time.monotonic() - self.last > 30:", "break"), &json!({ "cap": "count+deadline" }));
}

#[test]
fn the_wait_of_a_site_is_that_of_the_path_that_waits() {
    python(
        r"
import time, requests

def fetch(url):
    for turn in range(5):
        try:
            answer = requests.get(url, timeout=5)
        except requests.ConnectionError:
            continue
        if answer.status_code < 500:
            return answer
        time.sleep(1 + turn * 2)
    raise RuntimeError(url)
",
        &json!({ "max_attempts": 5, "delay": "linear" }),
    );
}

#[test]
fn a_least_wait_and_a_ceiling_that_is_tested_for_hide_no_growth() {
    let text = |wait: &str| {
        format!(
            r"
import random, time, requests

def fetch(url, most, tries):
    for turn in range(tries):
        try:
            return requests.get(url, timeout=5)
        except requests.ConnectionError:
            pass
{wait}
        time.sleep(pause)
    raise RuntimeError(url)
"
        )
    };
    let growing = json!({ "cap": "caller", "delay": "exponential" });
    python(&text("        pause = max(10, 2 ** turn)"), &growing);
    python(&text("        pause = 2 ** turn\n        if pause > most:\n            pause = most"), &growing);
    let drawn = "        pause = 2 ** turn + random.random()\n        if pause > most:\n            pause = most + random.random()";
    python(&text(drawn), &json!({ "delay": "exponential", "jitter": true }));
    python(
        &text("        pause = 5 * turn\n        if pause > most:\n            pause = most"),
        &json!({ "delay": "linear" }),
    );
    // Two lengths, one after the other, are no growth.
    python(&text("        pause = 60 if turn > 6 else 5"), &json!({ "delay": "unknown" }));
}

#[test]
fn a_wait_that_is_read_once_is_the_same_in_each_turn() {
    let text = |before: &str, pause: &str| {
        format!(
            r"
import time, requests
from .settings import PAUSE
from .options import read

def fetch(url):
{before}
    while True:
        try:
            return requests.get(url, timeout=5)
        except requests.ConnectionError:
            time.sleep({pause})
"
        )
    };
    python(&text("    pass", "PAUSE"), &json!({ "cap": "none", "delay": "fixed" }));
    python(&text("    pause = read('pause')", "pause"), &json!({ "cap": "none", "delay": "fixed" }));
    // Whoever is asked anew may say something else.
    python(&text("    pass", "read('pause')"), &json!({ "cap": "none", "delay": "unknown" }));
}

#[test]
fn a_sign_that_is_waited_for_with_a_limit_is_a_wait() {
    python(
        r"
import asyncio, aiohttp

async def fetch(session: aiohttp.ClientSession, url, stop: asyncio.Event):
    pause = 1
    for turn in range(4):
        try:
            return await session.get(url, timeout=5)
        except aiohttp.ClientConnectionError:
            try:
                await asyncio.wait_for(stop.wait(), timeout=pause)
                return None
            except asyncio.TimeoutError:
                pass
            pause *= 2
    raise RuntimeError(url)
",
        &json!({ "kind": "loop", "max_attempts": 4, "delay": "exponential", "schedule": [[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]] }),
    );
    rust(
        r"
use std::time::Duration;
use tokio_util::sync::CancellationToken;

pub async fn fetch(client: &reqwest::Client, url: &str, stop: CancellationToken) -> reqwest::Result<reqwest::Response> {
    let mut made = 0;
    loop {
        match client.get(url).send().await {
            Ok(answer) => return Ok(answer),
            Err(error) if made == 3 => return Err(error),
            Err(error) => {
                if tokio::time::timeout(Duration::from_secs(2 << made), stop.cancelled()).await.is_ok() {
                    return Err(error);
                }
            }
        }
        made += 1;
    }
}
",
        &json!({ "kind": "loop", "max_attempts": 4, "delay": "exponential", "schedule": [[2.0, 2.0], [4.0, 4.0], [8.0, 8.0]] }),
    );
}

#[test]
fn numbers_of_a_mapping_and_of_a_file_of_settings_are_constants() {
    let text = |more: &str, tries: &str, pause: &str| {
        format!(
            r#"
import configparser, time, requests

LIMITS = {{"tries": 4, "pause": 2.5, "name": "x"}}
told = configparser.ConfigParser()
{more}
def fetch(url):
    for turn in range({tries}):
        try:
            return requests.get(url, timeout=5)
        except requests.ConnectionError:
            time.sleep({pause})
    raise RuntimeError(url)
"#
        )
    };
    let facts = json!({ "cap": "count", "max_attempts": 4, "delay": "fixed", "schedule": [[2.5, 2.5], [2.5, 2.5], [2.5, 2.5]] });
    python(&text("", "LIMITS[\"tries\"]", "LIMITS[\"pause\"]"), &facts);
    python(
        &text("", "told.getint(\"net\", \"tries\", fallback=4)", "told.getfloat(\"net\", \"pause\", fallback=2.5)"),
        &facts,
    );
    // Others may write there.
    let open = json!({ "max_attempts": null });
    python(&text("\ndef tell(n):\n    LIMITS[\"tries\"] = n\n", "LIMITS[\"tries\"]", "1"), &open);
    python(&text("\ndef tell(more):\n    LIMITS.update(more)\n", "LIMITS[\"tries\"]", "1"), &open);
    python(&text("", "told.getint(\"net\", \"tries\")", "1"), &open);
}

#[test]
fn a_first_wait_of_its_own_does_not_hide_how_the_others_go_on() {
    rust(
        r"
use std::time::Duration;

const LEAST: u64 = 500;

pub struct Patience { made: u64, most: u64 }

pub struct Settings { pub net: Option<u64> }

pub enum Next<T> { Done(T), Failed(Fault), Again(u64) }

impl Patience {
    pub fn new(settings: &Settings) -> Self {
        Self { made: 0, most: settings.net.unwrap_or(5) }
    }

    pub fn attempt<T>(&mut self, work: impl FnOnce() -> Result<T, Fault>) -> Next<T> {
        match work() {
            Err(error) if self.made < self.most && error.passes() => {
                self.made += 1;
                let pause = if self.made == 1 {
                    LEAST + rand::thread_rng().gen_range(0..1000)
                } else {
                    std::cmp::min((self.made - 1) * 3 * 1000 + LEAST, 10_000)
                };
                Next::Again(pause)
            }
            Err(error) => Next::Failed(error),
            Ok(value) => Next::Done(value),
        }
    }
}

pub fn keep_at<T>(settings: &Settings, mut work: impl FnMut() -> Result<T, Fault>) -> Result<T, Fault> {
    let mut patience = Patience::new(settings);
    loop {
        match patience.attempt(&mut work) {
            Next::Done(value) => return Ok(value),
            Next::Failed(error) => return Err(error),
            Next::Again(pause) => std::thread::sleep(Duration::from_millis(pause)),
        }
    }
}
",
        // What a field of an object is made with, where nothing was given, is a default too.
        &json!({ "kind": "loop", "cap": "count", "max_attempts": 6, "delay": "linear", "jitter": true,
            "schedule": [[0.5, 1.5], [3.5, 3.5], [6.5, 6.5], [9.5, 9.5], [10.0, 10.0]] }),
    );
    // Three waits do not tell, and a fourth would.
    python(
        r"
import random, time, requests

def fetch(url):
    for turn in range(4):
        try:
            return requests.get(url, timeout=5)
        except requests.ConnectionError:
            if turn == 3:
                raise
            time.sleep(3 * turn + 0.5 if turn else random.uniform(0.5, 1.5))
",
        &json!({ "max_attempts": 4, "delay": "linear", "schedule": [[0.5, 1.5], [3.5, 3.5], [6.5, 6.5]] }),
    );
}

#[test]
fn what_is_asked_for_a_status_may_be_a_refusal_for_a_while() {
    let text = |asked: &str| {
        format!(
            r#"
import time
from .model import Model

def answer(model: Model, text):
    for turn in range(4):
        try:
            return model.complete(text)
        except Exception as error:
            if not ({asked}):
                raise
            time.sleep(2 ** turn)
    raise RuntimeError(text)
"#
        )
    };
    let ignored = json!({ "kind": "loop", "retry_after": "ignored" });
    for asked in [
        r#""429" in str(error)"#,
        r#"getattr(error, "status_code", None) in (429, 503)"#,
        r#"error.code >= 500"#,
        r#"error.code != 404"#,
        r#""rate limit" in str(error).lower() or "503" in str(error).lower()"#,
        "not error.code == 404",
        "not 400 <= error.code <= 428",
        "not error.code < 429",
    ] {
        python(&text(asked), &ignored);
    }
    // A time that is over is no status, whatever number the clock has come to.
    python(
        r"
import time

def keep_at(work, told):
    while True:
        try:
            return work()
        except Exception as error:
            pause = float(told(error))
            if time.time() > pause:
                raise
            time.sleep(pause)
",
        &json!({ "kind": "loop", "retry_after": "not-applicable" }),
    );
    // Nor is a count that has come so far.
    python(
        r"
import time

def keep_at(work, told, alive, until):
    while True:
        try:
            return work()
        except Exception as error:
            if until and time.time() > until:
                raise
            pause = float(told(error))
            for second in range(int(pause)):
                alive()
                time.sleep(1.0)
            time.sleep(abs(int(pause) - pause))
",
        &json!({ "kind": "loop", "retry_after": "not-applicable" }),
    );
    // What says that such an answer is none that comes back, and what says nothing of HTTP.
    let other = json!({ "kind": "loop", "retry_after": "not-applicable" });
    for asked in [
        r#""429" not in str(error)"#,
        r#"error.code not in (429, 503)"#,
        "error.errno == 32",
        r#""busy" in str(error)"#,
        "error.code == 409",
        "error.code < 429",
    ] {
        python(&text(asked), &other);
    }
}

#[test]
fn an_error_of_a_service_may_be_a_refusal_for_a_while() {
    let text = |class: &str| {
        format!(
            r"
import time
from botocore.exceptions import {class}

def call(work):
    for turn in range(4):
        try:
            return work()
        except {class}:
            time.sleep(2 ** turn)
    raise RuntimeError
"
        )
    };
    python(&text("ClientError"), &json!({ "retry_after": "ignored" }));
    python(&text("EndpointConnectionError"), &json!({ "retry_after": "not-applicable" }));
}

#[test]
fn a_wait_of_which_nothing_is_known_is_not_taken_for_a_steady_one() {
    let text = |wait: &str| {
        format!(
            r"
import time

def keep_at(work, due):
    while True:
        try:
            return work()
        except OSError:
            {wait}
"
        )
    };
    for (wait, delay) in [
        ("time.sleep(max(0.0, due() - time.time()))", "unknown"),
        ("time.sleep(due())", "unknown"),
        ("time.sleep(due)", "fixed"),
        ("time.sleep(due * 2 + 1)", "fixed"),
    ] {
        python(&text(wait), &json!({ "cap": "none", "delay": delay }));
    }
}

#[test]
fn a_wait_that_only_the_answer_tells_is_the_server_s() {
    python(
        r#"
import time
import requests

def tell(url, news):
    status = 429
    while status == 429:
        answer = requests.post(url, json=news, timeout=5)
        status = answer.status_code
        if status == 429:
            time.sleep(answer.json()["retry_after"])
"#,
        &json!({ "cap": "none", "delay": "server", "retry_after": "honored" }),
    );
}

#[test]
fn a_server_s_own_word_for_the_time_to_wait_is_followed_as_well() {
    python(
        r#"
import time
import requests

def look(url):
    while True:
        answer = requests.get(url, timeout=5)
        if answer.status_code != 429:
            return answer
        free = int(answer.headers["X-RateLimit-Reset"])
        time.sleep(max(1, free - time.time()))
"#,
        &json!({ "cap": "none", "delay": "server", "retry_after": "honored" }),
    );
}

#[test]
fn a_wait_that_is_exchanged_for_the_next_one_grows() {
    rust(
        r"
use std::time::Duration;

struct Pauses { next: f64 }

impl Pauses {
    fn take(&mut self) -> Duration {
        let longer = (self.next * rand::random_range(1.0..=2.0)).min(60.0);
        Duration::from_secs_f64(std::mem::replace(&mut self.next, longer))
    }
}

async fn ask(client: &reqwest::Client) -> reqwest::Result<reqwest::Response> {
    let mut pauses = Pauses { next: 0.5 };
    let mut left = 5;
    loop {
        match client.get(ADDRESS).send().await {
            Ok(answer) => return Ok(answer),
            Err(error) if left == 0 => return Err(error),
            Err(_) => {
                left -= 1;
                tokio::time::sleep(pauses.take()).await;
            }
        }
    }
}
",
        &json!({ "max_attempts": 6, "delay": "exponential", "jitter": true }),
    );
}

#[test]
fn what_is_swapped_stands_in_the_other_s_place() {
    rust(
        r"
use std::time::Duration;

async fn ask(client: &reqwest::Client) -> reqwest::Result<reqwest::Response> {
    let (mut now, mut then) = (1, 2);
    for _ in 0..5 {
        if let Ok(answer) = client.get(ADDRESS).send().await {
            return Ok(answer);
        }
        tokio::time::sleep(Duration::from_secs(now)).await;
        let both = now + then;
        std::mem::swap(&mut now, &mut then);
        then = both;
    }
    client.get(ADDRESS).send().await
}
",
        &json!({ "delay": "exponential", "schedule": [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [5.0, 5.0]] }),
    );
}

#[test]
fn waits_that_are_taken_one_by_one_grow_as_their_library_says() {
    let text = |before: &str, of: &str, none: &str| {
        format!(
            r"
use backoff::{{ExponentialBackoff, backoff::Backoff}};
use std::time::Duration;

async fn keep(client: &reqwest::Client, mut given: ExponentialBackoff) -> reqwest::Result<reqwest::Response> {{
    {before}
    loop {{
        match client.get(ADDRESS).timeout(Duration::from_secs(5)).send().await {{
            Ok(answer) => return Ok(answer),
            Err(error) => match {of}.next_backoff() {{
                Some(wait) => tokio::time::sleep(wait).await,
                None => {none},
            }},
        }}
    }}
}}
"
        )
    };
    let own = "let mut own = ExponentialBackoff { initial_interval: Duration::from_secs(1), ..Default::default() };";
    let grows = json!({ "kind": "loop", "delay": "exponential", "jitter": true });
    rust(&text("", "given", "return Err(error)"), &grows);
    rust(&text(own, "own", "return Err(error)"), &json!({ "cap": "deadline", "delay": "exponential", "jitter": true }));
    // What has begun again before each wait never comes to its end.
    let again = "{ own.reset(); own }";
    rust(&text(own, again, "return Err(error)"), &json!({ "cap": "broken", "delay": "fixed", "jitter": true }));
}

#[test]
fn each_wait_that_is_the_sum_of_the_last_two_grows_as_if_multiplied() {
    let text = |next: &str| {
        format!(
            r"
import time

class Link:
    def __init__(self, dial, first, second):
        self.dial = dial
        self.last = first
        self.pause = second

    def open(self):
        for turn in range(4):
            try:
                return self.dial()
            except OSError:
                time.sleep(self.pause)
                self.last, self.pause = self.pause, {next}
        raise OSError
"
        )
    };
    python(&text("self.last + self.pause"), &json!({ "delay": "exponential" }));
    python(&text("self.pause + 5"), &json!({ "delay": "linear" }));
    python(&text("self.pause"), &json!({ "delay": "fixed" }));
}

#[test]
fn a_path_that_cannot_be_seen_through_leaves_the_bound_to_the_others() {
    let text = |other: &str| {
        format!(
            r"
import time
import requests

def load(url, told):
    turn = 0
    while True:
        turn += 1
        try:
            return requests.get(url, timeout=5)
        except requests.ConnectionError:
            if turn > 4:
                raise
            time.sleep(1)
        except requests.ReadTimeout:
            {other}
"
        )
    };
    python(&text("if not told(turn): raise"), &json!({ "cap": "count", "max_attempts": null }));
    python(&text("turn -= 1"), &json!({ "cap": "broken" }));
}

#[test]
fn what_another_answer_says_of_the_time_is_no_advice_of_the_one_that_failed() {
    python(
        r#"
import time
import requests

def sign(code):
    offer = requests.post("https://sign.example.com/offer", json=code, timeout=5).json()
    while True:
        answer = requests.get("https://sign.example.com/state", timeout=5)
        if answer.status_code != 429:
            return answer
        time.sleep(offer["interval"])
"#,
        &json!({ "cap": "none", "retry_after": "ignored" }),
    );
}
