//! Moves a home's state to the folder where it belongs, at the start of a server.
//!
//! Both locks are held meanwhile, so that no server, old or new, writes to either folder. A note in the new
//! folder says that a move is under way; each entry is moved by one rename; the note goes last. So a crash at any
//! point loses nothing, and the next start finds the note and moves what is left. Nothing is moved while an agent
//! runs: its supervisor knows its run folder by path.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use host::files::{self, FileError, Lock, Mode};
use host::run::{RunFolder, RunStatus};

use super::{Home, HomeError, state};

/// Entries of a home's folder that an older Adjutant kept there, beside the record.
const OLD_ENTRIES: [&str; 8] = [
    "runs",
    "server.log",
    "server.log.1",
    "server.json",
    "last-good",
    // Those of a server that could not move the state yet, and of a restore.
    "archive",
    "home",
    "restore",
];
/// Suffixes of the files that SQLite keeps for a database.
const DATABASE_SUFFIXES: [&str; 4] = ["", "-wal", "-shm", "-journal"];
/// Depth at which run folders are looked for below `runs`.
const RUN_DEPTH: usize = 3;

/// Outcome of moving a state folder.
#[derive(Debug)]
pub(crate) enum Moved {
    /// It is there now, and this is the lock of the new folder
    Done(Home, Lock),
    /// It stays where it is, because an agent runs
    Later,
    /// Another process holds the lock of the new folder
    Busy,
}

/// Moves the state to where it belongs. The caller holds the lock of the folder it lies in.
pub(crate) fn begin(home: &Home, database: &str) -> Result<Moved, HomeError> {
    let Some(to) = home.wanted_state_dir() else { return Ok(Moved::Later) };
    if has_live_run(&home.runs(), RUN_DEPTH)? {
        return Ok(Moved::Later);
    }
    make_folder(to)?;
    let Some(lock) = host::owner::lock(&to.join("server.lock"))? else { return Ok(Moved::Busy) };
    let inside = home.state_dir().strip_prefix(&home.dir).unwrap_or(Path::new(""));
    files::write(&to.join(state::MOVING), &inside.to_string_lossy(), Mode::Private)?;
    let moved =
        Home { state: state::Placement { dir: to.to_owned(), wanted: None }, ..home.clone() };
    carry(home.state_dir(), to, database)?;
    Ok(Moved::Done(moved, lock))
}

/// Finishes a move that a crash has interrupted. The caller holds the lock of the new folder.
pub(crate) fn finish(home: &Home, database: &str) -> Result<(), HomeError> {
    let to = home.state_dir();
    let Some(inside) = files::read(&to.join(state::MOVING))? else { return Ok(()) };
    let from = home.dir.join(inside.trim());
    let old = from.join("server.lock");
    // An older Adjutant may have been started there since.
    let alone = if old.exists() { Some(files::lock(&old)?) } else { None };
    if matches!(alone, Some(None)) {
        return Err(HomeError::TwoStates { first: from, second: to.to_owned() });
    }
    carry(&from, to, database)
}

/// Makes the folder of a state, for its owner alone. One that is there already, because a person named it, stays as it is.
pub(crate) fn make_folder(dir: &Path) -> Result<(), FileError> {
    files::make_dir(dir, Mode::Private)
}

fn carry(from: &Path, to: &Path, database: &str) -> Result<(), HomeError> {
    for name in entries(from, database)? {
        move_entry(&from.join(&name), &to.join(&name))?;
    }
    for dir in [to, from] {
        sync(dir)?;
    }
    files::remove(&from.join("server.lock"))?;
    files::remove(&to.join(state::MOVING))?;
    if from.file_name() == Some("state".as_ref()) {
        // Files that are not ours stay.
        drop(fs::remove_dir(from));
    }
    Ok(())
}

/// The entries that are moved, in order, by their names in either folder.
fn entries(from: &Path, database: &str) -> Result<Vec<PathBuf>, FileError> {
    let beside = |name: &&PathBuf| from.join(name).symlink_metadata().is_ok();
    let record = DATABASE_SUFFIXES.map(|suffix| PathBuf::from(format!("{database}{suffix}")));
    let record = record.into_iter().filter(|_| Path::new(database).is_relative());
    let rest: Vec<PathBuf> = if from.file_name() == Some("state".as_ref()) {
        let all = files::list(from)?.into_iter().map(PathBuf::from);
        all.filter(|name| name != Path::new("server.lock")).collect()
    } else {
        OLD_ENTRIES.map(PathBuf::from).into()
    };
    let mut all: Vec<PathBuf> = record.collect();
    all.extend(rest.into_iter().filter(|name| !name.to_string_lossy().starts_with(database)));
    Ok(all.iter().filter(beside).cloned().collect())
}

fn move_entry(from: &Path, to: &Path) -> Result<(), HomeError> {
    if to.symlink_metadata().is_ok() {
        return Err(HomeError::TwoStates { first: to.to_owned(), second: from.to_owned() });
    }
    if let Some(parent) = to.parent() {
        files::make_dir(parent, Mode::Private)?;
    }
    match fs::rename(from, to) {
        // The repository lies on another file system.
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            let mut scratch = to.as_os_str().to_owned();
            scratch.push(".part");
            let scratch = PathBuf::from(scratch);
            remove(&scratch)?;
            copy(from, &scratch)?;
            fs::rename(&scratch, to).map_err(files::at("move", from))?;
            if let Some(parent) = to.parent() {
                sync(parent)?;
            }
            Ok(remove(from)?)
        }
        moved => Ok(moved.map_err(files::at("move", from))?),
    }
}

/// Copies a file or a folder to the disk. Sockets and pipes of a run that has ended are left behind.
fn copy(from: &Path, to: &Path) -> Result<(), FileError> {
    let meta = fs::symlink_metadata(from).map_err(files::at("look at", from))?;
    if meta.is_dir() {
        files::make_dir(to, Mode::Private)?;
        for name in files::list(from)? {
            copy(&from.join(&name), &to.join(&name))?;
        }
        return sync(to);
    }
    if meta.is_symlink() {
        let target = fs::read_link(from).map_err(files::at("read", from))?;
        return std::os::unix::fs::symlink(target, to).map_err(files::at("write", to));
    }
    if meta.is_file() {
        fs::copy(from, to).map_err(files::at("copy", from))?;
        return sync(to);
    }
    Ok(())
}

fn remove(path: &Path) -> Result<(), FileError> {
    let is_dir = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    if !is_dir {
        return files::remove(path);
    }
    fs::remove_dir_all(path).map_err(files::at("remove", path))
}

fn sync(path: &Path) -> Result<(), FileError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(files::at("sync", path))
}

/// Returns whether an agent, a hook or a check runs from one of the run folders.
fn has_live_run(dir: &Path, depth: usize) -> Result<bool, FileError> {
    if dir.join("lock").exists() && matches!(RunFolder::open(dir).standing()?, RunStatus::Running) {
        return Ok(true);
    }
    if depth == 0 {
        return Ok(false);
    }
    for name in files::list(dir)? {
        let below = dir.join(name);
        let is_dir = fs::symlink_metadata(&below).is_ok_and(|meta| meta.is_dir());
        if is_dir && has_live_run(&below, depth - 1)? {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests;
