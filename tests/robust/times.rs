//! Real sources one by one: none brings about a fault, and none takes long.
//!
//! `STORMLINT_CORPUS=folder` (or several, with `:` between) takes other sources than this repository's own, and holds
//! each to the time: run it by itself then (`scripts/corpora` does), for what is measured is the processor's time of
//! the whole process.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use stormlint::check::{self, ErrorKind};
use stormlint::walk::{self, Asked, Lookup, Place};

/// Seconds of the processor that a file may take.
const LONGEST: f64 = 2.0;
/// Files that take less are not listed.
const LISTED: f64 = 0.5;

/// Which file is gone through.
static AT: AtomicU64 = AtomicU64::new(0);

/// Seconds of the processor that this process has taken, where the system tells.
fn taken(begin: Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/self/stat").ok().and_then(|text| {
        let ticks: Vec<f64> = text.rsplit(')').next()?.split(' ').filter_map(|word| word.parse().ok()).collect();
        // The state, a letter, is left out: the fields 14 and 15, in hundredths.
        Some((ticks.get(10)? + ticks.get(11)?) / 100.0)
    });
    told.unwrap_or_else(|| begin.elapsed().as_secs_f64())
}

/// The most memory that this process has held so far, in megabytes.
fn held() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) / 1024
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        // What Cargo builds says so.
        if kind.is_dir() && !path.join("CACHEDIR.TAG").exists() {
            sources(&path, found);
        } else if kind.is_file() && walk::language(&path).is_some() {
            found.push(path);
        }
    }
}

#[test]
fn no_source_takes_long() {
    let named = std::env::var_os("STORMLINT_CORPUS");
    let own = ["src", "tests"].map(|name| Path::new(env!("CARGO_MANIFEST_DIR")).join(name));
    let folders = named.as_ref().map_or_else(|| own.to_vec(), |named| std::env::split_paths(named).collect());
    let mut paths = Vec::new();
    folders.iter().for_each(|folder| sources(folder, &mut paths));
    assert!(paths.len() > 20, "no sources in {folders:?}");

    let watched = paths.clone();
    std::thread::spawn(move || {
        let mut last = (u64::MAX, Instant::now());
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let at = AT.load(Relaxed);
            if last.0 != at {
                last = (at, Instant::now());
            } else if last.1.elapsed() > super::PATIENCE {
                eprintln!("{} does not end", watched[at as usize].display());
                std::process::exit(1);
            }
        }
    });

    let place = Place::new(Path::new("/"), None);
    let lookup = Lookup::new(&place, Asked { isolated: true, ..Asked::default() });
    let begin = Instant::now();
    let (mut times, mut faults, mut lost, mut memory) = (Vec::new(), Vec::new(), 0, (0, PathBuf::new()));
    for (at, path) in paths.iter().enumerate() {
        AT.store(at as u64, Relaxed);
        let Ok(bytes) = std::fs::read(path) else { continue };
        let before = taken(begin);
        let Ok(Some(input)) = place.text(&lookup, path, &bytes) else { continue };
        let run = check::check(vec![input]);
        times.push((taken(begin) - before, path));
        lost += run.unparsed.iter().flatten().count().min(1);
        let internal = run.errors.iter().filter(|error| error.kind == ErrorKind::InternalError);
        faults.extend(internal.map(|error| format!("{}: {}", error.path, error.message)));
        if held() > memory.0 {
            memory = (held(), path.clone());
        }
    }
    times.sort_by(|left, right| right.0.total_cmp(&left.0));
    for (seconds, path) in times.iter().filter(|(seconds, _)| *seconds >= LISTED) {
        println!("{seconds:.2} s {}", path.display());
    }
    let (slowest, path) = times[0];
    println!(
        "{} files ({lost} parsed in part), {:.0} s of the processor; the slowest took {slowest:.2} s ({}); the most memory: {} MB (from {} on)",
        times.len(),
        taken(begin),
        path.display(),
        memory.0,
        memory.1.display()
    );
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(named.is_none() || slowest <= LONGEST, "{}: {slowest:.2} s", path.display());
}
