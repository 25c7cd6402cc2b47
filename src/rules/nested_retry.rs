//! Reports layers of retries that multiply: each reasonable alone, too many requests together.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::{Known, Layer, Site};
use crate::diagnostic::{Confidence, Label, Level};
use crate::source::Span;

pub(super) const RULE: Rule = Rule {
    name: "nested-retry",
    group: Group::Layers,
    level: Level::Warning,
    page: include_str!("../../rules/nested-retry.md"),
    check: Some(check),
};

fn check(site: &Site, context: Context<'_>) -> Option<Finding> {
    scope::outcome(site)?;
    let operation = site.operations.get(site.multiplied).filter(|operation| operation.remote != Known::No)?;
    let below = site.layers.get(1..).filter(|below| !below.is_empty())?;
    let own = below.iter().any(|layer| layer.explicit);
    let large = site.amplification.is_some_and(|product| product >= context.limits.max_amplification);
    // The outermost layer tells of what the project's own code has below.
    let told_further_out = site.inner && below.iter().any(|layer| layer.library.is_none());
    if told_further_out || (!own && !large) {
        return None;
    }
    // What may be local work is too little to go by where the turns of a loop are not known; so is an outermost loop of
    // unknown turns that was not followed to its end, and a product of which no factor is known.
    let open = |layer: &Layer| layer.factor == 0;
    let vague = operation.remote != Known::Yes && site.layers.iter().any(open)
        || site.cut && site.layers.first().is_some_and(open)
        || site.layers.iter().all(open);
    // Alone with a layer of which it is not known whether it repeats the same failures.
    let guessed = !own && below.iter().all(|layer| layer.guessed);
    let waits = site.layered_wait.filter(|wait| *wait > 0.0);
    let waits = waits.map(|wait| format!("; the waits between them add up to {} at most", wording::seconds(wait)));
    Some(Finding {
        confidence: if vague || guessed { Confidence::Low } else { scope::site_confidence(site) },
        message: format!(
            "{} is repeated by {} layers at once: {}",
            wording::subject(operation),
            site.layers.len(),
            wording::requests(site)
        ),
        why: format!(
            "while a fault lasts each layer multiplies the one below it: {}{}",
            chain(&site.layers, context),
            waits.unwrap_or_default()
        ),
        help: help(below),
        labels: site.layers.iter().filter_map(|layer| label(layer, operation.span, context)).collect(),
    })
}

/// The factors from the outside in, each with who makes it and where.
fn chain(layers: &[Layer], context: Context<'_>) -> String {
    let parts = layers.iter().enumerate().map(|(at, layer)| {
        let place = layer.at.filter(|_| at > 0).and_then(|at| {
            let file = context.files.get(at.file as usize)?;
            Some(format!(" ({}:{})", file.path, file.line_of(at.span.start)))
        });
        format!("{}{}", attempts(layer), place.unwrap_or_default())
    });
    parts.collect::<Vec<_>>().join(", times ")
}

/// "4 attempts here", "3 attempts by the loop in `fetch`".
fn attempts(layer: &Layer) -> String {
    let number = if layer.factor == 0 { "n".to_owned() } else { layer.factor.to_string() };
    match (layer.library.is_some(), layer.text.strip_prefix("attempts ")) {
        (_, Some(here)) => format!("{number} attempts {here}"),
        (_, None) => format!("{number} attempts by {}", layer.text),
    }
}

/// A layer with its place; what a library does by itself is told where it is called.
fn label(layer: &Layer, call: Span, context: Context<'_>) -> Option<Label> {
    let Some(at) = layer.at else { return Some(Label { file: None, span: call, text: attempts(layer) }) };
    let file = context.files.get(at.file as usize)?;
    let own = std::ptr::eq(file, context.file) || file.path == context.file.path;
    Some(Label { file: (!own).then_some(at.file as usize), span: at.span, text: attempts(layer) })
}

/// Which layer to keep.
fn help(below: &[Layer]) -> String {
    const OUTERMOST: &str = "the outermost, which can know whether a repetition is safe and when the task must be done";
    let library = below.iter().find_map(|layer| Some((layer, layer.library.as_deref()?)));
    let Some((layer, name)) = library else {
        return format!("keep one layer alone: this one is {OUTERMOST}; let what it calls fail at once");
    };
    let off = layer.off.as_deref().map(|off| format!(" (`{off}`)")).unwrap_or_default();
    let others = if below.len() > 1 { ", as well as what stands between them" } else { "" };
    if layer.follows_advice {
        return format!(
            "keep one layer, never both: either this one, {OUTERMOST}, and switch off what {name} repeats{off}{others}; \
             or that of {name}, which follows `Retry-After`, and repeat nothing around it"
        );
    }
    format!("keep one layer alone: this one is {OUTERMOST}; switch off what {name} repeats by itself{off}{others}")
}
