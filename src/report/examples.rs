//! The examples of model files, run.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::inventory;
use crate::check::{Input, check};
use crate::config::Config;
use crate::models::Example;
use crate::models::versions::{self, Pin, Pinned, Version, Versions};
use crate::source::{Language, SourceFile};

/// What an example yields otherwise than it says.
#[must_use]
pub fn faults(example: &Example, language: Language, config: &Arc<Config>) -> Vec<String> {
    let name = format!("example.{}", language.name());
    let pinned = |(package, version): (&String, &String)| {
        let pin = Pin::Exact(Version::parse(version)?);
        Some(((language, versions::normal(package).into()), Pinned { pin, file: "the example".into() }))
    };
    let pinned: Versions = example.versions.iter().filter_map(pinned).collect();
    let config = &match pinned.is_empty() {
        true => config.clone(),
        false => Arc::new(Config { models: Some(Arc::new(config.models().at(&pinned))), ..(**config).clone() }),
    };
    let input = Input {
        file: SourceFile::new(name.as_str(), example.code.as_str(), language),
        module: String::new(),
        root_path: name.as_str().into(),
        config: config.clone(),
    };
    let run = check(vec![input]);
    let mut faults: Vec<String> = run.errors.iter().map(|error| error.message.clone()).collect();
    let found: BTreeSet<&str> = run.findings.iter().map(|found| found.diagnostic.rule).collect();
    let wanted: BTreeSet<&str> = example.findings.iter().map(String::as_str).collect();
    let listed =
        |rules: &mut dyn Iterator<Item = &&str>| rules.map(|rule| format!("`{rule}`")).collect::<Vec<_>>().join(", ");
    if found != wanted {
        let (missing, surplus) = (listed(&mut wanted.difference(&found)), listed(&mut found.difference(&wanted)));
        let told = [("not reported", missing), ("reported, and not named in `findings`", surplus)];
        faults.extend(
            told.into_iter().filter(|(_, rules)| !rules.is_empty()).map(|(what, rules)| format!("{what}: {rules}")),
        );
    }
    let mut out = Vec::new();
    let listed = inventory::json(&run, &mut out).ok().and_then(|()| serde_json::from_slice(&out).ok());
    let listed: serde_json::Value = listed.unwrap_or_default();
    for (key, wanted) in &example.site {
        let wanted = serde_json::to_value(wanted).unwrap_or_default();
        let found = listed.pointer("/sites/0").and_then(|site| site.get(key)).cloned().unwrap_or_default();
        let same = match (found.as_f64(), wanted.as_f64()) {
            (Some(found), Some(wanted)) => (found - wanted).abs() < 1e-9,
            _ => found == wanted,
        };
        if !same {
            faults.push(format!("`{key}` of the first site is {found}, not {wanted}"));
        }
    }
    faults
}
