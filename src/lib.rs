//! stormlint: a linter for retries, in Python and Rust sources.
//!
//! It finds every place where the same operation can be executed again because it failed, reconstructs the policy that
//! the code implements there (how many attempts, what wait, which failures, whose advice is followed, what is sent
//! twice), and reports what would turn a brief fault of a server into a storm of requests.
//!
//! # Bird's-eye view
//! ```text
//! walk ─ files ─▶ frontend ─ ir ─▶ analysis ─ sites and policies ─▶ rules ─ diagnostics ─▶ report
//!                                     ▲
//!                    models (what is known of libraries, as data)
//! ```
//! A frontend lowers each function into a small language-neutral graph in which every way that a failure takes is an
//! edge. The analysis plays an outage on that graph: it makes an operation fail in each way that it can, follows all
//! paths back to it, and records waits, counters, statuses and exits. Rules are predicates over what was recorded.
//!
//! # Code map
//! Each module may use those above it in this list, and no others; `tests/layers.rs` holds them to it.
//!
//! | module | what it holds |
//! |---|---|
//! | [`source`] | texts, byte ranges, lines and columns |
//! | [`spelling`] | what is near to a misspelt word |
//! | [`diagnostic`] | a finding as plain data |
//! | [`fingerprint`] | what makes a finding recognisable in the next run |
//! | [`ir`] | functions as graphs with failure edges |
//! | [`frontend`] | one folder a language: text in, graphs out |
//! | [`models`] | knowledge of libraries, read from `rules/models/<language>/<library>.toml` |
//! | [`analysis`] | from graphs to retry sites and their policies |
//! | [`rules`] | one file a rule; its page is `rules/<rule>.md` |
//! | [`config`] | texts of configuration files, and what holds for a path: rules with levels, limits, models |
//! | [`suppress`] | comments that keep findings out of the report |
//! | [`baseline`] | findings that were there before |
//! | [`check`] | one run: all of the above over a set of files |
//! | [`report`] | one file a format |
//! | [`walk`] | finds and reads the sources, and the configuration that each is under |
//! | [`vcs`] | which lines were changed, by git or a patch |
//! | [`cli`] | the command line |
//!
//! Where to begin: a new rule is one file in `src/rules`, one page, and one line in [`rules::ALL`]. A new library is one
//! model file and no Rust. A new language is one folder in `src/frontend`. A new format is one file in `src/report`.
//!
//! # Invariants
//! Invariant: nothing after the frontend knows which language a file was written in, except by what models say.
//! Invariant: the types of a parser stay in its frontend's folder.
//! Invariant: no library is named in code; what is known of one is model data.
//! Invariant: files, environment, clock and colour are touched by [`walk`], [`vcs`] and [`cli`] only.
//! Invariant: what is not known is unknown; it never becomes a fact, and no rule at medium confidence rests on it alone.
//! Invariant: no input makes the program panic or hang; a fault in one file loses at most that file.
//! Invariant: two runs over the same files print the same bytes; no output has the order of a hash map.

pub mod analysis;
pub mod baseline;
pub mod check;
pub mod cli;
pub mod config;
pub mod diagnostic;
pub mod fingerprint;
pub mod frontend;
pub mod ir;
pub mod models;
pub mod report;
pub mod rules;
pub mod source;
pub mod spelling;
pub mod suppress;
pub mod vcs;
pub mod walk;
