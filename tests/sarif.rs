//! SARIF logs against the schema and against the validator that code-scanning services recommend.
//!
//! The validator is an npm package (`npm ci`). Without it only the schema is checked, unless `CI=true` or
//! `STORMLINT_REQUIRE_MULTITOOL=1` ask for it.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use stormlint::check::{By, Run, Suppressed};
use stormlint::config::Config;
use stormlint::report::sarif::{self, Options};

fn log(run: &Run, config: &Config, category: Option<&str>) -> Value {
    let mut out = Vec::new();
    sarif::write(run, Options { config, category }, &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

fn assert_valid(name: &str, log: &Value) {
    let errors = against_schema(log);
    assert!(errors.is_empty(), "{name} against the schema:\n{}", errors.join("\n"));
    let results = multitool(name, log);
    assert!(results.is_empty(), "{name} by the validator:\n{}", results.join("\n"));
}

fn against_schema(log: &Value) -> Vec<String> {
    let schema: Value = serde_json::from_str(include_str!("../testdata/sarif/sarif-2.1.0.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    validator.iter_errors(log).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// What the validator reports.
fn multitool(name: &str, log: &Value) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tool = root.join("node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool");
    if !tool.exists() {
        let asked = |name: &str, value: &str| std::env::var(name).is_ok_and(|is| is == value);
        let required = asked("CI", "true") || asked("STORMLINT_REQUIRE_MULTITOOL", "1");
        assert!(!required, "the validator is missing: run `npm ci`");
        return Vec::new();
    }
    let folder = common::Folder::new(&format!("multitool-{name}"));
    folder.write("log.sarif", serde_json::to_vec(log).unwrap());
    let report: PathBuf = folder.0.join("report.sarif");
    let output = Command::new(tool)
        .arg("validate")
        .arg(folder.0.join("log.sarif"))
        .args(["--rule-kind", "Sarif;Ghas", "--level", "Error;Warning", "--log", "ForceOverwrite", "-o"])
        .arg(&report)
        .env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1")
        .output()
        .unwrap();
    let text = std::fs::read_to_string(&report)
        .unwrap_or_else(|error| panic!("no report ({error}): {}", String::from_utf8_lossy(&output.stdout)));
    let report: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap();
    let run = &report["runs"][0];
    assert_eq!(run["invocations"][0]["executionSuccessful"], true, "the validator itself failed: {run}");
    run["results"].as_array().unwrap().iter().map(ToString::to_string).collect()
}

#[test]
fn a_clean_run_is_valid() {
    let log = log(&common::clean_run(), &common::config(), None);
    assert_eq!(log["runs"][0]["results"], Value::Array(Vec::new()));
    assert_eq!(log["runs"][0]["automationDetails"]["id"], "stormlint/");
    assert_eq!(log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap().len(), 4);
    assert_valid("clean", &log);
}

#[test]
fn findings_are_valid() {
    let log = log(&common::run(), &common::config(), Some("nightly"));
    assert_eq!(log["runs"][0]["automationDetails"]["id"], "nightly/");
    assert_valid("findings", &log);
}

#[test]
fn what_is_suppressed_stays_out_unless_it_is_asked_for() {
    let mut run = common::run();
    for (at, by) in [(1, By::Comment("known".to_owned())), (0, By::Baseline), (0, By::Comment(String::new()))] {
        let found = run.findings.remove(at);
        run.suppressed.push(Suppressed { found, by });
    }
    let shown = log(&run, &common::config(), None);
    assert_eq!(shown["runs"][0]["results"].as_array().unwrap().len(), 1);
    assert!(shown["runs"][0]["results"][0].get("suppressions").is_none());
    run.lists_suppressed = true;
    let listed = log(&run, &common::config(), None);
    let results = listed["runs"][0]["results"].as_array().unwrap();
    let kinds: Vec<_> = results.iter().map(|result| result["suppressions"][0]["kind"].as_str()).collect();
    assert_eq!(kinds, [None, Some("inSource"), Some("external"), Some("inSource")]);
    assert_eq!(results[0]["suppressions"], Value::Array(Vec::new()), "on all or on none");
    assert_eq!(results[1]["suppressions"][0]["justification"], "known");
    assert_valid("suppressed", &listed);
}

#[test]
fn the_checks_find_faults() {
    let mut log = log(&common::run(), &common::config(), None);
    let result = &mut log["runs"][0]["results"][0];
    result["locations"] = Value::Array(Vec::new());
    let reported = multitool("faulty", &log);
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("node_modules/@microsoft").exists();
    assert_eq!(installed, !reported.is_empty(), "{reported:?}");
    log["runs"][0]["results"][0]["level"] = "grave".into();
    assert!(!against_schema(&log).is_empty());
}

#[test]
fn the_default_rules_are_valid() {
    assert_valid("default-rules", &log(&common::clean_run(), &Config::default(), None));
}

#[test]
fn a_log_of_real_sources_is_valid() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let place = stormlint::walk::Place::new(root, Some(root));
    let asked = stormlint::walk::Asked { isolated: true, ..Default::default() };
    let lookup = std::sync::Arc::new(stormlint::walk::Lookup::new(&place, asked));
    let sources = stormlint::walk::sources(&place, &lookup, &["testdata".into()]);
    assert!(sources.errors.is_empty() && sources.inputs.len() >= 10);
    let config = Config::default();
    let run = stormlint::check::check(sources.inputs);
    assert!(run.errors.is_empty(), "{:?}", run.errors);
    assert!(run.fails(Some(stormlint::diagnostic::Level::Warning)), "the incidents are full of faults");
    assert_valid("real", &log(&run, &config, None));
}

#[test]
fn places_are_relative_and_count_utf16_units() {
    let log = log(&common::run(), &common::config(), None);
    let results = log["runs"][0]["results"].as_array().unwrap();
    let place = |rule: &str| {
        let result = results.iter().find(|result| result["ruleId"] == rule).unwrap();
        result["locations"][0]["physicalLocation"].clone()
    };
    let note = place("fixed-retry-delay");
    assert_eq!(note["artifactLocation"]["uri"], "sub/%C3%BCber%20uns/send.py");
    assert_eq!(note["artifactLocation"]["uriBaseId"], "SRCROOT");
    assert_eq!((&note["region"]["startColumn"], &note["region"]["endColumn"]), (&13.into(), &26.into()));
    assert_eq!(note["region"]["snippet"]["text"], "'𝒳'; attempt");
    let header = place("unbounded-retry");
    assert_eq!((&header["region"]["startLine"], &header["region"]["endLine"]), (&6.into(), &6.into()));
}

#[test]
fn the_failure_path_is_a_flow_and_its_steps_are_related_places() {
    let log = log(&common::run(), &common::config(), None);
    let results = log["runs"][0]["results"].as_array().unwrap();
    let result = results.iter().find(|result| result["ruleId"] == "unbounded-retry").unwrap();
    assert_eq!(result["relatedLocations"].as_array().unwrap().len(), 4);
    assert_eq!(result["codeFlows"][0]["threadFlows"][0]["locations"].as_array().unwrap().len(), 4);
    let hash = result["partialFingerprints"]["primaryLocationLineHash"].as_str().unwrap();
    assert!(hash.ends_with(":1"));
    assert_eq!(result["partialFingerprints"]["stormlint/v1"].as_str().unwrap().len(), 16);
    assert!(result.get("kind").is_none());
    let text = result["message"]["text"].as_str().unwrap();
    assert!(text.starts_with("Retries POST /orders without end on any exception. An outage"), "{text}");
}

#[test]
fn what_was_not_read_is_told() {
    let log = log(&common::run(), &common::config(), None);
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let told: Vec<&str> = invocation["toolExecutionNotifications"]
        .as_array()
        .unwrap()
        .iter()
        .map(|notification| notification["descriptor"]["id"].as_str().unwrap())
        .collect();
    assert_eq!(told, ["unparsed-source", "file-error"]);
}

#[test]
fn more_results_than_are_taken_leave_the_least_out() {
    let mut run = common::run();
    let note = run.findings.iter().find(|found| found.diagnostic.rule == "fixed-retry-delay").unwrap().clone();
    run.findings.extend(std::iter::repeat_n(note, 25_000));
    let log = log(&run, &common::config(), None);
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 25_000);
    assert_eq!(results.iter().filter(|result| result["level"] == "error").count(), 2);
    let first = &log["runs"][0]["invocations"][0]["toolExecutionNotifications"][0];
    assert_eq!(first["descriptor"]["id"], "results-left-out");
    assert_eq!(first["message"]["text"], "4 further results were left out: a log holds the worst 25000.");
}
