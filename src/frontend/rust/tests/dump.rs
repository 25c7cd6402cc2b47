//! A short text form of graphs, for tests: `%3` is a temporary, `name` a variable (`name'2` another of the same name).

use std::fmt::Write;

use crate::ir::{BlockId, Callee, Const, FormatPart, Function, Module, Op, Pattern, Slot, Term};

/// One function as text: a block a paragraph.
pub(super) fn function(module: &Module, function: &Function) -> String {
    let names = Names { module, function };
    let mut out = String::new();
    for (at, block) in function.blocks.iter().enumerate() {
        let heads: Vec<String> =
            function.loops.iter().filter(|l| l.head.0 as usize == at).map(|l| format!(" [{:?}]", l.kind)).collect();
        writeln!(out, "{at}:{}", heads.concat()).unwrap();
        for instr in &block.instrs {
            let dst = instr.dst.map(|slot| format!("{} = ", names.slot(slot))).unwrap_or_default();
            writeln!(out, "  {dst}{}", names.op(&instr.op)).unwrap();
        }
        writeln!(out, "  {}", names.term(&block.term)).unwrap();
    }
    out
}

struct Names<'a> {
    module: &'a Module,
    function: &'a Function,
}

fn constant(value: &Const) -> String {
    match value {
        Const::None => "()".to_owned(),
        Const::Bool(b) => b.to_string(),
        Const::Int(n) => n.to_string(),
        Const::Float(x) => x.to_string(),
        Const::Str(s) => format!("{s:?}"),
        Const::Ellipsis => "...".to_owned(),
    }
}

fn block(id: BlockId) -> String {
    format!("->{}", id.0)
}

impl Names<'_> {
    fn slot(&self, slot: Slot) -> String {
        let Some(name) = self.function.slot(slot).and_then(|info| info.name.as_deref()) else {
            return format!("%{}", slot.0);
        };
        let before = &self.function.slots[..slot.0 as usize];
        match before.iter().filter(|info| info.name.as_deref() == Some(name)).count() {
            0 => name.to_owned(),
            n => format!("{name}'{}", n + 1),
        }
    }

    fn slots(&self, slots: impl IntoIterator<Item = Slot>) -> String {
        slots.into_iter().map(|slot| self.slot(slot)).collect::<Vec<_>>().join(", ")
    }

    fn op(&self, op: &Op) -> String {
        match op {
            Op::Const(value) => constant(value),
            Op::Copy(slot) => self.slot(*slot),
            Op::Path(path) => format!("<{path}>"),
            Op::Func(id) => {
                let function = self.module.function(*id).map(|f| f.qualified_name.as_str());
                format!("fn {}", function.unwrap_or("?"))
            }
            Op::Class(id) => format!("class {}", self.module.class(*id).map_or("?", |class| &class.name)),
            Op::Global(id) => format!("global {}", self.module.global(*id).map_or("?", |global| &global.name)),
            Op::SetGlobal(id, value) => {
                let name = self.module.global(*id).map_or("?", |global| &global.name);
                format!("global {name} := {}", self.slot(*value))
            }
            Op::Attr(base, name) => format!("{}.{name}", self.slot(*base)),
            Op::SetAttr(base, name, value) => format!("{}.{name} := {}", self.slot(*base), self.slot(*value)),
            Op::Index(base, at) => format!("{}[{}]", self.slot(*base), self.slot(*at)),
            Op::SetIndex(base, at, value) => {
                format!("{}[{}] := {}", self.slot(*base), self.slot(*at), self.slot(*value))
            }
            Op::Unary(op, value) => format!("{op:?} {}", self.slot(*value)),
            Op::Binary(op, left, right) => format!("{} {op:?} {}", self.slot(*left), self.slot(*right)),
            Op::Call { callee, args } => {
                let args = args.iter().map(|arg| match &arg.name {
                    Some(name) => format!("{name}={}", self.slot(arg.value)),
                    None => self.slot(arg.value),
                });
                let args = args.collect::<Vec<_>>().join(", ");
                match callee {
                    Callee::Value(slot) => format!("call {}({args})", self.slot(*slot)),
                    Callee::Method { receiver, name } => format!("{}.{name}({args})", self.slot(*receiver)),
                    Callee::Super { name } => format!("super.{name}({args})"),
                }
            }
            Op::Await(slot) => format!("await {}", self.slot(*slot)),
            Op::Yield(slot) => format!("yield {}", self.slots(*slot)),
            Op::Collection(kind, slots) => format!("{kind:?}[{}]", self.slots(slots.iter().copied())),
            Op::Format(parts) => {
                let parts = parts.iter().map(|part| match part {
                    FormatPart::Text(text) => format!("{text:?}"),
                    FormatPart::Value(slot) => self.slot(*slot),
                });
                format!("format {}", parts.collect::<Vec<_>>().join(" "))
            }
            Op::Variant { path, args, .. } => format!("{path}({})", self.slots(args.iter().copied())),
            Op::Struct { path, fields, base, .. } => {
                let fields = fields.iter().map(|(name, slot)| format!("{name}: {}", self.slot(*slot)));
                let fields = fields.chain(base.map(|base| format!("..{}", self.slot(base))));
                format!("{path} {{ {} }}", fields.collect::<Vec<_>>().join(", "))
            }
            Op::Matches(slot, pattern) => format!("{} matches {}", self.slot(*slot), self.pattern(pattern)),
            Op::Bind(slot, pattern) => format!("bind {} = {}", self.pattern(pattern), self.slot(*slot)),
            Op::IsSuccess(slot) => format!("{} is success", self.slot(*slot)),
            Op::Payload(slot, true) => format!("payload {}", self.slot(*slot)),
            Op::Payload(slot, false) => format!("error {}", self.slot(*slot)),
            Op::Iter(slot, _) => format!("iter {}", self.slot(*slot)),
            Op::Select(n) => format!("select {n}"),
            Op::Unknown(what) => format!("unknown {what}"),
            other => format!("{other:?}"),
        }
    }

    fn pattern(&self, pattern: &Pattern) -> String {
        let all = |parts: &[Pattern]| parts.iter().map(|part| self.pattern(part)).collect::<Vec<_>>().join(", ");
        match pattern {
            Pattern::Any => "_".to_owned(),
            Pattern::Bind(slot, None) => self.slot(*slot),
            Pattern::Bind(slot, Some(inner)) => format!("{} @ {}", self.slot(*slot), self.pattern(inner)),
            Pattern::Const(value) => constant(value),
            Pattern::Path(path) => path.clone(),
            Pattern::Variant { path, args, .. } => format!("{path}({})", all(args)),
            Pattern::Struct { path, fields, .. } => {
                let fields = fields.iter().map(|(name, part)| format!("{name}: {}", self.pattern(part)));
                format!("{path} {{ {} }}", fields.collect::<Vec<_>>().join(", "))
            }
            Pattern::Tuple(parts, _) => format!("({})", all(parts)),
            Pattern::Or(parts) => parts.iter().map(|part| self.pattern(part)).collect::<Vec<_>>().join(" | "),
            other => format!("{other:?}"),
        }
    }

    fn term(&self, term: &Term) -> String {
        match term {
            Term::Goto(to) => block(*to),
            Term::Branch { cond, then, otherwise } => {
                format!("if {} {} else {}", self.slot(*cond), block(*then), block(*otherwise))
            }
            Term::Next { iter, item, body, done } => {
                format!("next {} of {} {} done {}", self.slot(*item), self.slot(*iter), block(*body), block(*done))
            }
            Term::Return(slot) => format!("return {}", self.slots(*slot)).trim_end().to_owned(),
            Term::Propagate(slot) => format!("propagate {}", self.slot(*slot)),
            Term::Raise(slot) => format!("raise {}", self.slots(*slot)),
            Term::Abort => "abort".to_owned(),
        }
    }
}
