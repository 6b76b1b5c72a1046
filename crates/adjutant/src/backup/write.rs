//! Writing a backup.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use engine::{Code, Point, SCHEMA_VERSION};
use host::atomic_file::AtomicFile;
use host::files::{self, at};
use sha2::{Digest as _, Sha256};

use super::{
    DATABASE, FORMAT, KEPT_BY_SERVER, MANIFEST, Manifest, Places, SUMS, WRITTEN_BY_PEOPLE,
};
use super::{hex, is_ours, point, sha256};
use crate::app::now;
use crate::cli_error::CliError;
use crate::environment::Environment;

/// A backup to be written.
#[derive(Debug)]
pub(crate) struct Backup<'a> {
    /// Where everything is
    pub(crate) places: &'a Places,
    /// The copy of the record
    pub(crate) snapshot: &'a Path,
    /// True if the raw output of agents is included
    pub(crate) with_output: bool,
    /// Environment of this process
    pub(crate) env: &'a Environment,
}

/// Contents of a written backup.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written {
    /// Number of files, manifest and sums not counted
    pub(crate) files: usize,
    /// Total bytes of these files
    pub(crate) bytes: u64,
}

/// A file that goes in, as long as it was when it was looked at.
struct Entry {
    name: String,
    path: PathBuf,
    bytes: u64,
    sha256: String,
}

impl Backup<'_> {
    /// Writes the file under a scratch name, and puts it under its own once it is on disk.
    pub(crate) fn write(&self, file: &Path) -> Result<Written, CliError> {
        let mut entries = vec![Entry::of(DATABASE.to_owned(), self.snapshot.to_owned())?];
        for name in WRITTEN_BY_PEOPLE {
            self.collect(name, &self.places.home.join(name), &mut entries)?;
        }
        for name in KEPT_BY_SERVER {
            self.collect(name, &self.places.state.join(name), &mut entries)?;
        }
        let whole = AtomicFile::create(file)?;
        let mut tar = tar::Builder::new(whole);
        match fill(&mut tar, &entries) {
            Ok(()) => {}
            Err(cli_error) => {
                if let Ok(whole) = tar.into_inner() {
                    whole.discard();
                }
                return Err(cli_error);
            }
        }
        let whole = tar.into_inner()?;
        point(self.env, Point::BackupWritten);
        whole.commit()?;
        let bytes = entries.iter().map(|entry| entry.bytes).sum();
        Ok(Written { files: entries.len(), bytes })
    }

    /// Collects a file, or all files below a folder, in order.
    fn collect(&self, name: &str, path: &Path, into: &mut Vec<Entry>) -> Result<(), CliError> {
        let Ok(mut meta) = fs::symlink_metadata(path) else { return Ok(()) };
        // People may link a whole part or a file. A folder further down may lead round in a circle, and agents can
        // write to run folders.
        if meta.is_symlink() && !name.starts_with("runs/") {
            let is_part = !name.contains('/');
            match fs::metadata(path) {
                Ok(linked) if is_part || linked.is_file() => meta = linked,
                _ => return Ok(()),
            }
        }
        if meta.is_dir() {
            for child in files::list(path)? {
                let Some(child_name) = child.to_str() else {
                    let named = path.join(&child).display().to_string();
                    let message = format!("`{named}` has a name that is not UTF-8; rename it");
                    return Err(CliError::new(Code::InvalidInput, message));
                };
                self.collect(&format!("{name}/{child_name}"), &path.join(child_name), into)?;
            }
        } else if meta.is_file() && is_ours(name) && self.wants(name) {
            into.push(Entry::of(name.to_owned(), path.to_owned())?);
        }
        Ok(())
    }

    /// Of a run only how it began and ended, and its output where that is wanted: the rest has secrets
    /// or means nothing elsewhere.
    fn wants(&self, name: &str) -> bool {
        if !name.starts_with("runs/") {
            return true;
        }
        let file = name.rsplit('/').next().unwrap_or_default();
        let is_output = file.starts_with("output") && file.ends_with("jsonl");
        name.matches('/').count() == 3
            && (matches!(file, "claim" | "exit.json") || (self.with_output && is_output))
    }
}

impl Entry {
    fn of(name: String, path: PathBuf) -> Result<Self, CliError> {
        let (mut file, bytes) = open(&path)?;
        let mut digest = Sha256::new();
        let read = copy(&mut file, bytes, |part| {
            digest.update(part);
            Ok(())
        });
        read.map_err(at("read", &path))?;
        Ok(Self { name, path, bytes, sha256: hex(&digest.finalize()) })
    }
}

/// Opens a file that must be a plain one; whatever else is in its place does not make us wait.
fn open(path: &Path) -> Result<(File, u64), CliError> {
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let file = opened.map_err(at("open", path))?;
    let meta = file.metadata().map_err(at("open", path))?;
    if !meta.is_file() {
        return Err(CliError::usage(format!("`{}` is not a plain file", path.display())));
    }
    Ok((file, meta.len()))
}

/// Reads so many bytes, which must be there.
fn copy(
    from: &mut impl Read,
    bytes: u64,
    mut each: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let (mut left, mut buffer) = (bytes, vec![0; 64 << 10]);
    while left > 0 {
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let some = from.read(&mut buffer[..most])?;
        if some == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        each(&buffer[..some])?;
        left -= u64::try_from(some).unwrap_or(left);
    }
    Ok(())
}

fn fill(tar: &mut tar::Builder<AtomicFile>, entries: &[Entry]) -> Result<(), CliError> {
    let created_at = now();
    let manifest = Manifest {
        format: FORMAT,
        adjutant: env!("CARGO_PKG_VERSION").to_owned(),
        schema: SCHEMA_VERSION,
        created_at,
    };
    let manifest = serde_json::to_string(&manifest).map_err(io::Error::from)?;
    let manifest = format!("{manifest}\n");
    let mut sums = format!("{}  {MANIFEST}\n", sha256(manifest.as_bytes()));
    for entry in entries {
        sums.extend([entry.sha256.as_str(), "  ", entry.name.as_str(), "\n"]);
    }
    let seconds = u64::try_from(created_at.as_millis() / 1000).unwrap_or_default();
    let header = |bytes: u64| {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes);
        header.set_mode(0o600);
        header.set_mtime(seconds);
        header
    };
    for (name, text) in [(MANIFEST, &manifest), (SUMS, &sums)] {
        let bytes = u64::try_from(text.len()).unwrap_or_default();
        tar.append_data(&mut header(bytes), name, text.as_bytes())?;
    }
    for entry in entries {
        let (file, bytes) = open(&entry.path)?;
        let mut summed = Summed { file: file.take(entry.bytes), digest: Sha256::new() };
        if bytes >= entry.bytes {
            tar.append_data(&mut header(entry.bytes), &entry.name, &mut summed)?;
        }
        if hex(&summed.digest.finalize()) != entry.sha256 {
            let message = format!("`{}` changed while it was backed up", entry.path.display());
            return Err(CliError::new(Code::Conflict, message).hint("run `adjutant backup` again"));
        }
    }
    tar.finish()?;
    tar.get_mut().flush()?;
    Ok(())
}

/// A reader that sums up what is read.
struct Summed {
    file: io::Take<File>,
    digest: Sha256,
}

impl Read for Summed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let some = self.file.read(buffer)?;
        self.digest.update(&buffer[..some]);
        Ok(some)
    }
}
