//! What is written is read again as it was meant, and nothing that can be read panics.

use std::path::Path;

use proptest::prelude::*;
use stormlint::baseline::{self, Entry};
use stormlint::config;
use stormlint::frontend;
use stormlint::report::visible;
use stormlint::rules;
use stormlint::source::{Language, SourceFile, Span};
use stormlint::suppress::Comments;
use stormlint::suppress::add::{Wanted, add};
use stormlint::vcs::patch;

fn entry() -> impl Strategy<Value = Entry> {
    ("[a-c]{1,2}(/.{0,6})?", "[a-b]{1,2}", ".{0,4}", "[0-3]{2}", "[0-1]{1}")
        .prop_map(|(path, rule, function, fingerprint, shape)| Entry { path, rule, function, fingerprint, shape })
}

/// Lines of which programs can be made, and texts that look like none.
fn source() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => "( |\t){0,6}[a-z(){}\\[\\]'\"#:/*!@.,= \\\\]{0,20}",
        1 => Just("    while True:  # stormlint: ignore[unbounded-retry] why".to_owned()),
        1 => Just("// stormlint: ignore[".to_owned()),
        1 => Just("'''".to_owned()),
        1 => Just("@retry(".to_owned()),
        1 => Just(")".to_owned()),
        1 => ".{0,12}",
    ];
    (proptest::collection::vec(line, 0..14), prop_oneof![Just("\n"), Just("\r\n"), Just("\r")])
        .prop_map(|(lines, end)| lines.join(end))
}

fn languages() -> impl Strategy<Value = Language> {
    prop_oneof![Just(Language::Python), Just(Language::Rust)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_baseline_is_read_as_it_was_written(entries in proptest::collection::vec(entry(), 0..12), others in proptest::collection::vec(entry(), 0..6)) {
        let text = baseline::write(entries.clone());
        let read = baseline::read(&text).unwrap();
        let mut wanted = entries;
        wanted.sort();
        wanted.dedup();
        prop_assert_eq!(&read, &wanted);
        prop_assert_eq!(baseline::write(read.clone()), text);
        // All that it holds is known, and nothing is left of it.
        let compared = baseline::compare(&read, &wanted);
        prop_assert!(compared.known.iter().all(|known| *known) && compared.left.is_empty());
        // One entry stands for one finding.
        let present: Vec<Entry> = wanted.iter().chain(&others).cloned().collect();
        let compared = baseline::compare(&read, &present);
        let known = compared.known.iter().filter(|known| **known).count();
        prop_assert_eq!(known + compared.left.len(), read.len());
    }

    #[test]
    fn a_comment_that_was_written_is_about_what_it_was_written_for(text in source(), language in languages(), at in 0usize..400) {
        let file = SourceFile::new("a", text.as_str(), language);
        let line = at % file.line_count() + 1;
        let start = file.line_start(line);
        let span = Span::new(start, start + file.line_text(line).len());
        let rule = rules::ALL[at % rules::ALL.len()].name;
        let added = add(&file, &[Wanted { span, rule }], "because");
        prop_assert_eq!(added.done + added.refused.len(), 1);
        let new = SourceFile::new("a", added.text.as_str(), language);
        let comments = Comments::of(&new);
        if added.done == 1 {
            prop_assert!(comments.list.iter().any(|it| it.is_fit() && it.names.iter().any(|name| name.text == rule)), "{}", added.text);
        } else {
            prop_assert_eq!(&added.text, &text);
        }
        // Nothing of the code is lost.
        let code = |text: &str| {
            // The mark of the encoding stays where it is.
            let lines = text.trim_start_matches('\u{feff}').split(['\r', '\n']).filter(|line| !line.contains("stormlint:"));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let missing = code(&text).into_iter().filter(|line| !added.text.contains(line.as_str())).count();
        prop_assert_eq!(missing, 0, "{}", added.text);
    }

    #[test]
    fn any_text_is_lowered_and_taken_apart(text in source(), language in languages()) {
        let file = SourceFile::new("a", text.as_str(), language);
        let module = frontend::lower(&file, "a");
        for part in &module.unparsed {
            prop_assert!(part.span.end as usize <= text.len() && text.is_char_boundary(part.span.start as usize));
        }
        for lexeme in &frontend::lex(&text, language).list {
            prop_assert!(text.get(lexeme.span.range()).is_some(), "{:?}", lexeme);
        }
        let shown = visible::lines(&text).into_owned();
        prop_assert!(!shown.chars().any(|c| c.is_control() && c != '\n'));
        prop_assert_eq!(visible::lines(&shown).into_owned(), shown);
    }

    #[test]
    fn no_configuration_panics(text in "(?s).{0,200}", key in "[a-z-]{1,12}", value in "[\\[\\]{}\"'a-z0-9*?.,!/= -]{0,40}") {
        let tables: &[&[&str]] = &[&[], &["tool", "stormlint"]];
        for table in tables {
            let _ = config::read("stormlint.toml", &text, Path::new("/x"), table);
        }
        for key in [key.as_str(), "select", "exclude", "ignore", "models", "limits", "max-delay", "levels", "min-confidence"] {
            let _ = config::read("stormlint.toml", &format!("{key} = {value}\n"), Path::new("/x"), &[]);
            let _ = config::read("stormlint.toml", &format!("[{key}]\n\"{value}\" = [\"{value}\"]\n"), Path::new("/x"), &[]);
        }
    }

    #[test]
    fn no_diff_panics(text in "(?s)((diff --git a/x b/x\n|--- a/x\n|\\+\\+\\+ b/x\n|@@ -[0-9]{1,20},[0-9]{0,20} \\+[0-9]{1,20} @@\n|\\+.{0,5}\n|-.{0,5}\n|.{0,8}\n)){0,12}") {
        let _ = patch::read(&text);
    }
}

/// A pattern is matched in a time that grows with the path alone.
#[test]
fn patterns_that_mean_harm_do_none() {
    let folder = super::common::Folder::new("patterns");
    let deep = format!("{}/a.py", ["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"; 12].join("/"));
    folder.write(&deep, super::SENTINEL);
    let patterns =
        ["*a".repeat(60), "**/".repeat(40) + "c", "{a,b}".repeat(30), "[a-z]*".repeat(40), "{a,{b,{c,d}}}".repeat(20)];
    for pattern in patterns {
        folder.write("stormlint.toml", format!("exclude = [\"{pattern}\"]\n"));
        let begin = std::time::Instant::now();
        let ran = super::lint(&folder.0, &["--quiet"]);
        assert!(ran.code.is_some_and(|code| code <= 2), "{pattern}: {ran:?}");
        assert!(begin.elapsed().as_secs() < 300, "{pattern}: {:?}", begin.elapsed());
    }
}
