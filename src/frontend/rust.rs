//! The Rust frontend: syn in, [`Module`] out.
//!
//! A file goes through four rooms. `parse` makes syntax trees and survives what cannot be parsed; `expand` opens macros
//! that hold items; `items` surveys names and hands each body to `flow` and `exprs`, which build the graph in a `draft`.
//! Failure is data in Rust, so there are no unwind edges: `?`, `unwrap`, the combinators of `Option` and `Result`, and
//! `match` all become tests and branches.
//!
//! Invariant: syn and proc-macro2 are named in this folder and nowhere else.

mod attributes;
mod calls;
mod combinators;
mod draft;
mod expand;
mod exprs;
mod flow;
mod formats;
mod items;
mod json;
pub(super) mod lexer;
mod literals;
mod lowerer;
mod macro_rules;
mod macros;
mod names;
mod parse;
mod patterns;
mod select;
mod spans;
#[cfg(test)]
mod tests;
mod types;

use std::sync::Arc;

use self::lowerer::Lowerer;
use crate::ir::{Module, Unparsed};
use crate::source::{Language, SourceFile, Span};

/// Nesting up to which an ordinary stack is enough.
const SHALLOW: usize = 40;
/// Stack that a thread for deeper files starts with, and what it gets for each level (only what is used costs memory).
const STACK: usize = 8 << 20;
const STACK_A_LEVEL: usize = 256 << 10;

/// Lowers a Rust file; never fails.
#[must_use]
pub fn lower(file: &SourceFile, module: &str) -> Module {
    let mut unparsed = Vec::new();
    let tokens = parse::tokenise(&file.text, &mut unparsed);
    let deepest = parse::depth(&tokens);
    let lowered = if deepest <= SHALLOW {
        lower_tokens(file, module, tokens, deepest, unparsed)
    } else {
        drop(tokens);
        lower_deep(file, module, deepest)
    };
    proc_macro2::extra::invalidate_current_thread_spans();
    lowered
}

/// On a thread with a stack that is large enough.
fn lower_deep(file: &SourceFile, module: &str, deepest: usize) -> Module {
    std::thread::scope(|scope| {
        let run = move || {
            let mut unparsed = Vec::new();
            let tokens = parse::tokenise(&file.text, &mut unparsed);
            lower_tokens(file, module, tokens, deepest, unparsed)
        };
        let stack = STACK + STACK_A_LEVEL * deepest.min(parse::TOO_DEEP);
        let thread = std::thread::Builder::new().stack_size(stack).spawn_scoped(scope, run);
        // A panic there is one here.
        let lowered = thread.ok().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        lowered.unwrap_or_else(|| {
            let mut lowerer = Lowerer::new(Arc::clone(&file.text));
            let span = Span::new(0, file.text.len());
            lowerer.unparsed.push(Unparsed { span, message: "cannot parse this file: nested too deep".to_owned() });
            lowerer.finish()
        })
    })
}

fn lower_tokens(
    file: &SourceFile,
    module: &str,
    tokens: proc_macro2::TokenStream,
    deepest: usize,
    unparsed: Vec<Unparsed>,
) -> Module {
    debug_assert_eq!(file.language, Language::Rust);
    let parsed = parse::parse(tokens, deepest, unparsed);
    let is_test = is_test_path(&file.path) || attributes::is_test(&parsed.attrs);
    let items = expand::expand(parsed.items, 0);
    let mut lowerer = Lowerer::new(Arc::clone(&file.text));
    lowerer.unparsed = parsed.unparsed;
    lowerer.file(&items, module, is_test);
    lowerer.finish()
}

/// Whether a file holds tests by where it stands.
fn is_test_path(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or_default();
    matches!(name, "tests.rs" | "test.rs")
        || name.ends_with("_test.rs")
        || name.ends_with("_tests.rs")
        || parts.any(|folder| folder == "benches" || super::holds_tests(folder))
}
