//! A file that people change: found through links, locked, replaced whole.

use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::Code;
use host::files::{self, FileError, Lock, Mode};
use tokio::time::{Instant, interval};

use crate::cli_error::CliError;
use crate::home::{Home, good};

/// Poll interval for the lock.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Wait for another change to finish.
const LOCK_TIMEOUT: Duration = Duration::from_secs(30);

/// A file, as it was read.
#[derive(Debug)]
pub(crate) struct TextFile {
    /// Where it is, behind all links
    path: PathBuf,
    /// File permissions; `None` for a new file
    permissions: Option<Permissions>,
    /// Text
    pub(crate) text: String,
}

/// Waits until nobody else changes the configuration.
pub(crate) async fn lock(home: &Home) -> Result<Lock, CliError> {
    good::restore(&home.dir, home.state_dir())?;
    let path = home.dir.join("config.lock");
    let deadline = Instant::now() + LOCK_TIMEOUT;
    let mut look = interval(POLL_INTERVAL);
    loop {
        look.tick().await;
        if let Some(lock) = files::lock(&path)? {
            return Ok(lock);
        }
        if Instant::now() >= deadline {
            return Err(too_long());
        }
    }
}

/// The same, for a thread that may wait.
pub(crate) fn lock_blocking(home: &Home) -> Result<Lock, CliError> {
    good::restore(&home.dir, home.state_dir())?;
    let path = home.dir.join("config.lock");
    let tries = LOCK_TIMEOUT.as_millis() / POLL_INTERVAL.as_millis().max(1);
    for _ in 0..tries {
        if let Some(lock) = files::lock(&path)? {
            return Ok(lock);
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    Err(too_long())
}

fn too_long() -> CliError {
    let message = "another program has been changing the configuration for too long";
    CliError::new(Code::Conflict, message).hint("look for another `adjutant config set` that hangs")
}

impl TextFile {
    /// True if the file exists.
    pub(crate) fn is_there(&self) -> bool {
        self.permissions.is_some()
    }

    /// Reads the file; one that is not there says nothing.
    pub(crate) fn read(named: &Path) -> Result<Self, CliError> {
        let path = match fs::canonicalize(named) {
            Ok(path) => path,
            // A link to nowhere is something, and not to be replaced.
            Err(error) if error.kind() == ErrorKind::NotFound && !named.is_symlink() => {
                return Ok(Self { path: named.to_owned(), permissions: None, text: String::new() });
            }
            Err(error) => return Err(files::at("find", named)(error).into()),
        };
        let permissions = fs::metadata(&path).map_err(files::at("look at", &path))?.permissions();
        let text = files::read(&path)?.unwrap_or_default();
        Ok(Self { path, permissions: Some(permissions), text })
    }

    /// Writes the file whole, with the same mode, unless another process has changed it.
    pub(crate) fn write(&self, text: &str) -> Result<(), CliError> {
        let Self { path, permissions, text: before } = self;
        if permissions.as_ref().is_some_and(Permissions::readonly) {
            let message = format!("`{}` may only be read", path.display());
            return Err(CliError::new(Code::PermissionDenied, message)
                .hint("allow it with `chmod u+w`, or change what writes the file"));
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.edit", std::process::id()));
        let scratch = path.with_file_name(name);
        let written = replace(&scratch, path, text, permissions.as_ref(), before);
        if !matches!(written, Ok(true)) {
            files::remove(&scratch)?;
        }
        if written? {
            return Ok(());
        }
        let message =
            format!("`{}` was changed by another program at the same time", path.display());
        Err(CliError::new(Code::Conflict, message).hint("try again"))
    }
}

/// Replaces a file that has not changed since it was read, and returns whether it did.
fn replace(
    scratch: &Path,
    path: &Path,
    text: &str,
    permissions: Option<&Permissions>,
    before: &str,
) -> Result<bool, FileError> {
    let mode = if permissions.is_some() { Mode::Private } else { Mode::Shared };
    files::write(scratch, text, mode)?;
    if let Some(permissions) = permissions {
        fs::set_permissions(scratch, permissions.clone())
            .map_err(files::at("set the permissions of", scratch))?;
    }
    if files::read(path)?.unwrap_or_default() != *before {
        return Ok(false);
    }
    fs::rename(scratch, path).map_err(files::at("replace", path))?;
    Ok(true)
}
