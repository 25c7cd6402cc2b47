//! What a program does while its server fails, attempt by attempt.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// So many attempts are taken for no end.
pub const MOST: usize = 40;
/// Seconds that a request takes.
pub const LATENCY: f64 = 0.05;
/// Seconds from now in a `Retry-After` that is a date.
pub const DATE: f64 = 300.0;

/// One answer of the server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Fault {
    Status(u16),
    /// By the name of the exception, without its module.
    Exception(String),
}

/// A way in which the server fails: these faults in turn, and the last one for ever.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Scenario {
    pub fails: Vec<Fault>,
    /// `Retry-After`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl Scenario {
    pub fn status(status: u16) -> Scenario {
        Scenario { fails: vec![Fault::Status(status)], advice: None }
    }

    pub fn exception(name: &str) -> Scenario {
        Scenario { fails: vec![Fault::Exception(name.to_owned())], advice: None }
    }

    pub fn advised(status: u16, advice: &str) -> Scenario {
        Scenario { fails: vec![Fault::Status(status)], advice: Some(advice.to_owned()) }
    }
}

/// What came of one run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trace {
    /// Method and time limit of each request.
    pub requests: Vec<(String, Option<f64>)>,
    /// The wait after each request, in seconds; `None` where the program did not wait.
    pub waits: Vec<Option<f64>>,
    /// `raises Name`, `none`, `true`, `false`, `data`, `empty`, `endless`.
    pub outcome: String,
}

impl Trace {
    pub fn attempts(&self) -> usize {
        self.requests.len()
    }

    pub fn is_endless(&self) -> bool {
        self.outcome == "endless"
    }

    pub fn request(&mut self, method: &str, timeout: Option<f64>) {
        self.requests.push((method.to_owned(), timeout));
        self.waits.push(None);
    }

    pub fn wait(&mut self, seconds: f64) {
        if let Some(last) = self.waits.last_mut() {
            *last = Some(last.unwrap_or(0.0) + seconds);
        }
    }

    /// Waits between attempts.
    pub fn between(&self) -> Vec<f64> {
        let waits = self.waits.iter().map(|wait| wait.unwrap_or(0.0));
        waits.take(self.requests.len().saturating_sub(1)).collect()
    }

    /// The wait after the last attempt.
    pub fn after_last(&self) -> Option<f64> {
        self.waits.last().copied().flatten()
    }

    fn read(value: &Value) -> Trace {
        let mut trace = Trace { outcome: value[1].as_str().expect("an outcome").to_owned(), ..Trace::default() };
        for event in value[0].as_array().expect("events") {
            match event[0].as_str() {
                Some("request") => trace.request(event[1].as_str().expect("a method"), event[2].as_f64()),
                _ => trace.wait(event[1].as_f64().expect("seconds")),
            }
        }
        trace
    }

    /// The same, to a rounding of times.
    pub fn is_like(&self, other: &Trace) -> bool {
        let near = |a: &Option<f64>, b: &Option<f64>| match (a, b) {
            (Some(a), Some(b)) => near(*a, *b),
            (a, b) => a == b,
        };
        self.outcome == other.outcome
            && self.requests == other.requests
            && self.waits.len() == other.waits.len()
            && self.waits.iter().zip(&other.waits).all(|(a, b)| near(a, b))
    }
}

/// Equal, but for rounding and the second that a date is cut to.
pub fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1.0e-6 * a.abs().max(1.0) || (a > DATE - 5.0 && b > DATE - 5.0 && (a - b).abs() < 3.0)
}

/// The runs of one program under a scenario: with the least and with the greatest of all that is drawn at random.
#[derive(Debug, Clone, Default)]
pub struct Runs {
    pub low: Trace,
    pub high: Trace,
}

/// Runs Python programs in one process: for each program and scenario, what it did.
pub fn run_python(programs: &[(String, Vec<Scenario>)]) -> Vec<Vec<Runs>> {
    let harness = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/policy/harness.py");
    let work: Vec<Value> = programs
        .iter()
        .map(|(source, scenarios)| serde_json::json!({ "source": source, "scenarios": scenarios }))
        .collect();
    let mut child = Command::new("python3")
        .arg(harness)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 is on the path");
    let input = serde_json::to_vec(&work).expect("plain data");
    let mut stdin = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().expect("a process that ends");
    writer.join().expect("a thread that ends").expect("a process that reads");
    assert!(output.status.success(), "the harness failed");
    let results: Vec<Value> = serde_json::from_slice(&output.stdout).expect("results");
    let mut all = Vec::new();
    for ((_, scenarios), result) in programs.iter().zip(results) {
        let mut runs = vec![Runs::default(); scenarios.len()];
        for group in result.as_array().expect("groups") {
            let trace = Trace::read(&group[0]);
            for run in group[1].as_array().expect("runs") {
                let at = usize::try_from(run[0].as_u64().expect("an index")).expect("an index");
                match run[1].as_f64() {
                    Some(0.0) => runs[at].low = trace.clone(),
                    _ => runs[at].high = trace.clone(),
                }
            }
        }
        all.push(runs);
    }
    all
}
