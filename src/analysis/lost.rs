//! A recursive retry whose value does not reach the caller: the repeated call succeeds, and nobody gets its result.

use super::policy::LostResult;
use crate::ir::{Block, BlockId, Const, Function, Op, Pattern, Slot, Term};
use crate::source::Span;

/// What is lost at the recursive call at this place, if anything.
pub(super) fn lost_result(function: &Function, span: Span, gives_value: bool) -> Option<LostResult> {
    let (at, call) = function.blocks.iter().enumerate().find_map(|(at, block)| {
        let call = block
            .instrs
            .iter()
            .find(|instr| instr.span == span && matches!(&instr.op, Op::Call { .. } | Op::Await(_)))?;
        Some((at, call))
    })?;
    let value = call.dst;
    let of_value = |test: fn(&Function, Slot) -> bool| value.is_some_and(|value| test(function, value));
    // The place of an awaited call is that of its await.
    let runs = !function.is_async || matches!(call.op, Op::Await(_)) || of_value(is_awaited);
    let block = BlockId(u32::try_from(at).ok()?);
    if !runs {
        let goes_elsewhere =
            of_value(|function, value| uses(function, value).any(|of| !matches!(of, Use::Term(Term::Return(_)))));
        return (!goes_elsewhere).then_some(LostResult { span, runs });
    }
    let dropped = value.is_none_or(|value| is_dropped(function, value, 4));
    let lost = gives_value && dropped && !returns_another(function, block);
    lost.then_some(LostResult { span, runs })
}

/// Something that reads a slot.
enum Use<'f> {
    Instr(&'f Op, Option<Slot>),
    Term(&'f Term),
}

fn uses(function: &Function, slot: Slot) -> impl Iterator<Item = Use<'_>> {
    function.blocks.iter().flat_map(move |block| {
        let instrs = block.instrs.iter().filter(move |instr| instr.op.reads().contains(&slot));
        let term = Some(&block.term).filter(|term| term.reads() == Some(slot));
        instrs.map(|instr| Use::Instr(&instr.op, instr.dst)).chain(term.map(Use::Term))
    })
}

fn is_awaited(function: &Function, slot: Slot) -> bool {
    uses(function, slot).any(|of| matches!(of, Use::Instr(Op::Await(_), _)))
}

/// Whether a value is only looked at for failure, if at all.
fn is_dropped(function: &Function, slot: Slot, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    // A variable that is written elsewhere too is somebody's business.
    if function.slot(slot).is_some_and(|info| info.captured.is_some()) {
        return false;
    }
    uses(function, slot).all(|of| match of {
        Use::Instr(Op::Await(_) | Op::Copy(_) | Op::Payload(_, true), Some(dst)) => is_dropped(function, dst, depth),
        Use::Instr(Op::Payload(_, _) | Op::IsSuccess(_) | Op::Bind(_, Pattern::Any), _) => true,
        Use::Term(Term::Propagate(_)) => true,
        _ => false,
    })
}

/// Whether the function can go on from a block to return something else that is no failure.
fn returns_another(function: &Function, from: BlockId) -> bool {
    let mut seen = vec![false; function.blocks.len()];
    let mut work = vec![from];
    while let Some(at) = work.pop() {
        let Some(flag) = seen.get_mut(at.0 as usize) else { continue };
        if std::mem::replace(flag, true) {
            continue;
        }
        let Some(block) = function.block(at) else { continue };
        if let Term::Return(Some(slot)) = &block.term
            && !is_failure(function, block, *slot)
        {
            return true;
        }
        let mut next = super::loops::successors(block);
        next.retain(|to| Some(*to) != block.unwind);
        work.extend(next);
    }
    false
}

fn is_failure(function: &Function, block: &Block, slot: Slot) -> bool {
    let here = block.instrs.iter().rev().find(|instr| instr.dst == Some(slot));
    let made = here.or_else(|| function.blocks.iter().flat_map(|block| &block.instrs).find(|i| i.dst == Some(slot)));
    made.is_some_and(|instr| match &instr.op {
        Op::Const(Const::None | Const::Bool(false)) => true,
        Op::Variant { name, .. } => matches!(name.as_str(), "Err" | "None"),
        Op::Copy(from) if *from != slot => is_failure_value(function, *from),
        _ => false,
    })
}

fn is_failure_value(function: &Function, slot: Slot) -> bool {
    let mut made = function.blocks.iter().flat_map(|block| &block.instrs).filter(|instr| instr.dst == Some(slot));
    made.next().is_some_and(|instr| {
        matches!(&instr.op, Op::Const(Const::None | Const::Bool(false)))
            || matches!(&instr.op, Op::Variant { name, .. } if matches!(name.as_str(), "Err" | "None"))
    })
}
