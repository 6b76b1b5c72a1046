//! A file that appears under its name only when all of it is on disk.
//!
//! It is written under a scratch name beside its own, synced, renamed, and the folder is synced. A
//! process that dies before the rename leaves the scratch file; the next writer takes it over. Two
//! writers of one file are kept apart by a lock on it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek as _, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;

use crate::files::{FileError, at};

/// A file under construction, readable by its owner alone.
#[derive(Debug)]
pub struct AtomicFile {
    file: File,
    scratch: PathBuf,
    path: PathBuf,
}

impl AtomicFile {
    /// Begins to write a file; an error where another process is at it.
    pub fn create(path: &Path) -> Result<Self, FileError> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".new");
        let scratch = path.with_file_name(name);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(&scratch).map_err(at("create", &scratch))?;
        let lock = || rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive);
        lock().map_err(|error| at("lock", &scratch)(error.into()))?;
        let emptied = file.set_len(0).and_then(|()| file.rewind());
        emptied.map_err(at("write", &scratch))?;
        Ok(Self { file, scratch, path: path.to_owned() })
    }

    /// Puts the file under its name, once it is on disk.
    pub fn commit(self) -> Result<(), FileError> {
        self.file.sync_all().map_err(at("write", &self.scratch))?;
        fs::rename(&self.scratch, &self.path).map_err(at("write", &self.path))?;
        sync_dir(self.path.parent().unwrap_or(Path::new(".")))
    }

    /// Gives the file up and removes what was written.
    pub fn discard(self) {
        // Best effort: the next writer takes it over.
        drop(fs::remove_file(&self.scratch));
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Waits until what was created, renamed or removed in a folder is on disk.
pub fn sync_dir(dir: &Path) -> Result<(), FileError> {
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(at("sync", dir))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_file_appears_whole_and_private_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("archive");
        let mut given_up = AtomicFile::create(&path).unwrap();
        given_up.write_all(b"a long text that nobody is to see").unwrap();
        assert!(!path.exists());
        assert!(AtomicFile::create(&path).is_err(), "one writer at a time");
        // As after a kill: the scratch file stays.
        drop(given_up);
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"text").unwrap();
        file.commit().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "text");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
