//! Where a supervisor's socket is: in a private folder with a short path, on every system.
//!
//! An address of a socket has room for about a hundred bytes, less than a run folder's path may have. The
//! folder is `/tmp/adjutant-<uid>`, because `/run/user/<uid>` vanishes when its user logs out and agents go
//! on; it is the second choice, for when a stranger has taken the name in `/tmp`. `supervisor.json` in the run
//! folder has the path.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use super::{SupervisorRecord, read_json};
use crate::files::{self, FileError, at};

/// An address has room for this many bytes on every system we know.
const MAX_ADDRESS_BYTES: usize = 100;

/// The socket of a supervisor.
#[derive(Debug)]
pub(crate) struct Socket {
    path: PathBuf,
}

impl Socket {
    /// Listens at a new address.
    pub(crate) fn listen() -> Result<(Self, UnixListener), FileError> {
        let place = private_folder()?;
        let name = crate::random::bits().map_err(|error| at("name", &place)(error.into()))?;
        let path = place.join(format!("{name:016x}"));
        let listener = UnixListener::bind(&path).map_err(at("listen on", &path))?;
        listener.set_nonblocking(true).map_err(at("listen on", &path))?;
        Ok((Self { path }, listener))
    }

    /// The address.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Puts a link to the socket where a server of an earlier version looks for it.
    pub(crate) fn link_inside(&self, folder: &Path) {
        // Best effort: a server of this version does not need it.
        drop(std::os::unix::fs::symlink(&self.path, folder.join("control")));
    }

    /// Removes the socket and the link to it.
    pub(crate) fn remove(&self, folder: &Path) -> Result<(), FileError> {
        files::remove(&self.path)?;
        files::remove(&folder.join("control"))
    }
}

/// Connects to the supervisor of a run.
pub(super) async fn connect(folder: &Path) -> io::Result<tokio::net::UnixStream> {
    let stream = match noted(folder).map_err(|error| error.source)? {
        Some(path) => tokio::net::UnixStream::connect(path).await?,
        None => connect_inside(folder).await?,
    };
    // The agent can write the record, and listen itself where it leads.
    let pid = stream.peer_cred()?.pid().and_then(|pid| u32::try_from(pid).ok());
    let of = folder.to_owned();
    let known = tokio::task::spawn_blocking(move || super::holder::can_be(&of, pid));
    if !known.await.map_err(io::Error::other)?.map_err(|error| error.source)? {
        let why = "the process that listens there is not its supervisor";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    Ok(stream)
}

/// Connects to a supervisor of an earlier version, whose socket is in the run folder.
async fn connect_inside(folder: &Path) -> io::Result<tokio::net::UnixStream> {
    let path = folder.join("control");
    if path.as_os_str().len() <= MAX_ADDRESS_BYTES {
        return tokio::net::UnixStream::connect(path).await;
    }
    fs::symlink_metadata(&path)?;
    // A link gives a long path a short name for the moment that connecting takes.
    let place = private_folder().map_err(|error| error.source)?;
    let link = place.join(format!("{:016x}", crate::random::bits()?));
    std::os::unix::fs::symlink(folder, &link)?;
    let connected = tokio::net::UnixStream::connect(link.join("control")).await;
    fs::remove_file(&link)?;
    connected
}

/// The address that a supervisor's record has; none where it is of an earlier version.
fn noted(folder: &Path) -> Result<Option<PathBuf>, FileError> {
    let record: Option<SupervisorRecord> = read_json(&folder.join("supervisor.json"))?;
    Ok(record.and_then(|record| record.socket))
}

/// Removes what a supervisor that was killed has left. The record may be forged: nothing but a socket in
/// a folder of ours is removed.
pub(super) fn clean(folder: &Path) -> Result<(), FileError> {
    let Ok(Some(path)) = noted(folder) else { return Ok(()) };
    let is_ours = path.parent().is_some_and(|place| candidates().iter().any(|own| own == place));
    if is_ours && fs::symlink_metadata(&path).is_ok_and(|is| is.file_type().is_socket()) {
        files::remove(&path)?;
    }
    Ok(())
}

fn candidates() -> [PathBuf; 2] {
    let user = rustix::process::geteuid().as_raw();
    [format!("/tmp/adjutant-{user}").into(), format!("/run/user/{user}/adjutant").into()]
}

/// The first of the folders that can be ours alone; it is made where it is missing.
fn private_folder() -> Result<PathBuf, FileError> {
    let [first, second] = candidates();
    match own(&first) {
        Ok(()) => Ok(first),
        Err(error) => own(&second).map(|()| second).map_err(|_| at("use", &first)(error)),
    }
}

/// Makes a folder, or checks one that is there: a folder and no link, ours, closed to all others.
fn own(path: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = fs::symlink_metadata(path)?;
    let user = rustix::process::geteuid().as_raw();
    if !found.is_dir() || found.uid() != user || found.mode() & 0o077 != 0 {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("it must be a folder of user {user} with mode 0700; remove what is there"),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::run::write_json;

    #[test]
    fn the_folder_for_sockets_is_private_or_refused() {
        let dir = tempfile::tempdir().unwrap();
        let made = dir.path().join("made");
        own(&made).unwrap();
        assert_eq!(fs::metadata(&made).unwrap().mode() & 0o777, 0o700);
        own(&made).unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&made, &link).unwrap();
        assert!(own(&link).is_err(), "a link leads to where another wants");
        fs::set_permissions(&made, fs::Permissions::from_mode(0o750)).unwrap();
        assert!(own(&made).unwrap_err().to_string().contains("mode 0700"));
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(own(&file).is_err());
    }

    #[test]
    fn an_address_is_short_for_every_user() {
        let longest = format!("/run/user/{}/adjutant/{:016x}", u32::MAX, u64::MAX);
        assert!(longest.len() <= MAX_ADDRESS_BYTES, "{}", longest.len());
        assert!(private_folder().is_ok());
    }

    #[test]
    fn a_forged_record_removes_no_file_of_others() {
        let dir = tempfile::tempdir().unwrap();
        let precious = dir.path().join("precious");
        fs::write(&precious, "").unwrap();
        let record = SupervisorRecord {
            pid: 1,
            agent_pid: 1,
            started_at: model::Timestamp::from_millis(0),
            start_time: None,
            boot_id: None,
            cgroup: None,
            socket: Some(precious.clone()),
        };
        write_json(&dir.path().join("supervisor.json"), &record).unwrap();
        clean(dir.path()).unwrap();
        assert!(precious.exists());
    }
}
