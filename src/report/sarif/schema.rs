//! The parts of SARIF's object model that are written, named as in the standard.

use std::collections::BTreeMap;

use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Log<'a> {
    #[serde(rename = "$schema")]
    pub schema: &'static str,
    pub version: &'static str,
    pub runs: [RunOut<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunOut<'a> {
    pub tool: Tool,
    pub automation_details: AutomationDetails,
    pub column_kind: &'static str,
    pub original_uri_base_ids: BTreeMap<&'static str, BaseId>,
    pub invocations: [Invocation; 1],
    pub artifacts: Vec<Artifact>,
    pub results: Vec<ResultOut<'a>>,
}

#[derive(Serialize)]
pub(super) struct Tool {
    pub driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Driver {
    pub name: &'static str,
    pub full_name: &'static str,
    pub organization: &'static str,
    pub version: &'static str,
    pub semantic_version: &'static str,
    pub information_uri: &'static str,
    pub rules: Vec<Descriptor>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Descriptor {
    pub id: &'static str,
    pub name: String,
    pub short_description: Text,
    pub full_description: Text,
    pub help: Help,
    pub help_uri: String,
    pub default_configuration: Configuration,
    pub properties: RuleProperties,
}

#[derive(Serialize)]
pub(super) struct Help {
    pub text: String,
    pub markdown: String,
}

#[derive(Serialize)]
pub(super) struct Configuration {
    pub level: &'static str,
}

#[derive(Serialize)]
pub(super) struct RuleProperties {
    pub tags: Vec<&'static str>,
    pub precision: &'static str,
    #[serde(rename = "problem.severity")]
    pub problem_severity: &'static str,
}

#[derive(Serialize)]
pub(super) struct AutomationDetails {
    pub id: String,
}

#[derive(Serialize)]
pub(super) struct BaseId {
    pub description: Text,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Invocation {
    pub execution_successful: bool,
    pub tool_execution_notifications: Vec<Notification>,
}

#[derive(Serialize)]
pub(super) struct Notification {
    pub level: &'static str,
    pub message: Text,
    pub descriptor: DescriptorRef,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<Location>,
}

#[derive(Serialize)]
pub(super) struct DescriptorRef {
    pub id: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Artifact {
    pub location: ArtifactLocation,
    pub source_language: &'static str,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactLocation {
    pub uri: String,
    pub uri_base_id: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResultOut<'a> {
    pub rule_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_index: Option<usize>,
    pub level: &'static str,
    pub message: Text,
    pub locations: [Location; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related_locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub code_flows: Vec<CodeFlow>,
    pub partial_fingerprints: PartialFingerprints<'a>,
    /// On all results of a log or on none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppressions: Option<Vec<SuppressionOut>>,
    pub properties: ResultProperties,
}

#[derive(Serialize)]
pub(super) struct SuppressionOut {
    pub kind: &'static str,
    pub justification: String,
}

#[derive(Serialize)]
pub(super) struct ResultProperties {
    pub confidence: &'static str,
}

#[derive(Serialize)]
pub(super) struct PartialFingerprints<'a> {
    #[serde(rename = "primaryLocationLineHash", skip_serializing_if = "Option::is_none")]
    pub primary_location_line_hash: Option<String>,
    #[serde(rename = "stormlint/v1")]
    pub stormlint: &'a str,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<usize>,
    pub physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Text>,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PhysicalLocation {
    pub artifact_location: ArtifactLocation,
    pub region: Region,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_region: Option<Region>,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Region {
    pub start_line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_column: Option<usize>,
    pub end_line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_column: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<Snippet>,
}

#[derive(Clone, Serialize)]
pub(super) struct Snippet {
    pub text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodeFlow {
    pub thread_flows: [ThreadFlow; 1],
}

#[derive(Serialize)]
pub(super) struct ThreadFlow {
    pub locations: Vec<FlowLocation>,
}

#[derive(Serialize)]
pub(super) struct FlowLocation {
    pub location: Location,
}

#[derive(Clone, Serialize)]
pub(super) struct Text {
    pub text: String,
}

impl Text {
    pub fn new(text: &str) -> Self {
        Text { text: text.to_owned() }
    }
}
