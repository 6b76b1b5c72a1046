//! Locks that name their holder: who may be sent a signal is the kernel's word, never a file's.
//!
//! A server holds its lock twice. `flock` decides who serves a home; a record lock (`fcntl`) on the same file
//! lets others ask the kernel for the holder's process id. A lock that was taken without the second half, by an
//! older Adjutant, is looked up among the files that processes have open.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::FlockOperation;
use rustix::process::{Flock, FlockType, fcntl_getlk};

use crate::files::{FileError, Lock, at, lock_exclusive};

/// Holder of a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// Nobody holds it
    Nobody,
    /// This process holds it
    Process(u32),
    /// Held by a process that the system does not name, such as one of another container
    Unknown,
}

/// Takes the lock so that others can ask for its holder, or returns nothing where another process holds it.
///
/// The process must not open the file again: closing it a second time would take the name away.
pub fn lock(path: &Path) -> Result<Option<Lock>, FileError> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map_err(at("open", path))?;
    if !lock_exclusive(&file).map_err(at("lock", path))? {
        return Ok(None);
    }
    // The lock itself holds. Without its second half nobody is sent a signal, which is the safe side.
    _ = rustix::fs::fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive);
    Ok(Some(Lock::of(file)))
}

/// Asks the kernel who holds the lock. Keeps nothing.
pub fn holder(path: &Path) -> Result<Holder, FileError> {
    let file = match OpenOptions::new().read(true).write(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Holder::Nobody),
        Err(error) => return Err(at("open", path)(error)),
    };
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => return Ok(Holder::Nobody),
        Err(rustix::io::Errno::WOULDBLOCK) => {}
        Err(error) => return Err(at("look at the lock of", path)(error.into())),
    }
    let asked = Flock::from(FlockType::WriteLock);
    let named = fcntl_getlk(&file, &asked).ok().flatten().and_then(|lock| lock.pid);
    let named = named.and_then(|pid| u32::try_from(pid.as_raw_nonzero().get()).ok());
    Ok(named.or_else(|| listed(&file)).map_or(Holder::Unknown, Holder::Process))
}

/// The process that has the file open and holds its lock, by what `/proc` tells of every process.
///
/// `/proc/locks` would be shorter, but the kernel gives it in pieces: a lock that is let go of between two of them
/// shifts the rest, and one reading may lack an entry.
fn listed(file: &File) -> Option<u32> {
    let wanted = file.metadata().ok()?;
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let mut pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.find(|pid| {
        let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        let is_it = |meta: fs::Metadata| (meta.dev(), meta.ino()) == (wanted.dev(), wanted.ino());
        let mut open = open.filter(|entry| fs::metadata(entry.path()).is_ok_and(is_it));
        open.any(|entry| holds_lock(*pid, &entry.file_name()))
    })
}

/// True if the process took the lock of a file that it has open.
fn holds_lock(pid: u32, descriptor: &OsStr) -> bool {
    let path = Path::new("/proc").join(pid.to_string()).join("fdinfo").join(descriptor);
    let info = fs::read_to_string(path).unwrap_or_default();
    // As `lock: 1: FLOCK  ADVISORY  WRITE 4711 fe:01:1234567 0 EOF`
    info.lines().filter_map(|line| line.strip_prefix("lock:")).any(|lock| {
        let words: Vec<&str> = lock.split_ascii_whitespace().collect();
        matches!(words[..], [_, "FLOCK", _, "WRITE", holder, ..] if holder.parse() == Ok(pid))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::process::{self, Launch};

    /// A process that holds the lock without its second half, as an older server does.
    fn held_by_another(path: &Path, dir: &Path) -> process::Started {
        let launch = |program: &str, arguments: &[&str]| Launch {
            program: program.into(),
            arguments: arguments.iter().map(Into::into).collect(),
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
            directory: dir.to_owned(),
        };
        let made = launch("mkfifo", &["ready", "over"]);
        process::run(&made, std::time::Duration::from_secs(10)).unwrap();
        let script = "echo > ready; read x < over";
        let hold = ["-n", "-o", &path.display().to_string(), "sh", "-c", script].map(str::to_owned);
        let hold: Vec<&str> = hold.iter().map(String::as_str).collect();
        let started = process::start_sharing(&launch("flock", &hold)).unwrap();
        fs::read_to_string(dir.join("ready")).unwrap();
        started
    }

    #[test]
    fn a_lock_that_nobody_holds_has_no_holder() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        assert_eq!(holder(&path).unwrap(), Holder::Nobody, "no file");
        drop(lock(&path).unwrap().unwrap());
        assert_eq!(holder(&path).unwrap(), Holder::Nobody, "a file that nobody locked");
        let first = lock(&path).unwrap().unwrap();
        assert!(lock(&path).unwrap().is_none(), "it is held once");
        drop(first);
    }

    #[test]
    fn a_holder_is_named_while_other_locks_come_and_go() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let mut other = held_by_another(&path, dir.path());
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let names = (0..200).map(|number| dir.path().join(number.to_string()));
                    let held: Vec<_> = names.map(|name| lock(&name).unwrap()).collect();
                    drop(held);
                }
            });
            let named = (0..300).all(|_| holder(&path).unwrap() == Holder::Process(other.pid()));
            over.store(true, Ordering::Relaxed);
            assert!(named);
        });
        fs::write(dir.path().join("over"), "\n").unwrap();
        assert!(process::wait_gone(other.pid(), std::time::Duration::from_secs(10)));
        assert!(other.exited().unwrap().is_some());
    }

    #[test]
    fn a_lock_that_others_look_at_can_still_be_taken() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    holder(&path).unwrap();
                }
            });
            let taken = (0..20_000).all(|_| lock(&path).unwrap().is_some());
            over.store(true, Ordering::Relaxed);
            assert!(taken, "nobody owned it");
        });
    }

    #[test]
    fn the_kernel_names_the_process_that_holds_a_lock() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        fs::write(&path, "4711\n").unwrap();
        let mut other = held_by_another(&path, dir.path());
        let found = holder(&path).unwrap();
        assert_eq!(found, Holder::Process(other.pid()), "what the file says does not count");
        fs::write(dir.path().join("over"), "\n").unwrap();
        assert!(process::wait_gone(other.pid(), std::time::Duration::from_secs(10)));
        assert!(other.exited().unwrap().is_some());
        assert_eq!(holder(&path).unwrap(), Holder::Nobody);
    }
}
