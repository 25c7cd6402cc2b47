//! Outages in which the operation fails now in one way, now in another: what the ways of failing share of a count.
//!
//! An outage of one kind shows how often the operation is executed if it always fails so. Where each kind has a count of
//! its own, a fault that shows itself in several ways goes through all of them.

use super::facts::Group;
use super::machine::{Advice, Machine};
use super::policy::{FailurePath, Form};
use super::sites::Found;
use super::state::Failing;
use super::value::Place;
use crate::ir::LoopKind;

/// Executions of the operation in all, however it fails, where each way of failing alone has a known number.
pub(super) fn attempts_in_all(
    machine: &mut Machine<'_>,
    found: &Found<'_>,
    groups: &[Group],
    failures: &[FailurePath],
) -> Option<u32> {
    let alone: Vec<u32> = failures.iter().map(|path| path.attempts).collect::<Option<_>>()?;
    let mut most = alone.iter().copied().max().filter(|most| *most > 0)?;
    let alike = alone.iter().all(|attempts| *attempts == most);
    // The turns of a `for` loop are counted, however they go.
    if found.form == Form::StraightLine || (alike && found.loop_kind == Some(LoopKind::For)) {
        return Some(most);
    }
    let mut places: Vec<Place> = groups.iter().map(|group| group.op.place).collect();
    places.sort_unstable();
    places.dedup();
    for place in places {
        let here = groups.iter().zip(alone.iter().copied()).filter(|(group, _)| group.op.place == place);
        let mut here: Vec<(&Group, u32)> = here.collect();
        here.sort_by_key(|(_, attempts)| *attempts);
        if here.len() < 2 {
            continue;
        }
        let ways: Vec<_> = here.iter().map(|(group, attempts)| (&group.how, attempts.saturating_sub(1))).collect();
        let together = attempts(machine, found, place, &ways, None).unwrap_or(0);
        if together <= most {
            continue;
        }
        most = together;
        // Counts that a failure of another kind sets back do not add up: each of those lets them begin anew.
        let mut pairs = here.iter().flat_map(|one| here.iter().map(move |(other, _)| (*one, *other)));
        if pairs.any(|(one, other)| one.0.how != other.how && sets_back(machine, found, one, other)) {
            return None;
        }
    }
    Some(most)
}

/// Whether a failure of one kind makes the count of another kind, by which there are so many attempts, begin anew.
pub(super) fn sets_back(machine: &mut Machine<'_>, found: &Found<'_>, counted: (&Group, u32), other: &Group) -> bool {
    let (counted, alone) = counted;
    if counted.op.place != other.op.place || alone < 2 {
        return false;
    }
    let ways = [(&counted.how, alone - 1), (&other.how, 1), (&counted.how, u32::MAX)];
    let most = alone.saturating_mul(2);
    attempts(machine, found, counted.op.place, &ways, Some(most + 1)).is_some_and(|attempts| attempts == most)
}

/// Executions until the code gives up, if it does.
fn attempts(
    machine: &mut Machine<'_>,
    found: &Found<'_>,
    place: Place,
    ways: &[(&Failing, u32)],
    most: Option<u32>,
) -> Option<u32> {
    machine.mixed_outage(&found.plan, &found.entries, place, ways, Advice::Absent, most.or(found.most)).attempts
}
