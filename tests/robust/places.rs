//! Names, links, folders and disks that are not as they should be.

use std::path::{Path, PathBuf};

use super::common::{Folder, places};
use super::{SENTINEL, lint};

const FORMATS: [&str; 4] = ["json", "sarif", "junit", "gitlab"];

/// All names below a folder, with their sizes.
fn listing(folder: &Path) -> Vec<(PathBuf, u64)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            found.extend(listing(&entry.path()));
        }
        found.push((entry.path(), entry.metadata().unwrap().len()));
    }
    found.sort();
    found
}

#[cfg(unix)]
#[test]
fn links_that_go_round_end() {
    let folder = Folder::new("rounds");
    folder.write("src/a.py", SENTINEL);
    for (target, link) in
        [("..", "src/up"), (".", "src/here"), ("b.py", "src/b.py"), ("d.py", "src/c.py"), ("c.py", "src/d.py")]
    {
        std::os::unix::fs::symlink(target, folder.0.join(link)).unwrap();
    }
    let ran = lint(&folder.0, &["--output-format", "json"]);
    assert_eq!((ran.code, ran.json()["files"].as_u64()), (Some(1), Some(1)), "{ran:?}");
    let named = lint(&folder.0, &["--output-format", "json", "src/b.py", "src/a.py"]);
    assert_eq!(named.code, Some(2));
    assert!(named.err.starts_with("stormlint: src/b.py: ") && !places(&named).is_empty(), "{named:?}");
    // By a folder that leads round, a file is one file under the name that was given.
    let round = lint(&folder.0, &["--output-format", "json", "src/up/src/here/a.py"]);
    assert_eq!((round.code, round.json()["files"].as_u64()), (Some(1), Some(1)), "{round:?}");
}

#[cfg(unix)]
#[test]
fn what_may_not_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("closed");
    folder.write("a.py", SENTINEL).write("closed.py", SENTINEL).write("shut/b.py", SENTINEL);
    let mode = |name: &str, mode| {
        std::fs::set_permissions(folder.0.join(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("closed.py", 0);
    mode("shut", 0);
    let ran = lint(&folder.0, &["--output-format", "json"]);
    let readable = std::fs::read(folder.0.join("closed.py")).is_ok();
    mode("shut", 0o755);
    if readable {
        // The administrator may read everything.
        assert_eq!(ran.code, Some(1), "{ran:?}");
        return;
    }
    assert_eq!(ran.code, Some(2));
    assert_eq!(ran.err, "stormlint: closed.py: permission denied\nstormlint: shut: permission denied\n");
    assert_eq!(places(&ran).iter().filter(|place| place.starts_with("a.py")).count(), places(&ran).len());
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_no_text_stay_apart() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new("names");
    let names: [&[u8]; 5] = [b"a\xff.py", b"a\xfe.py", b"a\"<&>'\x01.py", b"a\\n\x1b[31m.py", b"a\n%0A::error::.py"];
    for name in names {
        std::fs::write(folder.0.join(std::ffi::OsStr::from_bytes(name)), SENTINEL).unwrap();
    }
    let paths = |format: &str| lint(&folder.0, &["--output-format", format]);
    let document = paths("json").json();
    let mut shown: Vec<_> =
        document["findings"].as_array().unwrap().iter().map(|one| one["path"].clone().to_string()).collect();
    shown.sort();
    shown.dedup();
    assert_eq!(shown.len(), names.len(), "{shown:?}");
    assert!(shown.contains(&"\"a\\\\xff.py\"".to_owned()), "{shown:?}");
    for format in FORMATS {
        let ran = paths(format);
        assert_eq!(ran.code, Some(1), "{format}");
        let raw = ran.out.chars().find(|c| c.is_control() && *c != '\n');
        assert!(raw.is_none(), "{format}: {raw:?}");
        if format != "junit" {
            let _: serde_json::Value = ran.json();
        }
    }
    let gitlab = paths("gitlab").json();
    let mut prints: Vec<_> = gitlab.as_array().unwrap().iter().map(|one| one["fingerprint"].to_string()).collect();
    let all = prints.len();
    prints.sort();
    prints.dedup();
    assert_eq!(prints.len(), all, "two files share fingerprints");
    // Each has its own entry in a baseline.
    let baseline = ["--baseline", "base.json"];
    assert_eq!(lint(&folder.0, &["--write-baseline", "base.json"]).code, Some(0));
    assert_eq!(lint(&folder.0, &baseline).code, Some(0));
    std::fs::remove_file(folder.0.join(std::ffi::OsStr::from_bytes(names[0]))).unwrap();
    assert_eq!(lint(&folder.0, &baseline).code, Some(0));
}

#[test]
fn very_long_paths() {
    let folder = Folder::new("long");
    let name = "d".repeat(200);
    let mut path = PathBuf::new();
    for _ in 0..16 {
        path.push(&name);
    }
    if std::fs::create_dir_all(folder.0.join(&path)).is_err() {
        return;
    }
    folder.write(path.join("a.py").to_str().unwrap(), SENTINEL).write("b.py", SENTINEL);
    let ran = lint(&folder.0, &["--output-format", "json"]);
    assert_eq!((ran.code, ran.json()["files"].as_u64()), (Some(1), Some(2)), "{}", ran.err);
    let named =
        lint(&folder.0, &["--output-format", "json", &format!("{}.py", "x".repeat(300)), &"y/".repeat(3000), "b.py"]);
    assert_eq!((named.code, named.json()["files"].as_u64()), (Some(2), Some(1)), "{}", named.err);
    assert_eq!(named.err.lines().count(), 2);
}

#[test]
fn files_that_vanish_meanwhile() {
    let folder = Folder::new("vanish");
    for at in 0..400 {
        folder.write(&format!("src/m{at}.py"), SENTINEL);
    }
    folder.write("a.py", SENTINEL);
    let vanishing = folder.0.join("src");
    let taker = std::thread::spawn(move || std::fs::remove_dir_all(vanishing));
    let ran = lint(&folder.0, &["--output-format", "json"]);
    taker.join().unwrap().unwrap();
    assert!(matches!(ran.code, Some(1 | 2)), "{ran:?}");
    assert!(places(&ran).contains(&"a.py:5 [unbounded-retry]".to_owned()), "{}", ran.err);
    assert!(
        ran.err.lines().all(|line| line.contains("src") && line.ends_with("no such file or folder")),
        "{}",
        ran.err
    );
    assert_eq!(ran.code == Some(2), !ran.err.is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let folder = Folder::new("full");
    folder.write("a.py", SENTINEL);
    for format in FORMATS {
        let output = format!("--output={format}=/dev/full");
        for args in [&["--quiet", output.as_str()] as &[&str], &["--output-format", format, "-o", "/dev/full"]] {
            let ran = lint(&folder.0, args);
            assert_eq!(ran.code, Some(2), "{ran:?}");
            assert_eq!(ran.err, "stormlint: cannot write `/dev/full`: no space is left on the device\n");
        }
    }
    let ran = lint(&folder.0, &["--write-baseline", "/dev/full"]);
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (Some(2), "stormlint: cannot write `/dev/full`: no space is left on the device\n")
    );
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_stormlint"))
        .current_dir(&folder.0)
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("stormlint: standard output: "), "{output:?}");
}

#[test]
fn nothing_is_written_but_what_was_named() {
    let folder = Folder::new("written");
    folder
        .write("src/a.py", SENTINEL)
        .write("src/b.rs", "fn main() {}\n")
        .write("stormlint.toml", "exclude = [\"x\"]\n");
    let before = listing(&folder.0);
    for args in [
        &["."] as &[&str],
        &["inventory"],
        &["config", "src/a.py"],
        &["models"],
        &["rules"],
        &["--statistics", "--no-cache"],
    ] {
        lint(&folder.0, args);
    }
    // The folder of what was found changes by that alone; what it is told to keep out is below it.
    let cache = folder.0.join(".stormlint_cache");
    let outside =
        || -> Vec<_> { listing(&folder.0).into_iter().filter(|(path, _)| !path.starts_with(&cache)).collect() };
    assert_eq!(outside(), before);
    lint(&folder.0, &["--output=json=out.json"]);
    let new: Vec<_> = outside().into_iter().filter(|entry| !before.contains(entry)).map(|(path, _)| path).collect();
    assert_eq!(new, [folder.0.join("out.json")]);
}

/// Files beside the sources that are read too: what cannot be read of them is told where it is asked for, and no
/// finding is lost where it is not.
#[test]
fn files_beside_the_sources_break_nothing() {
    const DEEP: usize = 100_000;
    let nested = |open: &str, close: &str| format!("{}{}", open.repeat(DEEP), close.repeat(DEEP));
    let list = format!("x = {}\n", nested("[", "]"));
    let json = nested("[", "]");
    let table = format!("[{}a]\n", "a.".repeat(DEEP));
    let garbage = [&b"\xff\xfe\0"[..], &[0xc3; 4000]].concat();
    let names = [
        "pyproject.toml",
        "Cargo.toml",
        "Cargo.lock",
        "poetry.lock",
        "uv.lock",
        "pdm.lock",
        "pylock.toml",
        "Pipfile.lock",
        "requirements.txt",
        ".gitignore",
        ".git/config",
    ];
    for name in names {
        for text in [list.as_bytes(), json.as_bytes(), table.as_bytes(), &garbage] {
            let folder = Folder::new("beside");
            folder.write("a.py", SENTINEL).write(name, text);
            let ran = lint(&folder.0, &["--output-format", "json"]);
            let found = places(&ran).contains(&"a.py:5 [unbounded-retry]".to_owned());
            // A settings file that may be ours must be one.
            let told = ran.code == Some(2) && ran.err.starts_with(&format!("stormlint: {name}:"));
            assert!(found && ran.code == Some(1) || told, "{name}: {} {}", ran.err, ran.out);
        }
    }
    for (asked, name) in [(&["."] as &[&str], "stormlint.toml"), (&["--baseline", "base.json"], "base.json")] {
        for text in [list.as_bytes(), json.as_bytes(), table.as_bytes(), &garbage] {
            let folder = Folder::new("asked");
            folder.write("a.py", SENTINEL).write(name, text);
            let ran = lint(&folder.0, asked);
            assert_eq!((ran.code, ran.err.lines().count()), (Some(2), 1), "{name}: {}", ran.err);
            assert!(ran.err.starts_with("stormlint: ") && ran.err.contains(name), "{name}: {}", ran.err);
        }
    }
}

/// A project may hold links to what never ends: nothing waits for it, nothing is read into memory without a limit.
#[cfg(target_os = "linux")]
#[test]
fn links_to_what_never_ends_are_passed_over() {
    let beside = ["Cargo.toml", "Cargo.lock", "requirements.txt", "poetry.lock", "pyproject.toml", "b.py", "b.rs"];
    let lists = [".gitignore", ".ignore", ".git/info/exclude"];
    for target in ["/dev/zero", "pipe"] {
        let folder = Folder::new("endless");
        folder.write("a.py", SENTINEL).write("src/lib.rs", "fn main() {}\n").write("sub/c.py", SENTINEL);
        let pipe = folder.0.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let target = if target == "pipe" { pipe } else { PathBuf::from(target) };
        for name in beside {
            std::os::unix::fs::symlink(&target, folder.0.join(name)).unwrap();
        }
        let ran = lint(&folder.0, &["--output-format", "json"]);
        let found = |ran: &super::Ran| places(ran).contains(&"a.py:5 [unbounded-retry]".to_owned());
        assert!(found(&ran) && ran.json()["files"] == 3, "{}", ran.err);
        for name in lists {
            let path = folder.0.join("sub").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(&target, &path).unwrap();
            let ran = lint(&folder.0, &["--output-format", "json", "--no-cache"]);
            assert!(found(&ran) && ran.code == Some(2), "{}", ran.err);
            assert!(ran.err.contains(&format!("stormlint: sub/{name}: not a regular file\n")), "{}", ran.err);
            let ran = lint(&folder.0.join("sub"), &["--output-format", "json", "--no-cache"]);
            assert!(ran.code == Some(2) && ran.err.contains(&format!("{name}: not a regular file\n")), "{}", ran.err);
            std::fs::remove_file(path).unwrap();
        }
        std::os::unix::fs::symlink(&target, folder.0.join("m.toml")).unwrap();
        folder.write("stormlint.toml", "models = [\"m.toml\"]\n");
        let ran = lint(&folder.0, &["--no-cache"]);
        assert!(ran.code == Some(2) && ran.err.ends_with(": neither a file nor a folder\n"), "{}", ran.err);
    }
    let folder = Folder::new("endless-named");
    folder.write("a.py", SENTINEL);
    let ran = lint(&folder.0, &["--config", "/dev/zero"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(2), "stormlint: /dev/zero: it does not end within a gigabyte\n"));
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_stormlint"))
        .args(["-", "--stdin-filename", "a.py"])
        .current_dir(&folder.0)
        .stdin(std::fs::File::open("/dev/zero").unwrap())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        (output.status.code(), &*said),
        (Some(2), "stormlint: standard input: it does not end within a gigabyte\n")
    );
}

/// What the sources could do, they would need these for: `git` is the one program that is run, and nothing is asked of a
/// network.
#[test]
fn no_code_is_run_and_no_network_is_asked() {
    fn texts(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                texts(&path, found);
            } else if !path.ends_with("tests.rs") {
                found.push((path.clone(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let mut all = Vec::new();
    texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut all);
    let having = |word: &str| -> Vec<String> {
        let with = all.iter().filter(|(_, text)| text.contains(word));
        with.map(|(path, _)| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
    };
    assert_eq!(having("Command::new("), ["vcs.rs"]);
    for word in ["std::net", "TcpStream", "UdpSocket", "libloading", "dlopen"] {
        assert_eq!(having(word), [""; 0], "{word}");
    }
}
