//! Sources with parts deleted, doubled, cut off and exchanged, by a seeded program: whatever comes out is gone through
//! without a fault.
//!
//! `STORMLINT_MUTATIONS=2000` makes more, `STORMLINT_SEED=7` others, `STORMLINT_CORPUS=folder` takes other sources than
//! this repository's own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use stormlint::check::{self, ErrorKind, Input};
use stormlint::config::Config;
use stormlint::source::{Language, SourceFile};

/// Larger sources are left out: what breaks is seen in small ones.
const LARGEST: u64 = 60_000;
/// As many are checked together.
const TOGETHER: usize = 40;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Numbers that look random, the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }
}

/// All sources below a folder, in the order of their names.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        let small = || entry.metadata().is_ok_and(|facts| facts.len() <= LARGEST);
        let passed = path.file_name().is_some_and(|name| name == "target" || name == "node_modules" || name == ".git");
        if kind.is_dir() && !passed {
            sources(&path, found);
        } else if kind.is_file() && language(&path).is_some() && small() {
            found.push(path);
        }
    }
}

fn language(path: &Path) -> Option<Language> {
    Language::of_extension(path.extension()?.to_str()?)
}

/// Words, signs and blanks.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let alike = |c: char| match first {
            _ if first.is_alphanumeric() || first == '_' => c.is_alphanumeric() || c == '_',
            ' ' => c == ' ',
            _ => false,
        };
        let end = rest.char_indices().skip(1).find(|(_, c)| !alike(*c)).map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

fn mutated(text: &str, other: &str, chance: &mut Chance) -> String {
    let mut pieces = pieces(text);
    for _ in 0..=chance.below(3) {
        let count = pieces.len();
        if count == 0 {
            break;
        }
        let from = chance.below(count);
        let to = (from + 1 + chance.below(30)).min(count);
        match chance.below(7) {
            0 => drop(pieces.drain(from..to)),
            1 => {
                let again: Vec<&str> = pieces[from..to].to_vec();
                pieces.splice(to..to, again);
            }
            2 => pieces.truncate(from),
            3 => {
                let with = chance.below(count);
                pieces.swap(from, with);
            }
            4 => pieces.insert(
                from,
                ["\u{feff}", "\0", "\r", "'", "\"\"\"", "{", "(", "\\", "é", "/*", "#"][chance.below(11)],
            ),
            5 => pieces.rotate_left(from),
            _ => {
                let other = self::pieces(other);
                let start = chance.below(other.len());
                let part = other.into_iter().skip(start).take(200);
                pieces.splice(from..to, part);
            }
        }
    }
    pieces.concat()
}

#[test]
fn mutated_sources_break_nothing() {
    let folder = std::env::var_os("STORMLINT_CORPUS").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf());
    let mut paths = Vec::new();
    sources(&folder, &mut paths);
    let texts: Vec<(Language, String)> =
        paths.iter().filter_map(|path| Some((language(path)?, std::fs::read_to_string(path).ok()?))).collect();
    assert!(texts.len() > 20, "no sources in {}", folder.display());
    let mut chance = Chance(number("STORMLINT_SEED", 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let all = number("STORMLINT_MUTATIONS", 120) as usize;
    let config = Arc::new(Config::default());
    let mut done = 0;
    while done < all {
        let inputs: Vec<Input> = (done..all.min(done + TOGETHER))
            .map(|at| {
                let (language, text) = &texts[chance.below(texts.len())];
                let (_, other) = &texts[chance.below(texts.len())];
                let text = mutated(text, other, &mut chance);
                let extension = if *language == Language::Python { "py" } else { "rs" };
                let path = format!("m{at}.{extension}");
                Input {
                    root_path: path.as_str().into(),
                    file: SourceFile::new(path, text, *language),
                    module: format!("m{at}"),
                    config: config.clone(),
                }
            })
            .collect();
        let count = inputs.len();
        let run = check::check(inputs.clone());
        let faults: Vec<_> = run.errors.iter().filter(|error| error.kind == ErrorKind::InternalError).collect();
        if let Some(fault) = faults.first() {
            let input = inputs.iter().find(|input| *input.file.path == *fault.path).unwrap();
            let kept = std::env::temp_dir().join("stormlint-mutation.txt");
            std::fs::write(&kept, input.file.text.as_bytes()).unwrap();
            panic!("{}: {} (kept as {})", fault.path, fault.message, kept.display());
        }
        for found in &run.findings {
            let file = &run.files[found.file];
            assert!(found.diagnostic.span.end as usize <= file.text.len(), "{:?}", found.diagnostic);
        }
        done += count;
    }
    println!("{done} mutations of {} sources", texts.len());
}
