//! SARIF 2.1.0, for code-scanning services and editors.
//!
//! Shaped by what its readers do: a region is the header only (an alert is shown on a change only where every line of
//! its region is in the change); no byte offsets and no `kind` (editors misread them); no times, host names or absolute
//! paths (two runs give the same bytes); the rule's page as its help.

mod schema;
mod text;

use std::io::{self, Write};

use super::page;
use crate::check::{By, ErrorKind, Found, Run, Suppressed};
use crate::config::{ActiveRule, Config};
use crate::diagnostic::{Confidence, Level};
use crate::fingerprint::line_hashes;
use crate::source::{SourceFile, Span};
use rustc_hash::FxHashMap;
use schema::{
    Artifact, ArtifactLocation, AutomationDetails, BaseId, CodeFlow, Configuration, Descriptor, DescriptorRef, Driver,
    FlowLocation, Help, Invocation, Location, Log, Notification, PartialFingerprints, PhysicalLocation, Region,
    ResultOut, ResultProperties, RuleProperties, RunOut, Snippet, SuppressionOut, Text, ThreadFlow, Tool,
};

/// More results than this are not taken by services.
const MAX_RESULTS: usize = 25_000;
/// More locations of one result are not either; far fewer can be read.
const MAX_LOCATIONS: usize = 100;
/// The name of the root that all paths are relative to.
const ROOT: &str = "SRCROOT";

/// What a log says besides the findings.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// The rules that were on.
    pub config: &'a Config,
    /// `automationDetails.id`: tells several runs over one repository apart; `stormlint/` where there is none.
    pub category: Option<&'a str>,
}

/// Writes one log.
///
/// # Errors
/// The output cannot be written.
pub fn write(run: &Run, options: Options<'_>, out: &mut dyn Write) -> io::Result<()> {
    let log = Writer::new(run, options).log();
    super::document::write(&log, out)
}

struct Writer<'a> {
    run: &'a Run,
    options: Options<'a>,
    /// Indices of the findings that are written.
    kept: Vec<usize>,
    /// The place of each file among the artifacts.
    artifacts: FxHashMap<usize, usize>,
    artifact_files: Vec<usize>,
}

impl<'a> Writer<'a> {
    fn new(run: &'a Run, options: Options<'a>) -> Self {
        let mut writer =
            Writer { run, options, kept: worst(run), artifacts: FxHashMap::default(), artifact_files: Vec::new() };
        for at in &writer.kept {
            let Some(found) = run.findings.get(*at) else { continue };
            writer.artifact_files.push(found.file);
            writer.artifact_files.extend(found.diagnostic.labels.iter().filter_map(|label| label.file));
        }
        for one in writer.suppressed() {
            writer.artifact_files.push(one.found.file);
            writer.artifact_files.extend(one.found.diagnostic.labels.iter().filter_map(|label| label.file));
        }
        writer
            .artifact_files
            .extend(run.unparsed.iter().enumerate().filter(|(_, parts)| !parts.is_empty()).map(|(at, _)| at));
        writer.artifact_files.sort_unstable();
        writer.artifact_files.dedup();
        writer.artifacts = writer.artifact_files.iter().enumerate().map(|(place, file)| (*file, place)).collect();
        writer
    }

    fn log(&self) -> Log<'a> {
        let version = env!("CARGO_PKG_VERSION");
        Log {
            schema: "https://json.schemastore.org/sarif-2.1.0.json",
            version: "2.1.0",
            runs: [RunOut {
                tool: Tool {
                    driver: Driver {
                        name: "stormlint",
                        full_name: concat!("stormlint ", env!("CARGO_PKG_VERSION")),
                        organization: "stormlint",
                        version,
                        semantic_version: version,
                        information_uri: page::HOME,
                        rules: self.options.config.rules.iter().map(descriptor).collect(),
                    },
                },
                automation_details: AutomationDetails { id: self.category() },
                column_kind: "utf16CodeUnits",
                original_uri_base_ids: std::iter::once((
                    ROOT,
                    BaseId { description: Text::new("The root of the checked repository.") },
                ))
                .collect(),
                invocations: [Invocation {
                    execution_successful: self.run.errors.is_empty(),
                    tool_execution_notifications: self.notifications(),
                }],
                artifacts: self.artifacts_out(),
                results: self.results(),
            }],
        }
    }

    /// Services take what stands before the last `/` as the category.
    fn category(&self) -> String {
        let category = self.options.category.unwrap_or("stormlint/");
        if category.ends_with('/') { category.to_owned() } else { format!("{category}/") }
    }

    fn artifacts_out(&self) -> Vec<Artifact> {
        let file = |at: &usize| {
            let file = self.run.files.get(*at)?;
            let location = ArtifactLocation { uri: self.uri(*at), uri_base_id: ROOT, index: None };
            Some(Artifact { location, source_language: file.language.name() })
        };
        self.artifact_files.iter().filter_map(file).collect()
    }

    fn uri(&self, file: usize) -> String {
        self.run.root_paths.get(file).map(|path| text::uri(path)).unwrap_or_default()
    }

    fn notifications(&self) -> Vec<Notification> {
        let mut all = Vec::new();
        let note = |level, id, text: String| Notification {
            level,
            message: Text { text },
            descriptor: DescriptorRef { id },
            locations: Vec::new(),
        };
        let left_out = self.run.findings.len() - self.kept.len();
        if left_out > 0 {
            let text = format!("{left_out} further results were left out: a log holds the worst {MAX_RESULTS}.");
            all.push(note("warning", "results-left-out", text));
        }
        for (at, (file, parts)) in self.run.files.iter().zip(&self.run.unparsed).enumerate() {
            let Some(first) = parts.iter().min_by_key(|part| part.span) else { continue };
            let text = super::sentence(&format!("part of the file could not be parsed: {}", first.message));
            let mut notification = note("warning", "unparsed-source", text);
            notification.locations.push(Location {
                id: None,
                physical_location: self.place(at, file, file.first_line(first.span), Extent::Region),
                message: None,
            });
            all.push(notification);
        }
        for error in &self.run.errors {
            let name = error.path.rsplit('/').next().unwrap_or_default();
            let id = if error.kind == ErrorKind::InternalError { "internal-error" } else { "file-error" };
            all.push(note("error", id, super::sentence(&format!("`{name}`: {}", error.message))));
        }
        all
    }

    /// The findings that are listed although they are not reported.
    fn suppressed(&self) -> &'a [Suppressed] {
        let room = MAX_RESULTS.saturating_sub(self.kept.len());
        let all = if self.run.lists_suppressed { self.run.suppressed.as_slice() } else { &[] };
        all.get(..room).unwrap_or(all)
    }

    fn results(&self) -> Vec<ResultOut<'a>> {
        let mut hashes: Option<(usize, Vec<String>)> = None;
        let mut results = Vec::with_capacity(self.kept.len());
        let reported = self.kept.iter().filter_map(|at| self.run.findings.get(*at)).map(|found| (found, None));
        let suppressed = self.suppressed().iter().map(|one| (&one.found, Some(&one.by)));
        for (found, by) in reported.chain(suppressed) {
            let Some(file) = self.run.files.get(found.file) else { continue };
            if hashes.as_ref().is_none_or(|(of, _)| *of != found.file) {
                hashes = Some((found.file, line_hashes(&file.text)));
            }
            let line = file.line_of(found.diagnostic.span.start);
            let hash = hashes.as_ref().and_then(|(_, lines)| lines.get(line.saturating_sub(1)));
            results.push(self.result(found, by, file, hash.cloned()));
        }
        results
    }

    fn result(&self, found: &'a Found, by: Option<&By>, file: &SourceFile, line_hash: Option<String>) -> ResultOut<'a> {
        let diagnostic = &found.diagnostic;
        let rules = &self.options.config.rules;
        let steps: Vec<Location> = diagnostic
            .labels
            .iter()
            .take(MAX_LOCATIONS)
            .filter_map(|label| {
                let at = label.file.unwrap_or(found.file);
                let file = self.run.files.get(at)?;
                let span = file.first_line(label.span);
                Some((self.place(at, file, span, Extent::Region), super::sentence(&label.text)))
            })
            .enumerate()
            .map(|(number, (physical_location, text))| Location {
                id: Some(number + 1),
                physical_location,
                message: Some(Text { text }),
            })
            .collect();
        let code_flows = if steps.is_empty() {
            Vec::new()
        } else {
            let locations =
                steps.iter().map(|step| FlowLocation { location: Location { id: None, ..step.clone() } }).collect();
            vec![CodeFlow { thread_flows: [ThreadFlow { locations }] }]
        };
        ResultOut {
            rule_id: diagnostic.rule,
            rule_index: rules.iter().position(|active| active.rule.name == diagnostic.rule),
            level: diagnostic.level.name(),
            message: Text { text: super::sentences(diagnostic) },
            locations: [Location {
                id: None,
                physical_location: self.place(found.file, file, diagnostic.span, Extent::WithContext),
                message: None,
            }],
            related_locations: steps,
            code_flows,
            partial_fingerprints: PartialFingerprints {
                primary_location_line_hash: line_hash,
                stormlint: &found.fingerprint,
            },
            suppressions: self.run.lists_suppressed.then(|| by.map(suppression).into_iter().collect()),
            properties: ResultProperties { confidence: diagnostic.confidence.name() },
        }
    }

    fn place(&self, at: usize, file: &SourceFile, span: Span, extent: Extent) -> PhysicalLocation {
        let with_text = matches!(extent, Extent::WithContext);
        PhysicalLocation {
            artifact_location: ArtifactLocation {
                uri: self.uri(at),
                uri_base_id: ROOT,
                index: self.artifacts.get(&at).copied(),
            },
            region: text::region(file, span, with_text),
            context_region: if with_text { text::context(file, span) } else { None },
        }
    }
}

#[derive(Clone, Copy)]
enum Extent {
    Region,
    WithContext,
}

fn suppression(by: &By) -> SuppressionOut {
    match by {
        By::Comment(reason) if reason.is_empty() => {
            SuppressionOut { kind: "inSource", justification: "No reason is given.".to_owned() }
        }
        By::Comment(reason) => SuppressionOut { kind: "inSource", justification: reason.clone() },
        By::Baseline => SuppressionOut { kind: "external", justification: "It is in the baseline.".to_owned() },
    }
}

/// The findings to write: all, or the gravest and surest; in source order.
fn worst(run: &Run) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..run.findings.len()).collect();
    if kept.len() > MAX_RESULTS {
        let rank = |at: &usize| {
            let found = run.findings.get(*at).map(|found| (found.diagnostic.level, found.diagnostic.confidence));
            std::cmp::Reverse(found.unwrap_or((Level::Note, Confidence::Low)))
        };
        kept.sort_by_key(rank);
        kept.truncate(MAX_RESULTS);
        kept.sort_unstable();
    }
    kept
}

fn descriptor(active: &ActiveRule) -> Descriptor {
    let rule = &active.rule;
    let summary = page::summary(rule.page);
    let summary = if summary.is_empty() { super::sentence(&rule.name.replace('-', " ")) } else { summary };
    let about = page::section(rule.page, "What it does");
    Descriptor {
        id: rule.name,
        name: text::pascal_case(rule.name),
        full_description: Text { text: text::cut(if about.is_empty() { &summary } else { &about }) },
        short_description: Text { text: text::cut(&summary) },
        help: match rule.page.trim() {
            "" => Help { text: summary.clone(), markdown: summary },
            page => Help { text: page::plain(page), markdown: page.to_owned() },
        },
        help_uri: page::address(rule.name),
        default_configuration: Configuration { level: active.level.name() },
        properties: RuleProperties {
            tags: vec!["reliability", "retry", rule.group.name()],
            precision: "high",
            problem_severity: match active.level {
                Level::Error => "error",
                Level::Warning => "warning",
                Level::Note => "recommendation",
            },
        },
    }
}

impl Snippet {
    fn new(text: &str) -> Self {
        Snippet { text: text.to_owned() }
    }
}

impl Region {
    fn lines(start_line: usize, end_line: usize) -> Self {
        Region { start_line, start_column: None, end_line, end_column: None, snippet: None }
    }
}
