//! A bar on standard error while a long run goes on: on a terminal only, and only where the run lasts.

use std::io::IsTerminal;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::check::Progress;

/// Shorter runs show none.
const PATIENCE: Duration = Duration::from_secs(1);
const STEP: Duration = Duration::from_millis(100);

/// Does the work, and shows how far it has come unless `quiet`.
pub(super) fn shown<T>(quiet: bool, work: impl FnOnce(&Progress) -> T) -> T {
    let progress = Progress::default();
    if quiet || !wanted() {
        return work(&progress);
    }
    std::thread::scope(|scope| {
        let (working, ended) = mpsc::channel();
        scope.spawn(|| draw(&progress, ended));
        let result = work(&progress);
        drop(working);
        result
    })
}

/// A log is no place for a bar, though some build servers keep theirs by a terminal.
fn wanted() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "false");
    std::io::stderr().is_terminal() && !set("CI") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

fn draw(progress: &Progress, ended: Receiver<()>) {
    let goes_on = |patience| ended.recv_timeout(patience) == Err(RecvTimeoutError::Timeout);
    if !goes_on(PATIENCE) {
        return;
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_elapsed(PATIENCE);
    if let Ok(style) = ProgressStyle::with_template("checking [{bar:30}] {percent:>3} % of the files, {elapsed}") {
        bar.set_style(style.progress_chars("=> "));
    }
    loop {
        let (done, all) = progress.steps();
        bar.set_length(all as u64);
        bar.set_position(done as u64);
        if !goes_on(STEP) {
            break;
        }
    }
    bar.finish_and_clear();
}
