#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::print_stdout)]

mod dump;

use crate::ir::Module;
use crate::source::{Language, SourceFile};

fn lower(text: &str) -> Module {
    super::lower(&SourceFile::new("src/lib.rs", text, Language::Rust), "")
}

#[test]
fn zz_dump_file() {
    let Ok(path) = std::env::var("DUMP") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let module = super::lower(&SourceFile::new("src/lib.rs", text, Language::Rust), "mycrate::net");
    for function in &module.functions {
        println!(
            "== {} {:?} async={} {:?}",
            function.qualified_name,
            function.kind,
            function.is_async,
            function
                .params
                .iter()
                .map(|p| (p.name.clone(), function.slots[p.slot.0 as usize].ty.clone()))
                .collect::<Vec<_>>()
        );
        println!("{}", dump::function(&module, function));
    }
    println!("{:?}\n{:?}", module.imports, module.unparsed);
}

mod invariants;
