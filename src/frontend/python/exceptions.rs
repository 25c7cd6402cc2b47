//! `try` and `with`: where exceptions go, and what runs on every way out.
//!
//! A `finally` part is lowered once for each way out of its `try`: falling through, an exception, and each `return`,
//! `break` and `continue`. So each copy knows where it goes on, and no path exists that the source does not have.

use tree_sitter::Node;

use super::scopes::old_alias;
use super::syntax::{child_of_kind, children, field, fields, first_child, has_token, header, span};
use super::{Frame, Lowering};
use crate::ir::{BlockId, CollectionKind, Op, Slot, Term};

/// Past so many blocks in one function, no `finally` part is lowered once more (nested ones multiply).
const BLOCK_LIMIT: usize = 20_000;

impl<'t> Lowering<'t> {
    /// Runs what the frames above `keep` demand, innermost first, for a way out that passes them. The frames stay open
    /// for the code that follows; the caller sets the unwind target back after the jump.
    pub(super) fn leave_frames(&mut self, keep: usize) {
        let all = self.context().frames.clone();
        for at in (keep..all.len()).rev() {
            match all.get(at).copied() {
                Some(Frame::With { manager, span, outer }) => {
                    self.graph().set_unwind(outer);
                    self.graph().run(Op::Exit(manager, None), span);
                }
                Some(Frame::Finally { body, outer }) => {
                    self.graph().set_unwind(outer);
                    self.context().frames.truncate(at);
                    self.finally_copy(body);
                    self.context().frames.clone_from(&all);
                }
                Some(Frame::Loop { .. }) | None => {}
            }
        }
    }

    fn finally_copy(&mut self, body: Node<'t>) {
        if self.graph().size() > BLOCK_LIMIT || !self.descend(body) {
            self.unknown("too many ways out", body);
            return;
        }
        let before = self.graph().set_statement(header(body));
        self.suite_of(body);
        self.graph().set_statement(before);
        self.ascend();
    }

    /// Starts a block that exceptions go to, and gives the exception.
    fn catch(&mut self, block: BlockId, at: Node<'t>) -> Slot {
        self.graph().start(block);
        self.context().catches += 1;
        self.graph().emit(Op::Catch, header(at))
    }

    pub(super) fn try_statement(&mut self, node: Node<'t>) {
        let parts = children(node);
        let handlers: Vec<Node<'t>> = parts.iter().copied().filter(|part| part.kind().starts_with("except")).collect();
        let otherwise = parts.iter().copied().find(|part| part.kind() == "else_clause");
        let finally = parts.iter().copied().find(|part| part.kind() == "finally_clause");
        let outer = self.graph().unwind();
        let cleanup = finally.map(|_| self.graph().block());
        // Where handlers and the `else` part fail to.
        let guarded = cleanup.or(outer);
        let dispatch = if handlers.is_empty() { None } else { Some(self.graph().block()) };
        let done = self.graph().block();
        if let Some(body) = finally {
            self.context().frames.push(Frame::Finally { body, outer });
        }
        self.graph().set_unwind(dispatch.or(guarded));
        if let Some(body) = field(node, "body") {
            self.statements(body);
        }
        self.graph().set_unwind(guarded);
        if let Some(part) = otherwise {
            self.suite_of(part);
        }
        self.graph().goto(done);
        if let Some(dispatch) = dispatch {
            self.handlers(dispatch, &handlers, done);
        }
        self.graph().set_unwind(outer);
        if let (Some(body), Some(cleanup)) = (finally, cleanup) {
            self.context().frames.pop();
            let exception = self.catch(cleanup, body);
            self.finally_copy(body);
            self.graph().end(Term::Raise(Some(exception)));
            self.graph().start(done);
            self.finally_copy(body);
        } else {
            self.graph().start(done);
        }
    }

    /// Asks the handlers in their order; what none takes goes on outward.
    fn handlers(&mut self, dispatch: BlockId, handlers: &[Node<'t>], done: BlockId) {
        let Some(first) = handlers.first() else { return };
        let statement = self.graph().set_statement(header(*first));
        let exception = self.catch(dispatch, *first);
        let mut open = true;
        for handler in handlers {
            self.graph().set_statement(header(*handler));
            let values = fields(*handler, "value");
            let old = old_alias(&values, self.text);
            let (classes, alias) = match values.as_slice() {
                [] => (Vec::new(), None),
                [one] if one.kind() == "as_pattern" => {
                    (first_child(*one).into_iter().collect(), field(*one, "alias").and_then(first_child))
                }
                [one, _] if old.is_some() => (vec![*one], old),
                several => (several.to_vec(), field(*handler, "alias")),
            };
            let body = self.graph().block();
            let next = self.graph().block();
            if values.is_empty() {
                self.graph().goto(body);
                open = false;
            } else {
                let class = match classes.as_slice() {
                    [one] => self.expression(*one),
                    several => {
                        let elements = several.iter().map(|class| self.expression(*class)).collect();
                        self.emit(Op::Collection(CollectionKind::Tuple, elements), *handler)
                    }
                };
                let taken = self.graph().emit(Op::IsException(exception, class), header(*handler));
                self.graph().branch(taken, body, next);
            }
            self.graph().start(body);
            if let Some(alias) = alias {
                self.assign(alias, exception);
            }
            let catches = self.context().catches;
            self.context().handlers.push((exception, catches));
            self.suite_of(*handler);
            self.context().handlers.pop();
            self.graph().goto(done);
            self.graph().start(next);
            if !open {
                break;
            }
        }
        if open {
            self.graph().end(Term::Raise(None));
        }
        self.graph().set_statement(statement);
    }

    pub(super) fn with_statement(&mut self, node: Node<'t>) {
        let is_async = has_token(node, "async");
        let items: Vec<Node<'t>> = child_of_kind(node, "with_clause")
            .map(children)
            .unwrap_or_default()
            .into_iter()
            .filter(|part| part.kind() == "with_item")
            .collect();
        // `with (a as b, c as d)` is one item that holds a tuple in older grammars.
        let items: Vec<Node<'t>> = items.iter().flat_map(|item| split_item(*item)).collect();
        let outer = self.graph().unwind();
        let mut open = Vec::new();
        for item in items {
            let (value, target) = match item.kind() {
                "as_pattern" => (first_child(item), field(item, "alias").and_then(first_child)),
                _ => (Some(item), None),
            };
            let manager = self.optional(value, item);
            // The manager is left as it was entered, whatever becomes of the variable.
            let named = self.graph().slot_mut(manager).is_some_and(|info| info.name.is_some());
            let manager = if named { self.emit(Op::Copy(manager), item) } else { manager };
            let entered = self.emit(Op::Enter(manager, is_async), item);
            let before = self.graph().unwind();
            let failed = self.graph().block();
            self.context().frames.push(Frame::With { manager, span: span(item), outer: before });
            match target {
                Some(target) if target.kind() == "identifier" => {
                    self.assign(target, entered);
                    self.graph().set_unwind(Some(failed));
                }
                Some(target) => {
                    self.graph().set_unwind(Some(failed));
                    self.assign(target, entered);
                }
                None => {
                    self.graph().discard(entered);
                    self.graph().set_unwind(Some(failed));
                }
            }
            open.push((manager, item, failed, before));
        }
        if let Some(body) = field(node, "body") {
            self.statements(body);
        }
        while let Some((manager, item, failed, before)) = open.pop() {
            self.context().frames.pop();
            let after = self.graph().block();
            self.graph().set_unwind(before);
            self.graph().run(Op::Exit(manager, None), span(item));
            self.graph().goto(after);
            let exception = self.catch(failed, item);
            let swallowed = self.emit(Op::Exit(manager, Some(exception)), item);
            let onward = self.graph().block();
            self.graph().branch(swallowed, after, onward);
            self.graph().start(onward);
            self.graph().end(Term::Raise(Some(exception)));
            self.graph().start(after);
        }
        self.graph().set_unwind(outer);
    }
}

/// The managers of one item of a `with`.
fn split_item(item: Node<'_>) -> Vec<Node<'_>> {
    let Some(value) = field(item, "value").or_else(|| first_child(item)) else { return Vec::new() };
    if value.kind() == "tuple" && children(value).iter().any(|part| part.kind() == "as_pattern") {
        return children(value);
    }
    if value.kind() == "parenthesized_expression"
        && let Some(inner) = first_child(value).filter(|inner| inner.kind() == "as_pattern")
    {
        return vec![inner];
    }
    vec![value]
}
