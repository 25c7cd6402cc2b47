//! Files that are written whole or not at all: the text goes into a temporary file beside the target, which takes its
//! place at the end. An interrupt removes what is not whole yet.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

use tempfile::NamedTempFile;

/// Temporary files that are not in place yet.
static PENDING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The exit code of a process that was interrupted, as shells have it.
const INTERRUPTED: i32 = 130;

/// A text that is written, and not in its place yet. Dropped, it is removed.
pub(super) struct Ready {
    /// `None` where the target is no regular file (a device, a pipe), which was written to straight away.
    temporary: Option<(NamedTempFile, PathBuf)>,
}

/// Writes what is to stand at `path`.
pub(super) fn prepare(path: &Path, print: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Ready> {
    // Where the path is a link, what it leads to is replaced, and the link stays.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let old = fs::metadata(&target).ok();
    match &old {
        Some(old) if old.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Some(old) if !old.is_file() => {
            super::output::into(File::options().write(true).open(&target)?, print)?;
            return Ok(Ready { temporary: None });
        }
        _ => {}
    }
    let ready = Ready { temporary: Some((create(&target)?, target)) };
    if let Some((temporary, _)) = &ready.temporary {
        let file = temporary.as_file();
        super::output::into(file, print)?;
        if let Some(old) = old {
            file.set_permissions(old.permissions())?;
        }
        // A full disk may show only here.
        file.sync_all()?;
    }
    Ok(ready)
}

impl Ready {
    /// Puts it in its place.
    pub(super) fn put(mut self) -> io::Result<()> {
        let Some((temporary, target)) = self.temporary.take() else { return Ok(()) };
        let mut pending = PENDING.lock().unwrap_or_else(PoisonError::into_inner);
        pending.retain(|path| path != temporary.path());
        temporary.persist(target).map(|_| ()).map_err(|error| error.error)
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        if let Some((temporary, _)) = self.temporary.take() {
            PENDING.lock().unwrap_or_else(PoisonError::into_inner).retain(|path| path != temporary.path());
        }
    }
}

fn create(target: &Path) -> io::Result<NamedTempFile> {
    static WATCHED: Once = Once::new();
    // Without the handler an interrupt leaves a temporary file behind: no reason not to write.
    WATCHED.call_once(|| drop(ctrlc::set_handler(remove_pending)));
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".stormlint-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Less what the umask takes away, as for any other file.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    // An interrupt comes before both or after both.
    let mut pending = PENDING.lock().unwrap_or_else(PoisonError::into_inner);
    let temporary = builder.tempfile_in(folder)?;
    pending.push(temporary.path().to_path_buf());
    Ok(temporary)
}

fn remove_pending() {
    let pending = PENDING.lock().unwrap_or_else(PoisonError::into_inner);
    for path in pending.iter() {
        let _ = fs::remove_file(path);
    }
    std::process::exit(INTERRUPTED);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn text(text: &str) -> impl FnOnce(&mut dyn Write) -> io::Result<()> {
        move |out| out.write_all(text.as_bytes())
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_changes_only_when_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        fs::write(&path, "old").unwrap();
        let ready = prepare(&path, text("new")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        ready.put().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");

        let failed = prepare(&path, |out| {
            out.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert_eq!(failed.err().unwrap().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        drop(prepare(&path, text("not wanted")).unwrap());
        assert_eq!(
            (fs::read_to_string(&path).unwrap().as_str(), names(folder.path())),
            ("new", vec!["a.json".to_owned()])
        );
        assert!(PENDING.lock().unwrap().iter().all(|pending| !pending.starts_with(folder.path())));
    }

    #[test]
    fn a_folder_is_no_file() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(prepare(folder.path(), text("")).err().unwrap().kind(), io::ErrorKind::IsADirectory);
        assert!(prepare(&folder.path().join("no/such"), text("")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, "old").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("real", &link).unwrap();
        prepare(&link, text("new")).unwrap().put().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
        prepare(Path::new("/dev/null"), text("new")).unwrap().put().unwrap();
    }
}
