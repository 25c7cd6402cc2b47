//! Simulates an outage: one operation keeps failing in one way, and the code's answer is watched attempt by attempt.
//!
//! That gives the number of attempts, the wait before each, what is tested before another one is made, and what leaves
//! after the last. Time is simulated too; the longer an outage lasts, the faster it passes, so that a deadline is come
//! to in few turns.

use rustc_hash::FxHashSet;

use super::bounds::comes_near;
use super::machine::{Advice, End, Finished, Machine, Plan};
use super::policy::Wait;
use super::state::{Event, Failing, OpInfo, State};
use super::value::Place;

/// Steps for one outage.
const BUDGET: u64 = 40_000;
/// Attempts that are simulated where nothing is unknown.
const MOST_ATTEMPTS: u32 = 1_100;
/// Attempts that are simulated where conditions are unknown.
const MOST_OPEN_ATTEMPTS: u32 = 18;
/// Attempts that are simulated where several paths come back, and none leaves.
const MOST_WIDE_ATTEMPTS: u32 = 130;
/// Attempts after which an outage that nothing has left has shown what it can, where there are no steps for more: every
/// deadline is over by then, and a count that comes nearer to its limit is seen to.
const ENOUGH_ATTEMPTS: u32 = 40;
/// An outage that was cut short after so few attempts is followed once more, on one path alone.
const FEW_ATTEMPTS: u32 = 4;
/// Paths that are kept from one attempt to the next.
const WIDTH: usize = 6;
/// Waits that are kept.
const WAITS: usize = 64;

/// What an outage showed.
#[derive(Debug, Default)]
pub(super) struct Outage {
    /// Executions of the operation until no path came back any more; `None` where some still do.
    pub attempts: Option<u32>,
    /// Executions that were simulated.
    pub simulated: u32,
    /// The wait before each further execution.
    pub waits: Vec<Wait>,
    /// States of the first paths that came back (before attempts 2 and 3).
    pub first: Vec<State>,
    /// States that came back last.
    pub survivors: Vec<State>,
    /// Paths that left, with the attempt after which they did.
    pub left: Vec<(u32, Finished)>,
    /// The work was cut short.
    pub cut: bool,
    /// One path of an outage that was cut short, followed alone.
    pub alone: Option<Box<Outage>>,
}

impl Outage {
    /// Whether it was cut short after so many attempts or fewer.
    fn is_short(&self, attempts: u32) -> bool {
        self.cut && self.attempts.is_none() && self.simulated <= attempts
    }

    /// Whether each path that left after the last attempt did so by a count that was asked after it.
    pub fn is_counted_out(&self) -> bool {
        let last = self.left.iter().filter(|(attempt, _)| Some(*attempt) == self.attempts);
        let mut last = last.map(|(_, finished)| &finished.state).peekable();
        last.peek().is_some() && last.all(is_counted_out)
    }
}

/// Whether a count or the end of something finite was come to on a path.
fn is_counted(state: &State) -> bool {
    state.events().iter().any(|event| match event {
        Event::CountTest { .. } => true,
        Event::Took { finite, .. } => *finite,
        _ => false,
    })
}

/// Whether a count, or the end of something finite, was asked after the last failure on a path, and led out.
fn is_counted_out(state: &State) -> bool {
    let events = state.events();
    let mut since = events.iter().rev().take_while(|event| !matches!(event, Event::Fail(..)));
    since.any(|event| match event {
        Event::CountTest { leads_out, .. } => *leads_out,
        Event::Took { finite, .. } => *finite,
        _ => false,
    })
}

/// Whether a handler took what failed for an error of a kind of its own, which is none of those that last.
fn is_another(state: &State, ways: &[(&Failing, u32)]) -> bool {
    let Some(Failing::Raises(taken)) = state.failed.as_ref().map(|failed| &failed.how) else { return false };
    let lasts = |(how, _): &(&Failing, u32)| match how {
        Failing::Raises(classes) => taken.iter().any(|class| classes.contains(class)),
        _ => true,
    };
    !taken.is_empty() && !ways.iter().any(lasts)
}

/// Whether an answer was taken for a good one, and what is asked next is something else.
fn goes_on(state: &State, again: &OpInfo) -> bool {
    let events = state.events();
    let last = events.iter().rev().find_map(|event| match event {
        Event::Fail(op, how, _) if op.place == again.place => Some((op, how)),
        _ => None,
    });
    last.is_some_and(|(op, how)| matches!(how, Failing::Status(_)) && op.inputs != again.inputs)
}

/// How the operation fails after so many executions.
fn way<'w>(ways: &[(&'w Failing, u32)], executions: u32) -> Option<&'w Failing> {
    let mut begins = 0_u32;
    let now = ways.iter().find(|(_, times)| {
        begins = begins.saturating_add(*times);
        executions < begins
    });
    now.or(ways.last()).map(|(how, _)| *how)
}

impl Machine<'_> {
    /// Lets an operation fail in one way until the code gives up, or for as long as is needed to see that it does not.
    pub(super) fn outage(
        &mut self,
        plan: &Plan,
        entries: &[State],
        place: Place,
        how: &Failing,
        advice: Advice,
        most: Option<u32>,
    ) -> Outage {
        let ways = [(how, u32::MAX)];
        let outage = self.mixed_outage(plan, entries, place, &ways, advice, most);
        // What is done for each attempt beside the operation took all steps.
        if outage.is_short(ENOUGH_ATTEMPTS) && !plan.skim {
            let skimmed = Plan { skim: true, ..plan.clone() };
            let further = self.mixed_outage(&skimmed, entries, place, &ways, advice, most);
            let endless = !further.cut && further.left.is_empty() && further.simulated >= ENOUGH_ATTEMPTS;
            if further.is_counted_out() || endless {
                return further;
            }
        }
        if !outage.is_short(FEW_ATTEMPTS) {
            return outage;
        }
        // All paths at once were too many: one alone shows how its waits and counts go on.
        let plan = Plan { first_back: true, ..plan.clone() };
        let most = most.unwrap_or(MOST_OPEN_ATTEMPTS).min(MOST_OPEN_ATTEMPTS);
        let alone = self.mixed_outage(&plan, entries, place, &ways, advice, Some(most));
        if alone.waits.len() <= outage.waits.len() {
            return outage;
        }
        Outage { waits: alone.waits.clone(), alone: Some(Box::new(alone)), ..outage }
    }

    /// The same, where it fails in several ways in turn: so many times in each, and in the last to the end.
    pub(super) fn mixed_outage(
        &mut self,
        plan: &Plan,
        entries: &[State],
        place: Place,
        ways: &[(&Failing, u32)],
        advice: Advice,
        most: Option<u32>,
    ) -> Outage {
        let mut outage = Outage::default();
        self.allow(BUDGET);
        let mut states: Vec<State> = entries.to_vec();
        let most_closed = most.unwrap_or(MOST_ATTEMPTS);
        let most_open = most.unwrap_or(MOST_OPEN_ATTEMPTS);
        // Conditions are not known, and paths were not followed to their end.
        let (mut open, mut lost) = (false, false);
        // More paths came back than are kept.
        let mut narrowed = false;
        loop {
            let turns = states.iter().map(|state| state.turns).max().unwrap_or(0);
            self.plan = Plan {
                explore: false,
                second_try: false,
                force: way(ways, outage.simulated).map(|how| (place, how.clone())),
                advice,
                max_turns: turns + 5,
                ..plan.clone()
            };
            let before = self.budget;
            let finished = self.run(std::mem::take(&mut states));
            let taken = before - self.budget;
            outage.simulated += 1;
            let attempt = outage.simulated;
            outage.cut |= self.exhausted;
            narrowed |= self.thinned;
            let mut seen = FxHashSet::default();
            let mut gaps: Option<Wait> = None;
            for finished in finished {
                match finished.end {
                    End::Again(again) => {
                        let gap = &finished.state.gap;
                        let wait = Wait { low: gap.low, high: gap.high, unknown: gap.unknown };
                        // Where an answer with an error status was good enough, the next thing is asked for at once.
                        if !goes_on(&finished.state, &again) {
                            gaps = Some(match gaps {
                                None => wait,
                                Some(other) => Wait {
                                    low: other.low.min(wait.low),
                                    high: other.high.max(wait.high),
                                    unknown: other.unknown || wait.unknown,
                                },
                            });
                        }
                        let mut state = finished.state;
                        if attempt <= 2 {
                            outage.first.push(state.clone());
                        }
                        state.resume = true;
                        if seen.insert(state.fingerprint()) {
                            states.push(state);
                        }
                    }
                    End::Cut | End::SecondTry(_) => outage.cut = true,
                    // Turns in which the operation was not come to.
                    End::Head => (open, lost) = (true, true),
                    // What went by the operation tells nothing of its failing, nor does what a handler of other
                    // errors took.
                    _ if finished.state.failed.is_none() || is_another(&finished.state, ways) => {}
                    _ => outage.left.push((attempt, finished)),
                }
            }
            if let Some(wait) = gaps
                && outage.waits.len() < WAITS
            {
                outage.waits.push(wait);
            }
            if states.is_empty() {
                // Other conditions may end it sooner; no path makes another attempt.
                let counted = || {
                    let mut last = outage.left.iter().filter(|(last, _)| *last == attempt).peekable();
                    last.peek().is_some() && last.all(|(_, finished)| is_counted(&finished.state))
                };
                outage.attempts = (!outage.cut && !lost && (!narrowed || counted())).then_some(attempt);
                return outage;
            }
            open |= !outage.left.is_empty();
            // Few paths followed for long tell more than many that are cut short.
            let missing = u64::from(ENOUGH_ATTEMPTS.saturating_sub(attempt));
            let short = !open && taken.saturating_mul(missing) > self.budget;
            let width = if short { (states.len() / 2).clamp(1, WIDTH) } else { WIDTH };
            if states.len() > width {
                narrowed = true;
                states.truncate(width);
            }
            // A count that comes nearer to its limit is followed to it.
            let nearing = open && attempt >= most_open && states.iter().all(|state| comes_near(&state.events()));
            let most = match (open, states.len()) {
                (true, _) if nearing => most_open.max(MOST_WIDE_ATTEMPTS),
                (true, _) => most_open,
                (false, 0 | 1) => most_closed,
                (false, _) => most_closed.min(MOST_WIDE_ATTEMPTS),
            };
            let enough = !open && !outage.cut && attempt >= ENOUGH_ATTEMPTS && self.budget < taken.saturating_mul(2);
            if enough || outage.simulated >= most || self.budget == 0 {
                outage.cut |= self.budget == 0;
                outage.survivors = states;
                return outage;
            }
        }
    }
}
