//! Where a supervisor's socket is: in a private folder with a short path, on every system.
//!
//! An address of a socket has room for about a hundred bytes, less than a run folder's path may have. The
//! folder is `/tmp/adjutant-<uid>`, because `/run/user/<uid>` vanishes when its user logs out and agents go
//! on; it is the second choice, for when a stranger has taken the name in `/tmp`.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{read_json, write_json};
use crate::files::{self, FileError, at};

/// Where the path is noted, in the run folder.
const NOTE: &str = "socket.json";
/// An address has room for this many bytes on every system we know.
const MAX_ADDRESS_BYTES: usize = 100;

/// Where a supervisor listens, as `socket.json` has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Socket {
    path: PathBuf,
}

impl Socket {
    /// Listens at a new address and notes it in the run folder.
    pub(crate) fn listen(folder: &Path) -> Result<(Self, UnixListener), FileError> {
        let place = private_folder()?;
        let name = crate::random::bits().map_err(|error| at("name", &place)(error.into()))?;
        let path = place.join(format!("{name:016x}"));
        let listener = UnixListener::bind(&path).map_err(at("listen on", &path))?;
        listener.set_nonblocking(true).map_err(at("listen on", &path))?;
        let socket = Self { path };
        write_json(&folder.join(NOTE), &socket)?;
        Ok((socket, listener))
    }

    /// Puts a link to the socket where a server of an earlier version looks for it.
    pub(crate) fn link_inside(&self, folder: &Path) {
        // Best effort: a server of this version does not need it.
        drop(std::os::unix::fs::symlink(&self.path, folder.join("control")));
    }

    /// Removes the socket, the link to it and the note.
    pub(crate) fn remove(&self, folder: &Path) -> Result<(), FileError> {
        files::remove(&self.path)?;
        files::remove(&folder.join("control"))?;
        files::remove(&folder.join(NOTE))
    }
}

/// Connects to the supervisor of a run.
pub(super) async fn connect(folder: &Path) -> io::Result<tokio::net::UnixStream> {
    let noted: Option<Socket> = read_json(&folder.join(NOTE)).map_err(|error| error.source)?;
    let stream = match noted {
        Some(socket) => tokio::net::UnixStream::connect(socket.path).await?,
        None => connect_inside(folder).await?,
    };
    // The agent can write the note, and listen itself where it leads.
    let pid = stream.peer_cred()?.pid().and_then(|pid| u32::try_from(pid).ok());
    let of = folder.to_owned();
    let stranger = tokio::task::spawn_blocking(move || super::holder::is_stranger(&of, pid));
    if stranger.await.map_err(io::Error::other)? {
        let why = "whoever listens there is not its supervisor";
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

/// Removes what a supervisor that was killed has left. The note may be forged: nothing but a socket in
/// a folder of ours is removed.
pub(super) fn clean(folder: &Path) -> Result<(), FileError> {
    let note = folder.join(NOTE);
    let Ok(Some(Socket { path })) = read_json(&note) else { return Ok(()) };
    let is_ours = path.parent().is_some_and(|place| candidates().iter().any(|own| own == place));
    if is_ours && fs::symlink_metadata(&path).is_ok_and(|is| is.file_type().is_socket()) {
        files::remove(&path)?;
    }
    files::remove(&note)
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
    fn a_forged_note_removes_no_file_of_others() {
        let dir = tempfile::tempdir().unwrap();
        let precious = dir.path().join("precious");
        fs::write(&precious, "").unwrap();
        write_json(&dir.path().join(NOTE), &Socket { path: precious.clone() }).unwrap();
        clean(dir.path()).unwrap();
        assert!(precious.exists());
    }
}
