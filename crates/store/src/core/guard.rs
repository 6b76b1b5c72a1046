//! Guard against replaced files: the record and its lock must still be the files that were opened.
//!
//! They may be removed or replaced while the server runs, as when the folder is cleaned or the project renamed.
//! SQLite would go on writing to a file without a name. So each commit is preceded and followed by a look at every
//! path; one that now leads elsewhere fails the commit, and nobody is told that anything was kept.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::core::error::StoreError;

/// Files that must stay what they are. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct FileGuard(Arc<[(PathBuf, FileId)]>);

/// Device and inode: the same for every name of one file.
type FileId = (u64, u64);

impl FileGuard {
    pub(crate) fn new<'a>(paths: impl Iterator<Item = &'a Path>) -> Result<Self, StoreError> {
        let known = paths.map(|path| match id_of(path) {
            Ok(id) => Ok((path.to_owned(), id)),
            Err(error) => Err(replaced(path, &error.to_string())),
        });
        Ok(Self(known.collect::<Result<_, _>>()?))
    }

    /// Refuses where a path leads to another file, or to none.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        for (path, known) in self.0.iter() {
            match id_of(path) {
                Ok(id) if id == *known => {}
                Ok(_) => return Err(replaced(path, "another file has its place")),
                Err(error) => return Err(replaced(path, &error.to_string())),
            }
        }
        Ok(())
    }
}

fn id_of(path: &Path) -> io::Result<FileId> {
    fs::metadata(path).map(|meta| (meta.dev(), meta.ino()))
}

fn replaced(path: &Path, why: &str) -> StoreError {
    StoreError::Replaced { path: path.display().to_string(), why: why.to_owned() }
}

/// Makes an empty file of the owner's alone, unless there is one. Closing a database file lets go of every lock
/// that the process has on it, so the file gets its name only once it is closed.
fn create(path: &Path) -> io::Result<()> {
    static SCRATCH_FILE_COUNTER: AtomicU64 = AtomicU64::new(0);
    if path.exists() {
        return Ok(());
    }
    let mut name = path.as_os_str().to_owned();
    name.push(format!(
        ".{}.{}.new",
        std::process::id(),
        SCRATCH_FILE_COUNTER.fetch_add(1, Ordering::Relaxed)
    ));
    let scratch = PathBuf::from(name);
    drop(OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&scratch)?);
    let linked = fs::hard_link(&scratch, path);
    fs::remove_file(&scratch)?;
    linked
}

/// Makes the database and what lies beside it the owner's alone. SQLite gives new files the mode of the database.
pub(crate) fn make_private(path: &Path) {
    // What cannot be changed is used as it is: opening it says what is wrong, and `doctor` who may read it.
    drop(create(path));
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        let Ok(meta) = fs::metadata(&name) else { continue };
        let mode = meta.permissions().mode();
        if mode & 0o077 != 0 {
            drop(fs::set_permissions(&name, fs::Permissions::from_mode(mode & 0o700)));
        }
    }
}
