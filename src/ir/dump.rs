//! A module as text, one instruction a line: for tests and for people who look into a graph.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Arg, BinOp, BlockId, Callee, Const, FormatPart, Function, Module, Op, Pattern, Slot, Term, TypeRef, UnOp};

/// All of a module: classes, globals, then each function.
#[must_use]
pub fn dump(module: &Module) -> String {
    let mut out = String::new();
    for import in &module.imports {
        let _ = writeln!(out, "import {import}");
    }
    for global in &module.globals {
        let value = global.value.map_or_else(|| "?".to_owned(), |value| short(module, value.0));
        let _ = writeln!(out, "global {}{} = {value}", global.name, typed(global.ty.as_ref()));
    }
    for class in &module.classes {
        let bases: Vec<String> = class.bases.iter().map(type_text).collect();
        let test = if class.is_test { " [test]" } else { "" };
        let _ = writeln!(out, "class {}({}){test}", class.name, bases.join(", "));
        for field in &class.fields {
            let value = field.value.map_or_else(|| "?".to_owned(), |value| short(module, value.0));
            let _ = writeln!(out, "  .{}{} = {value}", field.name, typed(field.ty.as_ref()));
        }
        if !class.variants.is_empty() {
            let _ = writeln!(out, "  variants {}", class.variants.join(", "));
        }
    }
    for part in &module.unparsed {
        let _ = writeln!(out, "unparsed {}..{}: {}", part.span.start, part.span.end, part.message);
    }
    for (at, function) in module.functions.iter().enumerate() {
        if function.name != "<init>" || function.blocks.len() > 1 {
            let _ = writeln!(out, "{}", dump_function(module, function, at));
        }
    }
    out
}

/// One function's graph.
#[must_use]
pub fn dump_function(module: &Module, function: &Function, index: usize) -> String {
    let names = Names::of(function);
    let mut out = String::new();
    let params: Vec<String> = function
        .params
        .iter()
        .map(|param| {
            let rest = if param.is_rest { "*" } else { "" };
            let default = param.default.map_or_else(String::new, |init| format!("={}", short(module, init.0)));
            let ty = function.slot(param.slot).and_then(|slot| slot.ty.as_ref());
            format!("{rest}{}{}{default}", names.slot(param.slot), typed(ty))
        })
        .collect();
    let flags = [(function.is_async, "async "), (function.is_generator, "generator "), (function.is_test, "test ")];
    let flags: String = flags.iter().filter(|(set, _)| *set).map(|(_, name)| *name).collect();
    let returns = function.returns.as_ref().map_or_else(String::new, |ty| format!(" -> {}", type_text(ty)));
    for decorator in &function.decorators {
        let _ = writeln!(out, "@{}", short(module, decorator.value.0));
    }
    let _ = writeln!(out, "{flags}fn#{index} {}({}){returns}", function.qualified_name, params.join(", "));
    for slot in &function.slots {
        if let (Some(name), Some(from)) = (&slot.name, slot.captured) {
            let _ = writeln!(out, "  captures {name} from {}", from.0);
        }
    }
    for it in &function.loops {
        let kind = if it.is_comprehension { "comprehension" } else { "loop" };
        let _ = writeln!(out, "  {kind} b{} {:?}", it.head.0, it.kind);
    }
    for (at, block) in function.blocks.iter().enumerate() {
        let unwind = block.unwind.map_or_else(String::new, |to| format!(" !b{}", to.0));
        let _ = writeln!(out, "  b{at}:{unwind}");
        for instr in &block.instrs {
            let dst = instr.dst.map_or_else(String::new, |dst| format!("{} = ", names.slot(dst)));
            let _ = writeln!(out, "    {dst}{}", names.op(module, &instr.op));
        }
        let _ = writeln!(out, "    {}", names.term(&block.term));
    }
    out
}

/// What an initialiser computes, on one line where that is possible.
fn short(module: &Module, id: u32) -> String {
    let Some(function) = module.functions.get(id as usize) else { return format!("fn#{id}") };
    let [block] = function.blocks.as_slice() else { return format!("fn#{id}") };
    let names = Names::of(function);
    let parts: Vec<String> = block
        .instrs
        .iter()
        .map(|instr| {
            let dst = instr.dst.map_or_else(String::new, |dst| format!("{} = ", names.slot(dst)));
            format!("{dst}{}", names.op(module, &instr.op))
        })
        .collect();
    match block.instrs.as_slice() {
        [one] => names.op(module, &one.op),
        _ => format!("{{ {} }}", parts.join("; ")),
    }
}

fn typed(ty: Option<&TypeRef>) -> String {
    ty.map_or_else(String::new, |ty| format!(": {}", type_text(ty)))
}

fn type_text(ty: &TypeRef) -> String {
    let own = if ty.class.is_some() { "#" } else { "" };
    let args: Vec<String> = ty.args.iter().map(type_text).collect();
    if args.is_empty() { format!("{own}{}", ty.path) } else { format!("{own}{}[{}]", ty.path, args.join(", ")) }
}

/// How the slots of a function are written: by name, with a number where a name is taken twice.
struct Names(Vec<String>);

impl Names {
    fn of(function: &Function) -> Self {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        let mut temporaries = 0usize;
        let names = function.slots.iter().map(|slot| match &slot.name {
            Some(name) => {
                let times = seen.entry(name).or_default();
                *times += 1;
                if *times == 1 { name.clone() } else { format!("{name}.{times}") }
            }
            None => {
                temporaries += 1;
                format!("%{temporaries}")
            }
        });
        Names(names.collect())
    }

    fn slot(&self, slot: Slot) -> &str {
        self.0.get(slot.0 as usize).map_or("%?", String::as_str)
    }

    fn list(&self, slots: &[Slot]) -> String {
        slots.iter().map(|slot| self.slot(*slot)).collect::<Vec<_>>().join(", ")
    }

    fn args(&self, args: &[Arg]) -> String {
        let args = args.iter().map(|arg| {
            let spread = match (arg.spread, arg.name.is_some()) {
                (true, true) => "**",
                (true, false) => "*",
                (false, _) => "",
            };
            let name = arg.name.as_ref().filter(|name| !name.is_empty());
            let name = name.map_or_else(String::new, |name| format!("{name}="));
            format!("{spread}{name}{}", self.slot(arg.value))
        });
        args.collect::<Vec<_>>().join(", ")
    }

    fn op(&self, module: &Module, op: &Op) -> String {
        let s = |slot: &Slot| self.slot(*slot);
        match op {
            Op::Const(value) => constant(value),
            Op::Copy(from) => s(from).to_owned(),
            Op::Path(path) => format!("path {path}"),
            Op::Func(id) => {
                let name = module.function(*id).map_or("?", |function| function.qualified_name.as_str());
                format!("fn#{} {name}", id.0)
            }
            Op::Class(id) => format!("class {}", module.class(*id).map_or("?", |class| class.name.as_str())),
            Op::Global(id) => format!("global {}", module.global(*id).map_or("?", |global| global.name.as_str())),
            Op::SetGlobal(id, value) => {
                let name = module.global(*id).map_or("?", |global| global.name.as_str());
                format!("global {name} := {}", s(value))
            }
            Op::Attr(object, name) => format!("{}.{name}", s(object)),
            Op::SetAttr(object, name, value) => format!("{}.{name} := {}", s(object), s(value)),
            Op::Index(object, index) => format!("{}[{}]", s(object), s(index)),
            Op::SetIndex(object, index, value) => format!("{}[{}] := {}", s(object), s(index), s(value)),
            Op::Unary(op, value) => format!("{} {}", unary(*op), s(value)),
            Op::Binary(op, left, right) => format!("{} {} {}", s(left), binary(*op), s(right)),
            Op::Call { callee, args } => {
                let callee = match callee {
                    Callee::Value(value) => s(value).to_owned(),
                    Callee::Method { receiver, name } => format!("{}->{name}", s(receiver)),
                    Callee::Super { name } => format!("super->{name}"),
                };
                format!("call {callee}({})", self.args(args))
            }
            Op::Await(value) => format!("await {}", s(value)),
            Op::Yield(value) => format!("yield {}", value.as_ref().map_or("", |value| s(value))),
            Op::Collection(kind, elements) => format!("{kind:?}[{}]", self.list(elements)),
            Op::Format(parts) => {
                let parts = parts.iter().map(|part| match part {
                    FormatPart::Text(text) => format!("{text:?}"),
                    FormatPart::Value(value) => s(value).to_owned(),
                });
                format!("format {}", parts.collect::<Vec<_>>().join(" "))
            }
            Op::Variant { path, args, .. } => format!("variant {path}({})", self.list(args)),
            Op::Struct { path, fields, base, .. } => {
                let fields = fields.iter().map(|(name, value)| format!("{name}: {}", s(value)));
                let base = base.as_ref().map_or_else(String::new, |base| format!(", ..{}", s(base)));
                format!("struct {path} {{{}{base}}}", fields.collect::<Vec<_>>().join(", "))
            }
            Op::Matches(value, pattern) => format!("{} matches {}", s(value), self.pattern(module, pattern)),
            Op::Bind(value, pattern) => format!("bind {} to {}", s(value), self.pattern(module, pattern)),
            Op::IsSuccess(value) => format!("is_success {}", s(value)),
            Op::Payload(value, good) => format!("payload {} {good}", s(value)),
            Op::Catch => "catch".to_owned(),
            Op::IsException(value, class) => format!("{} is_exception {}", s(value), s(class)),
            Op::Enter(value, is_async) => format!("enter{} {}", if *is_async { " async" } else { "" }, s(value)),
            Op::Exit(manager, None) => format!("exit {}", s(manager)),
            Op::Exit(manager, Some(exception)) => format!("exit {} with {}", s(manager), s(exception)),
            Op::Iter(value, is_async) => format!("iter{} {}", if *is_async { " async" } else { "" }, s(value)),
            Op::Select(arms) => format!("select of {arms}"),
            Op::Unknown(what) => format!("unknown ({what})"),
        }
    }

    fn patterns(&self, module: &Module, patterns: &[Pattern]) -> String {
        patterns.iter().map(|pattern| self.pattern(module, pattern)).collect::<Vec<_>>().join(", ")
    }

    fn pattern(&self, module: &Module, pattern: &Pattern) -> String {
        match pattern {
            Pattern::Any => "_".to_owned(),
            Pattern::Bind(slot, None) => self.slot(*slot).to_owned(),
            Pattern::Bind(slot, Some(inner)) => format!("{} @ {}", self.slot(*slot), self.pattern(module, inner)),
            Pattern::Const(value) => constant(value),
            Pattern::Range { low, high, inclusive } => {
                let end = |end: &Option<Const>| end.as_ref().map_or_else(String::new, constant);
                format!("{}..{}{}", end(low), if *inclusive { "=" } else { "" }, end(high))
            }
            Pattern::Path(path) => format!("path {path}"),
            Pattern::Global(id) => {
                format!("global {}", module.global(*id).map_or("?", |global| global.name.as_str()))
            }
            Pattern::Variant { path, args, .. } => format!("{path}({})", self.patterns(module, args)),
            Pattern::Struct { path, fields, .. } => {
                let fields = fields.iter().map(|(name, part)| format!("{name}: {}", self.pattern(module, part)));
                format!("{path} {{{}}}", fields.collect::<Vec<_>>().join(", "))
            }
            Pattern::Tuple(parts, rest) => {
                let parts = parts.iter().enumerate().map(|(at, part)| {
                    let star = if *rest == Some(at) { "*" } else { "" };
                    format!("{star}{}", self.pattern(module, part))
                });
                format!("({})", parts.collect::<Vec<_>>().join(", "))
            }
            Pattern::Mapping(pairs) => {
                let pairs =
                    pairs.iter().map(|(key, part)| format!("{}: {}", constant(key), self.pattern(module, part)));
                format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
            }
            Pattern::Or(parts) => parts.iter().map(|part| self.pattern(module, part)).collect::<Vec<_>>().join(" | "),
            Pattern::Attr(object, name) => format!("{}.{name}", self.slot(*object)),
            Pattern::Unknown(slots) => format!("unknown({})", self.list(slots)),
        }
    }

    fn term(&self, term: &Term) -> String {
        let b = |id: &BlockId| format!("b{}", id.0);
        match term {
            Term::Goto(to) => format!("goto {}", b(to)),
            Term::Branch { cond, then, otherwise } => {
                format!("if {} then {} else {}", self.slot(*cond), b(then), b(otherwise))
            }
            Term::Next { iter, item, body, done } => {
                format!("{} = next {} then {} else {}", self.slot(*item), self.slot(*iter), b(body), b(done))
            }
            Term::Return(None) => "return".to_owned(),
            Term::Return(Some(value)) => format!("return {}", self.slot(*value)),
            Term::Propagate(value) => format!("propagate {}", self.slot(*value)),
            Term::Raise(None) => "raise".to_owned(),
            Term::Raise(Some(value)) => format!("raise {}", self.slot(*value)),
            Term::Abort => "abort".to_owned(),
        }
    }
}

fn constant(value: &Const) -> String {
    match value {
        Const::None => "None".to_owned(),
        Const::Bool(value) => value.to_string(),
        Const::Int(value) => value.to_string(),
        Const::Float(value) => format!("{value:?}"),
        Const::Str(value) => format!("{value:?}"),
        Const::Ellipsis => "...".to_owned(),
    }
}

fn unary(op: UnOp) -> &'static str {
    match op {
        UnOp::Not => "not",
        UnOp::Neg => "-",
        UnOp::BitNot => "~",
        UnOp::Plus => "+",
        UnOp::Same => "same",
    }
}

fn binary(op: BinOp) -> &'static str {
    match op {
        BinOp::Add => "+",
        BinOp::Sub => "-",
        BinOp::Mul => "*",
        BinOp::Div => "/",
        BinOp::FloorDiv => "//",
        BinOp::Rem => "%",
        BinOp::Pow => "**",
        BinOp::Shl => "<<",
        BinOp::Shr => ">>",
        BinOp::BitAnd => "&",
        BinOp::BitOr => "|",
        BinOp::BitXor => "^",
        BinOp::Eq => "==",
        BinOp::Ne => "!=",
        BinOp::Lt => "<",
        BinOp::Le => "<=",
        BinOp::Gt => ">",
        BinOp::Ge => ">=",
        BinOp::In => "in",
        BinOp::NotIn => "not in",
        BinOp::Is => "is",
        BinOp::IsNot => "is not",
        BinOp::Other => "?",
    }
}
