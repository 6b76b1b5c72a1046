//! Taking folders away for good, so that a crash in the middle can be gone on from.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::files::{FileError, at};

/// Path of a folder while it is being removed.
pub fn going(path: &Path) -> PathBuf {
    beside(path, ".going")
}

/// A path that differs from another one in its end.
pub(super) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name: OsString = path.file_name().unwrap_or_default().to_owned();
    name.push(end);
    path.with_file_name(name)
}

/// Takes a folder away: first out of the way, in one step, then for good. Gone already is fine.
pub(super) fn discard(path: &Path) -> Result<(), FileError> {
    set_aside(path)?;
    remove(&going(path))
}

/// Puts a folder out of the way, in one step. Gone already is fine.
pub(super) fn set_aside(path: &Path) -> Result<(), FileError> {
    let going = going(path);
    remove(&going)?;
    match fs::rename(path, &going) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        renamed => renamed.map_err(at("move away", path)),
    }
}

/// Removes a folder with all that is in it; gone already is fine.
pub(super) fn remove(path: &Path) -> Result<(), FileError> {
    let remove = || match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => fs::remove_file(path),
        removed => removed,
    };
    match remove() {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            // Some tools write-protect the folders of their caches.
            unlock(path);
            remove().map_err(at("remove", path))
        }
        removed => removed.map_err(at("remove", path)),
    }
}

/// Lets the owner into all folders below. Where that fails, so does the removal, and says why.
fn unlock(folder: &Path) {
    if !fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir()) {
        return;
    }
    drop(fs::set_permissions(folder, fs::Permissions::from_mode(0o700)));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        unlock(&entry.path());
    }
}
