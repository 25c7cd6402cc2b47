//! The list of rules: what `stormlint rules` prints.

use std::io::{self, Write};

use serde::Serialize;

use super::page;
use crate::diagnostic::Level;
use crate::rules::Rule;

#[derive(Serialize)]
struct Row {
    name: &'static str,
    group: &'static str,
    level: Level,
    default: bool,
    summary: String,
}

fn rows(rules: &[Rule]) -> Vec<Row> {
    let row = |rule: &Rule| Row {
        name: rule.name,
        group: rule.group.name(),
        level: rule.level,
        default: rule.on_by_default(),
        summary: page::summary(rule.page),
    };
    rules.iter().map(row).collect()
}

/// Writes a Markdown table, with columns in line so that it is read as well without rendering.
///
/// # Errors
/// The output cannot be written.
pub fn table(rules: &[Rule], out: &mut dyn Write) -> io::Result<()> {
    let rows = rows(rules);
    let width = |of: fn(&Row) -> usize, least: usize| rows.iter().map(of).max().unwrap_or(0).max(least);
    let name = width(|row| row.name.len(), 4);
    let group = width(|row| row.group.len(), 5);
    writeln!(out, "| {:name$} | {:group$} | level   | on  | reports", "rule", "group")?;
    writeln!(out, "| {:-<name$} | {:-<group$} | ------- | --- | -------", "", "")?;
    for row in rows {
        let on = if row.default { "yes" } else { "no" };
        let level = row.level.name();
        writeln!(out, "| {:name$} | {:group$} | {level:7} | {on:3} | {}", row.name, row.group, row.summary)?;
    }
    Ok(())
}

/// Writes a JSON document.
///
/// # Errors
/// The output cannot be written.
pub fn json(rules: &[Rule], out: &mut dyn Write) -> io::Result<()> {
    let document = serde_json::json!({ "version": 1, "rules": rows(rules) });
    super::document::write(&document, out)
}
