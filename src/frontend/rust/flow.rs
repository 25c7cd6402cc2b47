//! Control flow: blocks and statements, conditions, `match`, loops, `break`, `return`, `?`.

use syn::{BinOp, Block, Expr, ExprMatch, Item, Local, Pat, Stmt, UnOp};

use super::attributes;
use super::draft::{Exit, Frame};
use super::lowerer::Lowerer;
use super::patterns::{Bindings, always_fits, place};
use super::spans;
use crate::ir::{BlockId, Const, FunctionKind, LoopKind, Op, Slot, Term};
use crate::source::Span;

impl Lowerer {
    /// Lowers an expression into a slot, or for its effects alone.
    pub fn into(&mut self, expr: &Expr, dst: Option<Slot>) {
        if self.descend().is_none() {
            let value = self.unknown("nested too deep", Span::default());
            self.copy(value, dst, Span::default());
            return;
        }
        if !self.control(expr, dst) {
            let value = self.expr(expr);
            self.copy(value, dst, spans::expr(expr));
        }
        self.ascend();
    }

    /// Copies a value to where it is wanted.
    pub fn copy(&mut self, value: Slot, dst: Option<Slot>, span: Span) {
        let Some(dst) = dst else { return };
        self.carry(value, dst);
        self.draft.write(Some(dst), Op::Copy(value), span);
    }

    fn unit_into(&mut self, dst: Option<Slot>, span: Span) {
        if dst.is_some() {
            self.draft.write(dst, Op::Const(Const::None), span);
        }
    }

    /// Lowers an expression that is control flow; false where it is none.
    pub fn control(&mut self, expr: &Expr, dst: Option<Slot>) -> bool {
        let span = spans::expr(expr);
        match expr {
            Expr::Paren(e) => self.into(&e.expr, dst),
            Expr::Group(e) => self.into(&e.expr, dst),
            Expr::If(e) => self.if_expr(e, dst),
            Expr::Let(_) => {
                let (then, otherwise, join) = (self.draft.block(), self.draft.block(), self.draft.block());
                self.draft.open();
                self.condition(expr, then, otherwise);
                for (block, value) in [(then, true), (otherwise, false)] {
                    self.draft.resume(block);
                    self.draft.write(dst, Op::Const(Const::Bool(value)), span);
                    self.draft.goto(join, span);
                }
                self.draft.close();
                self.draft.resume(join);
            }
            Expr::Match(e) => self.match_expr(e, dst),
            Expr::Block(e) => match &e.label {
                Some(label) => self.labelled_block(label.name.ident.to_string(), &e.block, dst, span),
                None => self.block(&e.block, dst),
            },
            Expr::Unsafe(e) => self.block(&e.block, dst),
            Expr::Const(e) => self.block(&e.block, dst),
            Expr::TryBlock(e) => self.try_block(&e.block, dst, span),
            Expr::Loop(_) | Expr::While(_) | Expr::ForLoop(_) => self.loop_expr(expr, dst, span),
            Expr::Break(e) => {
                let label = e.label.as_ref().map(|label| label.ident.to_string());
                let frame = self.draft.frame(label.as_deref()).cloned();
                if let Some(value) = &e.expr {
                    self.into(value, frame.as_ref().and_then(|frame| frame.result));
                } else if let Some(result) = frame.as_ref().and_then(|frame| frame.result) {
                    self.unit_into(Some(result), span);
                }
                match frame {
                    Some(frame) => self.draft.goto(frame.after, span),
                    None => self.leave_fragment(span),
                }
            }
            Expr::Continue(e) => {
                let label = e.label.as_ref().map(|label| label.ident.to_string());
                match self.draft.frame(label.as_deref()).and_then(|frame| frame.head) {
                    Some(head) => self.draft.goto(head, span),
                    None => self.leave_fragment(span),
                }
            }
            Expr::Return(e) => {
                let value = e.expr.as_ref().map(|value| self.expr(value));
                self.return_value(value, span);
            }
            Expr::Try(e) => {
                let carrier = self.expr(&e.expr);
                let value = self.question(carrier, span);
                self.copy(value, dst, span);
            }
            _ => return false,
        }
        true
    }

    /// A `break` or `continue` of a loop that is not in sight: in the body of a macro it leaves the macro.
    fn leave_fragment(&mut self, span: Span) {
        if self.draft.head.kind == FunctionKind::MacroBody {
            self.draft.end(Term::Return(None), span);
        } else {
            self.draft.end(Term::Abort, span);
        }
    }

    /// Returns from the function, or from the closure that was inlined here.
    pub fn return_value(&mut self, value: Option<Slot>, span: Span) {
        let exit = self.draft.exits.iter().rev().find(|exit| !exit.only_try).copied();
        let Some(exit) = exit else {
            self.draft.end(Term::Return(value), span);
            return;
        };
        let value = value.unwrap_or_else(|| self.draft.unit(span));
        self.copy(value, Some(exit.result), span);
        self.draft.goto(exit.after, span);
    }

    /// `?`
    pub fn question(&mut self, carrier: Slot, span: Span) -> Slot {
        let success = self.draft.emit(Op::IsSuccess(carrier), span);
        let (ok, fail) = (self.draft.block(), self.draft.block());
        self.draft.branch(success, ok, fail, span);
        self.draft.resume(fail);
        match self.draft.exits.last().copied() {
            Some(exit) => {
                self.copy(carrier, Some(exit.result), span);
                self.draft.goto(exit.after, span);
            }
            None => self.draft.end(Term::Propagate(carrier), span),
        }
        self.draft.resume(ok);
        self.draft.emit(Op::Payload(carrier, true), span)
    }

    fn try_block(&mut self, block: &Block, dst: Option<Slot>, span: Span) {
        let after = self.draft.block();
        let result = dst.unwrap_or_else(|| self.draft.temp());
        self.draft.exits.push(Exit { result, after, only_try: true });
        let value = self.block_value(block);
        self.draft.exits.pop();
        let value = self.variant("Ok".to_owned(), vec![value], span);
        self.copy(value, Some(result), span);
        self.draft.goto(after, span);
        self.draft.resume(after);
    }

    fn labelled_block(&mut self, label: String, block: &Block, dst: Option<Slot>, span: Span) {
        let after = self.draft.block();
        self.draft.frames.push(Frame { label: Some(label), after, head: None, result: dst });
        self.block(block, dst);
        self.draft.frames.pop();
        self.draft.goto(after, span);
        self.draft.resume(after);
    }

    /// A block's value.
    pub fn block_value(&mut self, block: &Block) -> Slot {
        let slot = self.draft.temp();
        self.block(block, Some(slot));
        slot
    }

    /// A block with its scope.
    pub fn block(&mut self, block: &Block, dst: Option<Slot>) {
        self.statements(&block.stmts, dst, spans::token(block.brace_token.span.close()));
    }

    /// Statements in a scope of their own; the last one without `;` gives the value.
    pub fn statements(&mut self, stmts: &[Stmt], dst: Option<Slot>, end: Span) {
        self.draft.open();
        let compiled = |stmt: &&Stmt| !attributes::is_for_others(attributes::of_statement(stmt));
        let stmts: Vec<&Stmt> = stmts.iter().filter(compiled).collect();
        let items: Vec<Item> = stmts
            .iter()
            .filter_map(|stmt| match stmt {
                Stmt::Item(item) => Some(item.clone()),
                _ => None,
            })
            .collect();
        if !items.is_empty() {
            self.names.local.push(Default::default());
            self.names.local_globs.push(Vec::new());
            let mut context = self.context.clone();
            context.prefix.clear();
            context.is_test |= self.draft.head.is_test;
            let room = self.names.rooms.get(context.room).map(|room| room.path.clone()).unwrap_or_default();
            let path = super::names::join(&room, &format!("{}#{}", self.draft.head.qualified_name, end.end));
            self.items(&items, context, path, true);
        }
        let mut has_value = false;
        for (at, stmt) in stmts.iter().enumerate() {
            let is_last = at + 1 == stmts.len();
            match stmt {
                Stmt::Local(local) => self.let_statement(local),
                Stmt::Item(_) => {}
                Stmt::Expr(expr, None) if is_last => {
                    has_value = true;
                    self.into(expr, dst);
                }
                Stmt::Expr(expr, _) => self.into(expr, None),
                Stmt::Macro(stmt) => {
                    let value = self.macro_call(&stmt.mac);
                    if is_last && stmt.semi_token.is_none() {
                        has_value = true;
                        self.copy(value, dst, spans::mac(&stmt.mac));
                    }
                }
            }
        }
        if !has_value {
            self.unit_into(dst, end);
        }
        if !items.is_empty() {
            self.names.local.pop();
            self.names.local_globs.pop();
        }
        self.draft.close();
    }

    /// `let pattern = value else { … };`, names visible from here on.
    pub fn let_statement(&mut self, local: &Local) {
        let span = spans::between(local.let_token.span, local.semi_token.span);
        let mut names = Bindings::new();
        let Some(init) = &local.init else {
            self.pattern(&local.pat, &mut names);
            self.declare_all(&names);
            return;
        };
        let value = self.expr(&init.expr);
        let pattern = self.pattern(&local.pat, &mut names);
        if let Some((_, diverge)) = &init.diverge
            && !always_fits(&pattern)
        {
            let (fits, otherwise) = (self.draft.block(), self.draft.block());
            let test = self.draft.emit(Op::Matches(value, pattern.clone()), place(&local.pat));
            self.draft.branch(test, fits, otherwise, span);
            self.draft.resume(otherwise);
            self.into(diverge, None);
            self.draft.end(Term::Abort, span);
            self.draft.resume(fits);
        }
        self.bind_pattern(pattern, value, span);
        self.declare_all(&names);
    }

    /// Goes to one block or the other; names that a `let` binds are declared in the current scope.
    pub fn condition(&mut self, cond: &Expr, then: BlockId, otherwise: BlockId) {
        if self.descend().is_none() {
            let value = self.unknown("nested too deep", Span::default());
            self.draft.branch(value, then, otherwise, Span::default());
            return;
        }
        let span = spans::expr(cond);
        match cond {
            Expr::Paren(e) => self.condition(&e.expr, then, otherwise),
            Expr::Group(e) => self.condition(&e.expr, then, otherwise),
            Expr::Unary(e) if matches!(e.op, UnOp::Not(_)) => self.condition(&e.expr, otherwise, then),
            Expr::Binary(e) if matches!(e.op, BinOp::And(_)) => {
                let more = self.draft.block();
                self.condition(&e.left, more, otherwise);
                self.draft.resume(more);
                self.condition(&e.right, then, otherwise);
            }
            Expr::Binary(e) if matches!(e.op, BinOp::Or(_)) => {
                let more = self.draft.block();
                self.condition(&e.left, then, more);
                self.draft.resume(more);
                self.condition(&e.right, then, otherwise);
            }
            Expr::Let(e) => {
                let value = self.expr(&e.expr);
                self.test_pattern(&e.pat, value, then, otherwise, span);
            }
            Expr::Lit(e) if matches!(&e.lit, syn::Lit::Bool(_)) => {
                let holds = matches!(&e.lit, syn::Lit::Bool(b) if b.value);
                self.draft.goto(if holds { then } else { otherwise }, span);
            }
            Expr::Macro(e) if self.matches_macro(&e.mac, then, otherwise) => {}
            other => {
                let value = self.expr(other);
                self.draft.branch(value, then, otherwise, span);
            }
        }
        self.ascend();
    }

    /// Tests a pattern, and binds its names on the way to `then`.
    pub fn test_pattern(&mut self, pat: &Pat, value: Slot, then: BlockId, otherwise: BlockId, span: Span) {
        let mut names = Bindings::new();
        let pattern = self.pattern(pat, &mut names);
        if always_fits(&pattern) {
            self.bind_pattern(pattern, value, span);
            self.draft.goto(then, span);
        } else {
            let fits = self.draft.block();
            let test = self.draft.emit(Op::Matches(value, pattern.clone()), place(pat));
            self.draft.branch(test, fits, otherwise, span);
            self.draft.resume(fits);
            if !names.is_empty() {
                self.bind_pattern(pattern, value, place(pat));
            }
            self.draft.goto(then, span);
        }
        self.declare_all(&names);
    }

    fn if_expr(&mut self, e: &syn::ExprIf, dst: Option<Slot>) {
        let span = spans::token(e.if_token.span).to(spans::expr(&e.cond));
        let (then, otherwise, join) = (self.draft.block(), self.draft.block(), self.draft.block());
        self.draft.open();
        self.condition(&e.cond, then, otherwise);
        self.draft.resume(then);
        self.block(&e.then_branch, dst);
        self.draft.goto(join, span);
        self.draft.close();
        self.draft.resume(otherwise);
        match &e.else_branch {
            Some((_, other)) => self.into(other, dst),
            None => self.unit_into(dst, span),
        }
        self.draft.goto(join, span);
        self.draft.resume(join);
    }

    fn match_expr(&mut self, e: &ExprMatch, dst: Option<Slot>) {
        let head = spans::token(e.match_token.span).to(spans::expr(&e.expr));
        let value = self.expr(&e.expr);
        let join = self.draft.block();
        for (at, arm) in e.arms.iter().enumerate() {
            let is_last = at + 1 == e.arms.len();
            let (pat, guard) = split_guard(&arm.pat);
            let span = place(pat);
            let next = self.draft.block();
            self.draft.open();
            let mut names = Bindings::new();
            let pattern = self.pattern(pat, &mut names);
            // The last arm takes what is left: the language demands that the arms cover everything.
            let tested = !(always_fits(&pattern) || is_last && guard.is_none());
            if tested {
                let fits = self.draft.block();
                let test = self.draft.emit(Op::Matches(value, pattern.clone()), span);
                self.draft.branch(test, fits, next, head);
                self.draft.resume(fits);
            }
            if !(tested && names.is_empty()) {
                self.bind_pattern(pattern, value, span);
            }
            self.declare_all(&names);
            if let Some(guard) = guard {
                let holds = self.draft.block();
                self.condition(guard, holds, next);
                self.draft.resume(holds);
            }
            self.into(&arm.body, dst);
            self.draft.goto(join, spans::expr(&arm.body));
            self.draft.close();
            self.draft.resume(next);
        }
        self.draft.end(Term::Abort, head);
        self.draft.resume(join);
    }

    fn loop_expr(&mut self, expr: &Expr, dst: Option<Slot>, span: Span) {
        let (label, body, kind, header_end) = match expr {
            Expr::Loop(e) => (&e.label, &e.body, LoopKind::Endless, spans::token(e.loop_token.span)),
            Expr::While(e) if is_true(&e.cond) => (&e.label, &e.body, LoopKind::Endless, spans::expr(&e.cond)),
            Expr::While(e) => (&e.label, &e.body, LoopKind::While, spans::expr(&e.cond)),
            Expr::ForLoop(e) => (&e.label, &e.body, LoopKind::For, spans::expr(&e.expr)),
            _ => return,
        };
        let header = Span { start: span.start, end: header_end.end };
        let iter = match expr {
            Expr::ForLoop(e) => {
                let over = self.expr(&e.expr);
                let is_async = self.text_between(spans::token(e.for_token.span), place(&e.pat)).contains("await");
                Some(self.draft.emit(Op::Iter(over, is_async), spans::expr(&e.expr)))
            }
            _ => None,
        };
        let (head, inside, after) = (self.draft.block(), self.draft.block(), self.draft.block());
        self.draft.note_loop(head, kind, span, header);
        self.draft.goto(head, header);
        self.draft.resume(head);
        self.draft.open();
        // Only `loop` has a value; the others give `()` where their condition ends them.
        let result = if matches!(expr, Expr::Loop(_)) { dst } else { None };
        match expr {
            Expr::While(e) => self.condition(&e.cond, inside, after),
            Expr::ForLoop(e) => {
                let item = self.draft.temp();
                if let Some(iter) = iter {
                    self.draft.end(Term::Next { iter, item, body: inside, done: after }, header);
                }
                self.draft.resume(inside);
                self.bind(&e.pat, item, place(&e.pat));
            }
            _ => self.draft.goto(inside, header),
        }
        if !matches!(expr, Expr::ForLoop(_)) {
            self.draft.resume(inside);
        }
        let label = label.as_ref().map(|label| label.name.ident.to_string());
        self.draft.frames.push(Frame { label, after, head: Some(head), result });
        self.block(body, None);
        self.draft.frames.pop();
        self.draft.goto(head, spans::token(body.brace_token.span.close()));
        self.draft.close();
        self.draft.resume(after);
        if result.is_none() {
            self.unit_into(dst, span);
        }
    }
}

fn is_true(cond: &Expr) -> bool {
    match cond {
        Expr::Lit(e) => matches!(&e.lit, syn::Lit::Bool(b) if b.value),
        Expr::Paren(e) => is_true(&e.expr),
        _ => false,
    }
}

/// An arm's pattern and its guard.
pub(super) fn split_guard(pat: &Pat) -> (&Pat, Option<&Expr>) {
    match pat {
        Pat::Guard(guarded) => (&guarded.pat, Some(&guarded.guard)),
        other => (other, None),
    }
}
