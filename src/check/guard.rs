//! A panic in one file becomes a message, and the other files go on.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// How many runs are under way, in which panics are caught.
static RUNS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Where the last panic of this thread came from.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// While it lives, panics are told by the run, and by nobody else.
pub(super) struct Running;

impl Running {
    pub(super) fn new() -> Running {
        RUNS.fetch_add(1, SeqCst);
        Running
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNS.fetch_sub(1, SeqCst);
    }
}

/// Makes panics within a run say nothing on standard error: the run tells them, each with its file, and in a form that
/// commands no terminal. Others go to `tell`, as one line.
pub fn tell_panics(tell: fn(&str)) {
    std::panic::set_hook(Box::new(move |panic: &PanicHookInfo<'_>| {
        let place = panic.location().map(|at| format!("{}:{}", at.file(), at.line()));
        if RUNS.load(SeqCst) > 0 {
            PLACE.with(|known| *known.borrow_mut() = place);
        } else {
            tell(&internal(text(panic.payload()), place.as_deref()));
        }
    }));
}

/// Runs `work`; a panic becomes its message.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    PLACE.with(|known| known.borrow_mut().take());
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let place = PLACE.with(|known| known.borrow_mut().take());
        internal(text(panic.as_ref()), place.as_deref())
    })
}

fn internal(text: &str, place: Option<&str>) -> String {
    let place = place.map(|place| format!(", at {place}")).unwrap_or_default();
    format!(
        "internal error ({text}{place}): a fault of stormlint {}, not of this file; please report it, with as much of \
         the file as brings it about, at {}/issues",
        env!("CARGO_PKG_VERSION"),
        env!("CARGO_PKG_REPOSITORY")
    )
}

fn text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("unknown cause")
}

/// Panics where a file asks for it, so that tests can see what becomes of it. Programs for use know no such file.
pub(super) fn trip(text: &str, stage: &str) {
    #[cfg(debug_assertions)]
    if text.contains("stormlint-test: panic in ") {
        let asked = format!("stormlint-test: panic in {stage}");
        assert!(!text.contains(&asked), "no way \u{1b}[31m in {stage}");
    }
    let _ = (text, stage);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_message() {
        assert_eq!(guarded(|| 1), Ok(1));
        let told = guarded(|| -> u8 { panic!("no {}", "way") }).err().unwrap_or_default();
        assert!(told.starts_with("internal error (no way") && told.contains("please report it"), "{told}");
    }
}
