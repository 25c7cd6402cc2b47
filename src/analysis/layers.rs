//! Layers: how one call becomes many requests, and who makes each of them.
//!
//! While an outage lasts, every execution of the operation is recorded with the activations that it is made through and
//! how often the loops around each had been gone round. Executions within one turn of a site that differ in such a number
//! are the work of that loop: so each loop, and each policy that a library runs, gets its own factor, wherever it stands.
//! Below the call come the repetitions that its client makes by itself.
//!
//! What the inner layers let out decides by itself: where the outer one does not catch it, no second turn is seen, and
//! where a budget is shared, the whole outage has fewer executions than the factors say.

use std::collections::BTreeSet;

use super::facts::{Group, cause};
use super::machine::Machine;
use super::outage::Outage;
use super::policy::{Cause, FailurePath, Form, Layer, Link, Role, Site};
use super::sites::Found;
use super::state::{Activation, Below, Event, Failing};
use super::status::StatusSet;
use super::taken::is_picked;
use super::value::{ANY, Place};
use crate::frontend::prelude;
use crate::ir::BlockId;
use crate::models::Models;

/// The layers of the failure path that multiplies most.
#[derive(Debug, Default)]
pub(super) struct Layers {
    pub layers: Vec<Layer>,
    pub product: Option<u32>,
    /// The longest wait of all, in seconds.
    pub wait: Option<f64>,
    /// Executions that the layers below make of one.
    below: Option<u32>,
    /// The operation that they repeat.
    pub of: Option<Place>,
}

/// Marks the sites of a run that are a layer below another one.
pub fn tell_inner(sites: &mut [Vec<Site>]) {
    let place = |layer: &Layer| layer.at.map(|at| (at.file, at.span.start));
    let outer = sites.iter().flatten().filter(|site| site.role == Role::Retry && !site.in_test);
    let below: BTreeSet<(u32, u32)> =
        outer.flat_map(|site| site.layers.iter().skip(1)).filter(|layer| layer.explicit).filter_map(place).collect();
    for site in sites.iter_mut().flatten() {
        site.inner = site.layers.first().and_then(place).is_some_and(|at| below.contains(&at));
    }
}

impl Layers {
    /// Keeps the worse of two paths: several layers before one, then by how many requests there are at least.
    pub fn take(&mut self, other: Layers) {
        let rank = |one: &Layers| (one.layers.len().min(2), one.least(), one.layers.len());
        if rank(&other) > rank(self) {
            *self = other;
        }
    }

    /// The requests that are known of.
    fn least(&self) -> u32 {
        let each = self.layers.iter().map(|layer| if layer.factor == 0 { 2 } else { layer.factor });
        self.product.unwrap_or_else(|| each.fold(1, u32::saturating_mul))
    }

    /// Where failures of different kinds have counts of their own, a fault that shows itself in several ways goes
    /// through all of them.
    pub fn mixed(mut self, attempts: Option<u32>, every: &[FailurePath]) -> Layers {
        let (Some(attempts), Some(first)) = (attempts, self.layers.first_mut()) else { return self };
        let product = self.below.and_then(|below| below.checked_mul(attempts));
        if first.factor != 0 && first.factor < attempts && self.product.is_some() && every.iter().all(|path| path.inner)
        {
            first.factor = attempts;
            self.product = product;
            self.wait = None;
        }
        self
    }
}

impl Machine<'_> {
    /// The loops around a block that are not the one under analysis, nor around that, the outermost first, each with how
    /// often its head was come to.
    pub(super) fn turns_of(&mut self, frame: &super::state::Frame, base: bool) -> std::rc::Rc<[(BlockId, u32)]> {
        let map = self.loops_of(frame.func);
        let size = |blocks: &[bool]| blocks.iter().filter(|inside| **inside).count();
        let mut around: Vec<_> = map
            .loops
            .iter()
            .filter(|(_, inside)| inside.get(frame.block.0 as usize) == Some(&true))
            .filter(|(head, _)| !base || (Some(*head) != self.plan.head && !self.plan.outer_heads.contains(head)))
            .map(|(head, inside)| (std::cmp::Reverse(size(inside)), *head))
            .collect();
        around.sort_unstable();
        let visits = |head: BlockId| frame.visits.iter().find(|(seen, _)| *seen == head).map_or(0, |(_, count)| *count);
        around.into_iter().map(|(_, head)| (head, visits(head))).collect()
    }
}

/// Executions of the operation in one turn, as the path shows them.
struct Turn<'e> {
    executions: Vec<&'e [Activation]>,
    worn_out: Vec<(u32, BlockId)>,
    /// The longest wait between them, in seconds.
    wait: Option<f64>,
}

/// The turns of a path, each with the executions on the same input: other items of a collection are other requests.
fn turns<'e>(events: &[&'e Event], group: &Group) -> Vec<Turn<'e>> {
    let mut turns = Vec::new();
    for part in events.split(|event| matches!(event, Event::Turn(_))) {
        let mut turn = Turn { executions: Vec::new(), worn_out: Vec::new(), wait: Some(0.0) };
        let mut first = None;
        let mut since = Some(0.0);
        for event in part {
            match event {
                Event::Fail(info, ..)
                    if info.place == group.op.place && first.is_none_or(|inputs| inputs == &info.inputs) =>
                {
                    if first.is_some() {
                        turn.wait = turn.wait.zip(since).map(|(all, more)| all + more);
                    }
                    first = Some(&info.inputs);
                    turn.executions.push(&info.through);
                    since = Some(0.0);
                }
                Event::Wait { high, unknown, .. } => {
                    let known = !unknown && high.is_finite();
                    since = since.filter(|_| known).map(|all| all + high);
                }
                Event::WornOut(frame, head) => turn.worn_out.push((*frame, *head)),
                _ => {}
            }
        }
        if !turn.executions.is_empty() {
            turns.push(turn);
        }
    }
    turns
}

/// A loop on the way to the operation, and what it makes of one call.
struct Inner {
    layer: Layer,
    known: bool,
}

/// The loops that repeat the operation within a turn.
fn inner(machine: &Machine<'_>, turn: &Turn<'_>) -> Vec<Inner> {
    // What tells an execution from the others, from the outside in.
    let key = |path: &[Activation]| -> Vec<u64> {
        let parts = path.iter().flat_map(|activation| {
            let turns = activation.turns.iter().map(|(_, turn)| u64::from(*turn));
            std::iter::once(u64::from(activation.id)).chain(turns).collect::<Vec<_>>()
        });
        parts.collect()
    };
    let keys: BTreeSet<Vec<u64>> = turn.executions.iter().map(|path| key(path)).collect();
    let Some(path) = turn.executions.first() else { return Vec::new() };
    let mut found = Vec::new();
    let mut at = 0;
    for activation in *path {
        at += 1;
        for (head, _) in activation.turns.iter() {
            let factor = most_within(&keys, at);
            at += 1;
            if factor < 2 {
                continue;
            }
            let Some(layer) = layer(machine, activation, *head, factor) else { continue };
            // Of the same function: others have loops of the same number.
            let here = |one: &&Activation| one.func == activation.func;
            let ids: Vec<u32> =
                turn.executions.iter().flat_map(|path| path.iter().filter(here)).map(|it| it.id).collect();
            let worn = |(frame, of): &(u32, BlockId)| of == head && ids.contains(frame);
            found.push(Inner { layer, known: !turn.worn_out.iter().any(worn) });
        }
    }
    found
}

/// How many different numbers there are at most at a position, where all before it are the same.
fn most_within(keys: &BTreeSet<Vec<u64>>, at: usize) -> u32 {
    let (mut most, mut now) = (0, 0);
    let mut last: Option<&[u64]> = None;
    // In order, those that agree up to a position stand together.
    for key in keys {
        let Some(part) = key.get(..=at) else { continue };
        let same = |known: &[u64]| known.get(..at) == part.get(..at);
        match last {
            Some(known) if known == part => continue,
            Some(known) if same(known) => now += 1,
            _ => now = 1,
        }
        most = most.max(now);
        last = Some(part);
    }
    most
}

/// The layer that a loop is, as it is told of.
fn layer(machine: &Machine<'_>, activation: &Activation, head: BlockId, factor: u32) -> Option<Layer> {
    let of = |text: String, at: Link| Layer {
        factor,
        text,
        at: Some(at),
        explicit: true,
        follows_advice: false,
        library: None,
        off: None,
        guessed: false,
    };
    if prelude::is(activation.func.file) {
        let run = activation.runs?;
        let function = machine.project.function(run)?;
        let span = function.decorators.first().map_or(function.header, |decorator| decorator.span);
        return Some(of(format!("the decorator of `{}`", function.name), Link { file: run.file, span }));
    }
    let function = machine.project.function(activation.func)?;
    let span = function.loops.iter().find(|source| source.head == head)?.header;
    let text = format!("the loop in `{}`", function.name);
    Some(of(text, Link { file: activation.func.file, span }))
}

/// The layers that repeat an operation: the site itself, loops below it, and what its client does by itself.
pub(super) fn layers(
    machine: &Machine<'_>,
    found: &Found<'_>,
    group: &Group,
    outage: &Outage,
    attempts: Option<u32>,
) -> Layers {
    let own = Layer {
        factor: attempts.unwrap_or(0),
        text: "attempts here".to_owned(),
        at: Some(Link { file: machine.file, span: found.header }),
        explicit: true,
        follows_advice: false,
        library: None,
        off: None,
        guessed: false,
    };
    let mut worst: (u32, Vec<Inner>, Option<f64>) = (1, Vec::new(), Some(0.0));
    if found.form != Form::StraightLine {
        for state in &outage.first {
            for turn in turns(&state.events(), group) {
                let inner = inner(machine, &turn);
                let product = inner.iter().fold(1u32, |all, one| all.saturating_mul(one.layer.factor));
                if product > worst.0 {
                    worst = (product, inner, turn.wait);
                }
            }
        }
    }
    let (per_turn, mut inside, wait_within) = worst;
    let known = inside.iter().all(|one| one.known);
    let mut product = attempts.filter(|_| known).map(|attempts| attempts.saturating_mul(per_turn));
    // In all, where the outage was followed to its end.
    let whole = || {
        let ends = outage.left.iter().map(|(_, finished)| &finished.state);
        ends.map(|state| turns(&state.events(), group).iter().map(|turn| turn.executions.len()).sum::<usize>()).max()
    };
    if let Some(all) = product
        && per_turn > 1
        && outage.attempts.is_some()
        && !outage.cut
        && let Some(whole) = whole().and_then(|whole| u32::try_from(whole).ok()).filter(|whole| *whole < all)
    {
        // They share a budget: nothing multiplies.
        inside.clear();
        product = Some(whole);
    }
    let wait = attempts.filter(|_| known).and_then(|attempts| {
        let further = usize::try_from(attempts.checked_sub(1)?).ok()?;
        let waits = outage.waits.get(..further)?;
        let between: Option<f64> =
            waits.iter().map(|wait| Some(wait.high).filter(|high| !wait.unknown && high.is_finite())).sum();
        Some(between? + f64::from(attempts) * wait_within?)
    });
    let mut below = Some(per_turn);
    let mut layers = vec![own];
    for Inner { mut layer, known } in inside {
        if !known {
            layer.factor = 0;
        }
        layers.push(layer);
    }
    let models = machine.models(group.op.at.file);
    let cause = cause(machine, group);
    let by_itself = |below: &&Below| match (&group.how, answers_too(models, below, &cause)) {
        (_, Some(repeats)) => repeats,
        (Failing::Status(_), None) => below.told.is_some() && !below.connects,
        (Failing::Raises(classes), None) => !below.connects || classes.iter().any(|class| unsent(machine, class)),
        _ => true,
    };
    for more in group.op.layers.iter().filter(by_itself) {
        let mut layer = of_library(models, more);
        // What a library repeats by default are failures that it has picked itself: perhaps others.
        let told = more.told.is_some() || answers_too(models, more, &cause).is_some();
        layer.guessed = !told && is_picked(machine, found, group);
        layers.push(layer);
        product = product.map(|product| product.saturating_mul(more.factor));
        below = below.map(|below| below.saturating_mul(more.factor));
    }
    Layers { layers, product, wait, below, of: Some(group.op.place) }
}

/// Whether what a library repeats by default are answers of those, too, that come back here; `None` where what comes back
/// is no answer, or where it is not known which ones the library picks.
fn answers_too(models: &Models, below: &Below, cause: &Cause) -> Option<bool> {
    let Cause::Status(these) = cause else { return None };
    let library = models.library(&below.library).filter(|_| below.told.is_none())?;
    let repeated = library.default_statuses.as_deref().and_then(StatusSet::parse)?;
    Some(!repeated.and(these).is_empty())
}

/// Whether nothing was sent where this is raised, or may be.
fn unsent(machine: &Machine<'_>, class: &str) -> bool {
    class == ANY || machine.models(machine.file).exception(class).is_none_or(|entry| entry.before_send)
}

/// What a library repeats by itself.
fn of_library(models: &Models, below: &Below) -> Layer {
    let library = models.library(&below.library);
    let version = library.and_then(|library| library.version.split(['.', ' ', ';', ',']).next()).unwrap_or_default();
    let numbered = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit());
    let name = if numbered { format!("{} {version}.x", below.library) } else { below.library.to_string() };
    Layer {
        factor: below.factor,
        text: match below.told {
            Some(_) => format!("{}, as it is told to", below.library),
            None => match &below.version {
                Some(note) => format!("the default of {} ({note})", below.library),
                None => format!("the default of {name}"),
            },
        },
        at: below.told.map(|at| Link { file: at.file, span: at.span }),
        explicit: below.told.is_some(),
        follows_advice: library.is_some_and(|library| library.follows_retry_after),
        library: Some(below.library.to_string()),
        off: below.off.as_deref().map(str::to_owned),
        guessed: false,
    }
}
