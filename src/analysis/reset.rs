//! Whether a success sets the wait back: the operation fails a few times, succeeds once, and fails again.

use super::facts::Group;
use super::machine::{Advice, End, Machine, Plan};
use super::policy::{Form, Role, Unreset, Wait};
use super::sites::{Found, at_head};
use super::state::State;

/// Failures before the success.
const FAILURES: u32 = 4;
/// Steps for the turn that succeeds.
const BUDGET: u64 = 10_000;

/// The wait that a long-lived loop keeps from an earlier outage, if it does.
pub(super) fn unreset(machine: &mut Machine<'_>, found: &Found<'_>, group: &Group) -> Option<Unreset> {
    if found.role != Role::Daemon || found.form != Form::Loop {
        return None;
    }
    let (place, how) = (group.op.place, &group.how);
    let failing = machine.outage(&found.plan, &found.entries, place, how, Advice::Absent, Some(FAILURES));
    let first = length(failing.waits.first())?;
    let grown = length(failing.waits.last())?;
    if grown <= first {
        return None;
    }
    let mut states: Vec<State> = failing.survivors;
    states.truncate(2);
    let turns = states.iter().map(|state| state.turns).max().unwrap_or(0);
    machine.plan = Plan { explore: false, stop_at_head: true, max_turns: turns + 3, ..found.plan.clone() };
    machine.allow(BUDGET);
    let finished = machine.run(states);
    let heads: Vec<State> = finished
        .into_iter()
        .filter(|finished| finished.end == End::Head)
        .map(|finished| at_head(finished.state))
        .collect();
    let mut kept = None;
    for head in heads.into_iter().take(4) {
        let again = machine.outage(&found.plan, &[head], place, how, Advice::Absent, Some(1));
        let wait = length(again.waits.first())?;
        // Set back, and perhaps grown by a step again in the turn that succeeded.
        if wait < grown {
            return None;
        }
        kept = Some(Unreset { first, kept: wait });
    }
    kept
}

fn length(wait: Option<&Wait>) -> Option<f64> {
    wait.filter(|wait| !wait.unknown && wait.high.is_finite()).map(|wait| wait.high)
}
