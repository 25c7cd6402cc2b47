//! Which lines were changed: by what `git` says, or by a patch.
//!
//! `git` is asked as a program, in the repository that the checked files are in, so that whatever it is told about (work
//! trees, sparse checkouts, attributes) holds. What users have set to their liking (pagers, colours, prefixes, other
//! programs for diffs) is switched off.

pub mod patch;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

pub use patch::Lines;
use patch::{Changed, NoDiff};

use crate::source::text_of;

/// The changed lines of each file, by its real path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    files: BTreeMap<PathBuf, Lines>,
    /// Files that a patch names and that are not there.
    pub missing: Vec<String>,
}

impl Changes {
    /// What was changed in a file.
    #[must_use]
    pub fn of(&self, path: &Path) -> Option<&Lines> {
        self.files.get(&real(path))
    }

    /// Whether no file that is there was changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Those of both.
    #[must_use]
    pub fn and(mut self, other: Changes) -> Changes {
        self.files.extend(other.files);
        self.missing.extend(other.missing);
        self
    }
}

/// Why it could not be found out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// `git` is not there.
    #[error("`git` could not be run ({0}); it is what says which lines were changed")]
    NoGit(std::io::Error),
    /// Not in a repository.
    #[error("{0} is not in a git repository: there is nothing to compare with ({1})")]
    NoRepository(String, String),
    /// A name of nothing.
    #[error("git knows no commit `{name}` here: {}", if *.shallow {
        "this is a shallow clone, so fetch the branch with its history first (`git fetch --unshallow origin`; on GitHub, \
         `fetch-depth: 0` at the checkout)"
    } else {
        "fetch the branch first (`git fetch origin`), or write it with its remote (`origin/main`)"
    })]
    UnknownCommit {
        /// The name.
        name: String,
        /// The history is cut.
        shallow: bool,
    },
    /// No commit that both sides come from.
    #[error("`{name}` and the checked-out commit have no commit in common{}", if *.shallow {
        ": this is a shallow clone, which lacks the history (`git fetch --unshallow origin`; on GitHub, `fetch-depth: 0` \
         at the checkout)"
    } else {
        "; compare with a branch of the same history"
    })]
    NoCommonCommit {
        /// The name.
        name: String,
        /// The history is cut.
        shallow: bool,
    },
    /// Anything else that `git` has to say.
    #[error("`git {0}` failed: {1}")]
    Git(String, String),
    /// What it is given.
    #[error(transparent)]
    NoDiff(#[from] NoDiff),
}

/// The lines that differ from the commit at which the checked-out branch left `base`: those of commits, staged, not
/// staged, and all of files that are not tracked. `folder` is somewhere in the repository.
///
/// # Errors
/// See [`Error`].
pub fn since(base: &str, folder: &Path) -> Result<Changes, Error> {
    let git = Git { folder: folder.to_path_buf(), ..Git::default() };
    let root = git.root()?;
    let git = Git { folder: root.clone(), ..Git::default() };
    let shallow = || git.text(&["rev-parse", "--is-shallow-repository"]).is_ok_and(|said| said == "true");
    let commit = format!("{base}^{{commit}}");
    if base.starts_with('-') || git.text(&["rev-parse", "--verify", "--quiet", &commit]).is_err() {
        return Err(Error::UnknownCommit { name: base.to_owned(), shallow: shallow() });
    }
    let Ok(from) = git.text(&["merge-base", base, "HEAD"]) else {
        return Err(Error::NoCommonCommit { name: base.to_owned(), shallow: shallow() });
    };
    let new = git.run(&["ls-files", "--others", "--exclude-standard", "--full-name", "-z"])?;
    let arguments = [
        "-c",
        "core.quotePath=off",
        "diff",
        "--no-ext-diff",
        "--no-textconv",
        // A source is text, whatever .gitattributes says of it.
        "--text",
        "--no-color",
        "--no-relative",
        "--find-renames",
        "--ignore-submodules=all",
        "--src-prefix=a/",
        "--dst-prefix=b/",
        "--unified=0",
        "--inter-hunk-context=0",
        "--diff-algorithm=histogram",
        &from,
        "--",
    ];
    let diff = git.run(&arguments)?;
    // Moved by hand, a file is seen to be the one that is gone only if git is told of it.
    let is_gone = text_of(&diff).lines().any(|line| line.starts_with("deleted file mode "));
    let told = if is_gone { git.told_of(&root, &new) } else { None };
    let diff = told.as_ref().map_or(Ok(diff), |(git, _)| git.run(&arguments))?;
    let mut changes = Changes::default();
    for Changed { name, lines, .. } in patch::read(&text_of(&diff))? {
        changes.files.insert(real(&root.join(name.strip_prefix("b/").unwrap_or(&name))), lines);
    }
    for name in names(&new).filter(|_| told.is_none()) {
        changes.files.insert(real(&root.join(text_of(name))), Lines { all: true, ..Lines::default() });
    }
    Ok(changes)
}

/// The lines that a patch adds. Its names are taken from the root of the repository or from the working directory, with
/// or without the folder (`b/`) that stands before them, whichever is there.
///
/// # Errors
/// It is no diff.
pub fn patched(text: &str, root: &Path, cwd: &Path) -> Result<Changes, Error> {
    let mut changes = Changes::default();
    for Changed { name, lines, from_git } in patch::read(text)? {
        let inner = name.split_once('/').map(|(_, inner)| inner);
        let is_prefixed = from_git && matches!(name.as_bytes(), [b'a' | b'b' | b'c' | b'i' | b'o' | b'w', b'/', ..]);
        let names = if is_prefixed { [inner, Some(&name)] } else { [Some(name.as_str()), inner] };
        let folders = if from_git { [root, cwd] } else { [cwd, root] };
        let mut tries = names.into_iter().flatten().flat_map(|name| folders.map(|folder| folder.join(name)));
        match tries.find(|path| path.is_file()) {
            Some(path) => drop(changes.files.insert(real(&path), lines)),
            None => changes.missing.push(name.clone()),
        }
    }
    Ok(changes)
}

/// Without links on the way, so that two names of one file are one.
fn real(path: &Path) -> PathBuf {
    let folder = || Some(std::fs::canonicalize(path.parent()?).ok()?.join(path.file_name()?));
    std::fs::canonicalize(path).ok().or_else(folder).unwrap_or_else(|| path.to_path_buf())
}

/// The names in a list of `git`'s, each closed by a zero byte.
fn names(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|byte| *byte == 0).filter(|name| !name.is_empty())
}

#[derive(Default)]
struct Git {
    folder: PathBuf,
    /// What it is told by its environment.
    environment: Vec<(&'static str, PathBuf)>,
}

impl Git {
    /// A `git` that knows these untracked files, by a copy of its index in a temporary folder; `None` where that cannot
    /// be had. Nothing is written to the repository.
    fn told_of(&self, root: &Path, untracked: &[u8]) -> Option<(Git, tempfile::TempDir)> {
        names(untracked).next()?;
        let path = |what| Some(root.join(self.text(&["rev-parse", "--git-path", what]).ok()?));
        let folder = tempfile::tempdir().ok()?;
        let [index, list, objects] = ["index", "list", "objects"].map(|name| folder.path().join(name));
        match std::fs::copy(path("index")?, &index) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return None,
            _ => {}
        }
        std::fs::write(&list, untracked).ok()?;
        std::fs::create_dir(&objects).ok()?;
        let environment = vec![
            ("GIT_INDEX_FILE", index),
            ("GIT_OBJECT_DIRECTORY", objects),
            ("GIT_ALTERNATE_OBJECT_DIRECTORIES", path("objects")?),
            ("GIT_LITERAL_PATHSPECS", PathBuf::from("1")),
        ];
        let git = Git { folder: self.folder.clone(), environment };
        let list = format!("--pathspec-from-file={}", list.to_str()?);
        git.run(&["add", "--intent-to-add", "--pathspec-file-nul", &list]).ok()?;
        Some((git, folder))
    }

    fn run(&self, arguments: &[&str]) -> Result<Vec<u8>, Error> {
        let mut command = Command::new("git");
        // A program that the repository names is not run to ask it what changed.
        command.args(["-c", "core.fsmonitor=false"]);
        command.arg("--no-pager").arg("-C").arg(&self.folder).args(arguments.iter().map(OsStr::new));
        command.env("LC_ALL", "C").env("GIT_OPTIONAL_LOCKS", "0").env_remove("GIT_DIFF_OPTS");
        // Hooks are run with these set, for the folder that they are run in.
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"] {
            command.env_remove(name);
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(std::process::Stdio::null());
        let output = command.output().map_err(Error::NoGit)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let verb = arguments.iter().find(|argument| !argument.starts_with('-') && !argument.contains('='));
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it did not say why").trim();
        Err(Error::Git(verb.copied().unwrap_or_default().to_owned(), said.to_owned()))
    }

    fn text(&self, arguments: &[&str]) -> Result<String, Error> {
        self.run(arguments).map(|out| String::from_utf8_lossy(&out).trim_end_matches(['\n', '\r']).to_owned())
    }

    fn root(&self) -> Result<PathBuf, Error> {
        match self.text(&["rev-parse", "--show-toplevel"]) {
            Ok(root) => Ok(PathBuf::from(root)),
            Err(Error::Git(_, said)) => Err(Error::NoRepository(self.folder.display().to_string(), said)),
            Err(other) => Err(other),
        }
    }
}
