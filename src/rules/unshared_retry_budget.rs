//! Reports a retry that each of many tasks makes for itself, while they all run at once.

use super::{Context, Finding, Group, Rule, scope, wording};
use crate::analysis::policy::{Bound, FailurePath, Site};
use crate::diagnostic::{Label, Level};

pub(super) const RULE: Rule = Rule {
    name: "unshared-retry-budget",
    group: Group::Strict,
    level: Level::Note,
    page: include_str!("../../rules/unshared-retry-budget.md"),
    check: Some(check),
};

fn check(site: &Site, context: Context<'_>) -> Option<Finding> {
    let operation = scope::remote(site)?;
    let tasks = site.tasks?;
    // The outermost layer tells of those below it; what has no end is another fault.
    let endless = |bound: &Bound| matches!(bound, Bound::None | Bound::Broken(_) | Bound::Flag | Bound::Unknown);
    let endless = endless(&site.bound) || site.failures.iter().any(|path| endless(&path.bound));
    if site.inner || endless || site.max_attempts == Some(1) {
        return None;
    }
    // One budget for any failure is one too many for this.
    if site.failures.iter().any(|path| path.shared) {
        return None;
    }
    let path = scope::surest(site, |path: &FailurePath| !path.new_input && !path.repaired)?;
    let file = context.files.get(tasks.at.file as usize)?;
    let own = std::ptr::eq(file, context.file) || file.path == context.file.path;
    let place = if own {
        format!("line {}", file.line_of(tasks.at.span.start))
    } else {
        format!("{}:{}", file.path, file.line_of(tasks.at.span.start))
    };
    let many = tasks.count.map_or_else(|| "many".to_owned(), |count| count.to_string());
    let mut labels = scope::steps(path);
    labels.push(Label {
        file: (!own).then_some(tasks.at.file as usize),
        span: tasks.at.span,
        text: format!("{many} tasks at once come here"),
    });
    Some(Finding {
        confidence: scope::confidence(site, path),
        message: format!(
            "{} is repeated by each of {many} tasks that run at once (from {place}), with no budget that they share: {}",
            wording::subject(operation),
            wording::requests_of_tasks(site, tasks.count)
        ),
        why: "each task counts for itself: however many of them have just seen the server fail, the next one begins with \
              all its attempts, so that the load grows where it should shrink"
            .to_owned(),
        help: "let them take their repetitions from one budget outside of them, which every repetition draws on and every \
               success refills, and fail at once where it is empty; a semaphore bounds how many run at once and shares \
               no budget"
            .to_owned(),
        labels,
    })
}
