//! Defaults that depend on the version of a library, which the project's lock files and manifests tell.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};

use common::{Folder, Ran, lint};

static FOLDERS: AtomicUsize = AtomicUsize::new(0);

const CLIENT: &str = "library = \"shopnet\"\nlanguage = \"python\"\npackage = \"shop-net\"\n\
    [[entry]]\nkind = \"type\"\nfunctions = [\"shopnet.Client\"]\ndefault-timeout = 10\nretries = { name = \"retries\" }\ndefault-retries = 2\nuntil = \"4\"\n\
    [[entry]]\nkind = \"type\"\nfunctions = [\"shopnet.Client\"]\ndefault-timeout = 10\nretries = { name = \"retries\" }\ndefault-retries = 15\nsince = \"4\"\n\
    [[entry]]\nkind = \"request\"\ntypes = [\"shopnet.Client\"]\nnames = [\"get\"]\nverb-is-name = true\nraises = [\"shopnet.Down\"]\n\
    [[entry]]\nkind = \"exception\"\nfunctions = [\"shopnet.Down\"]\nbases = [\"builtins.Exception\"]\n";

const PROGRAM: &str = "import time\n\nimport shopnet\n\n\ndef stock(item):\n    client = shopnet.Client(\"stock\")\n    \
    for attempt in range(4):\n        try:\n            return client.get(\"/stock/\" + item)\n        \
    except shopnet.Down:\n            if attempt == 3:\n                raise\n            time.sleep(2**attempt)\n";

fn folder(files: &[(&str, &str)]) -> Folder {
    let folder = Folder::new(&format!("versions-{}", FOLDERS.fetch_add(1, Ordering::Relaxed)));
    folder.write("stormlint.toml", "models = [\"shopnet.toml\"]\n");
    folder.write("shopnet.toml", CLIENT);
    folder.write("app/stock.py", PROGRAM);
    for (name, text) in files {
        folder.write(name, text);
    }
    folder
}

fn run(files: &[(&str, &str)]) -> Ran {
    lint(&folder(files).0, &["check", "app"])
}

fn says(files: &[(&str, &str)]) -> String {
    run(files).out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn without_a_lock_the_newest_is_assumed_and_said_so() {
    let said = says(&[]);
    assert!(said.contains("4 × 16 = 64 requests"), "{said}");
    assert!(said.contains("the newest shop-net is assumed: no lock file or manifest tells its version"), "{said}");
    let said = says(&[("requirements.txt", "shop-net>=1\n")]);
    assert!(said.contains("the newest shop-net is assumed"), "{said}");
}

#[test]
fn the_nearest_lock_tells_the_version() {
    let lock = |version: &str| format!("[[package]]\nname = \"Shop_Net\"\nversion = \"{version}\"\n");
    for name in ["uv.lock", "poetry.lock", "app/uv.lock"] {
        let said = says(&[(name, &lock("3.9.1"))]);
        assert!(said.contains("4 × 3 = 12 requests"), "{name}: {said}");
        assert!(said.contains(&format!("shop-net 3.9.1, by {name}")), "{name}: {said}");
    }
    let said = says(&[("uv.lock", &lock("3.9.1")), ("app/uv.lock", &lock("4.2"))]);
    assert!(said.contains("4 × 16") && said.contains("shop-net 4.2, by app/uv.lock"), "{said}");
    let said = says(&[("Pipfile.lock", "{\"default\": {\"shop-net\": {\"version\": \"==3.1\"}}}")]);
    assert!(said.contains("shop-net 3.1, by Pipfile.lock"), "{said}");
}

#[test]
fn a_manifest_tells_where_no_lock_does() {
    let manifest = "[project]\nname = \"shop\"\ndependencies = [\"shop-net>=3,<4\"]\n";
    let said = says(&[("pyproject.toml", manifest)]);
    assert!(said.contains("4 × 3") && said.contains("shop-net before 4, by pyproject.toml"), "{said}");
    let lock = "[[package]]\nname = \"shop-net\"\nversion = \"4.0\"\n";
    let said = says(&[("app/requirements.txt", "shop-net==3.0\n"), ("uv.lock", lock)]);
    assert!(said.contains("4 × 16") && said.contains("by uv.lock"), "{said}");
}

#[test]
fn a_broken_lock_is_told_of_and_nothing_is_lost() {
    let broken = "[[package]]\nname = \"shop-net\"\n<<<<<<< HEAD\nversion = \"3.9\"\n=======\n>>>>>>> other\n";
    let ran = run(&[("uv.lock", broken)]);
    assert!(ran.err.contains("uv.lock: line 3: a mark of a conflict that git left"), "{ran:?}");
    assert!(ran.out.contains("4 × 3 = 12") && ran.code != Some(2), "{ran:?}");
    let ran = run(&[("Pipfile.lock", "{\"default\": {\"shop-net\"")]);
    assert!(ran.err.contains("Pipfile.lock: line 1: ") && ran.err.contains("the newest is assumed"), "{ran:?}");
    assert!(ran.out.contains("4 × 16 = 64"), "{ran:?}");
}
