//! Reports layers of retries that multiply: each reasonable alone, too many requests together.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::{Layer, Site};
use crate::diagnostic::{Confidence, Label, Level};

pub(super) const RULE: Rule = Rule {
    name: "nested-retry",
    group: Group::Layers,
    level: Level::Warning,
    page: include_str!("../../rules/nested-retry.md"),
    check: Some(check),
};

fn check(site: &Site, context: Context<'_>) -> Option<Finding> {
    let operation = scope::outcome(site)?;
    let below = site.layers.get(1..).filter(|below| !below.is_empty())?;
    let own = below.iter().any(|layer| layer.explicit);
    let large = site.amplification.is_some_and(|product| product >= context.limits.max_amplification);
    if !own && !large {
        return None;
    }
    let product = match site.amplification {
        Some(product) => format!("{} = {product} requests for one call", factors(&site.layers)),
        None => format!("{} for each of its attempts", factors(below)),
    };
    let mut labels: Vec<Label> = site
        .layers
        .iter()
        .filter_map(|layer| Some(Label { file: None, span: layer.span?, text: layer.text.clone() }))
        .collect();
    labels.dedup();
    let layers: Vec<&str> = site.layers.iter().map(|layer| layer.text.as_str()).collect();
    Some(Finding {
        confidence: if own { scope::site_confidence(site) } else { scope::site_confidence(site).min(Confidence::High) },
        message: format!(
            "{} is repeated by {} layers at once: {product}",
            wording::subject(operation),
            site.layers.len()
        ),
        why: format!("while a fault lasts each layer multiplies the one below it: {}", layers.join(", times ")),
        help:
            "keep one layer: the outermost that knows whether a repetition is safe and when the task must be done, or \
               the library's own if it follows `Retry-After`; switch the others off"
                .to_owned(),
        labels,
    })
}

fn factors(layers: &[Layer]) -> String {
    let known = |layer: &Layer| if layer.factor == 0 { "n".to_owned() } else { layer.factor.to_string() };
    layers.iter().map(known).collect::<Vec<_>>().join(" × ")
}
