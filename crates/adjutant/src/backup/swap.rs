//! Putting what a backup holds in the place of what is there, so that a kill at any moment leaves the
//! old state, or one that the next start brings to the new.
//!
//! Everything is unpacked and checked first. Then `ready` is written: from here on it goes only
//! forward. The old things move aside, all of them; `aside` is written; the new things move in. Each
//! move is a rename that is skipped where it was done before.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use engine::Point;
use host::atomic_file::sync_dir;
use host::files::{self, FileError, Mode, at};
use model::Timestamp;

use super::{DATABASE, Places, point};
use crate::cli_error::CliError;
use crate::environment::Environment;

/// File that says that everything is unpacked, and where the old things go.
const READY: &str = "ready";
/// File that says that all old things are aside.
const ASIDE: &str = "aside";

/// Returns whether a restore was decided on and is not at its end.
pub(crate) fn is_pending(staging: &Path) -> bool {
    staging.join(READY).is_file()
}

/// The exchange of old and new.
#[derive(Debug)]
pub(crate) struct Swap<'a> {
    places: &'a Places,
    staging: &'a Path,
    env: &'a Environment,
}

impl<'a> Swap<'a> {
    /// The exchange for what is unpacked there.
    pub(crate) fn new(places: &'a Places, staging: &'a Path, env: &'a Environment) -> Self {
        Self { places, staging, env }
    }

    /// Decides on the exchange, and says where the old things go.
    pub(crate) fn decide(&self, now: Timestamp) -> Result<PathBuf, CliError> {
        let stamp = now.to_string().replace([':', '.'], "-");
        let aside = self.places.state.join(format!("replaced-{stamp}"));
        files::write(&self.staging.join(READY), &aside.display().to_string(), Mode::Private)?;
        sync_dir(self.staging)?;
        Ok(aside)
    }

    /// Brings an exchange that was decided on to its end.
    pub(crate) fn finish(&self) -> Result<(), CliError> {
        let ready = files::read(&self.staging.join(READY))?.unwrap_or_default();
        let aside = PathBuf::from(ready);
        if !self.staging.join(ASIDE).is_file() {
            self.move_aside(&aside)?;
            files::write(&self.staging.join(ASIDE), "", Mode::Private)?;
            sync_dir(self.staging)?;
        }
        for (name, place) in self.places.parts() {
            let staged = self.staging.join(name);
            if staged.exists() {
                rename(&staged, &place)?;
                point(self.env, Point::RestoreMoved);
            }
        }
        // First the file that says there is something to do.
        files::remove(&self.staging.join(READY))?;
        files::remove_tree(self.staging)?;
        Ok(())
    }

    fn move_aside(&self, aside: &Path) -> Result<(), CliError> {
        let mut old = self.places.parts();
        // The log of the old record must not be taken for that of the new one.
        for end in ["-wal", "-shm"] {
            let mut log = self.places.database.clone().into_os_string();
            log.push(end);
            let name = if end == "-wal" { "state.db-wal" } else { "state.db-shm" };
            old.insert(0, (name, log.into()));
        }
        old.extend(self.places.derived());
        for (name, place) in old.into_iter().filter(|(_, place)| place.exists()) {
            files::make_dir(aside, Mode::Private)?;
            let to = aside.join(name);
            if to.exists() {
                let message = format!("`{}` is there again; move it away", place.display());
                return Err(CliError::usage(message).hint("then run `adjutant up`"));
            }
            rename(&place, &to)?;
            if name == DATABASE {
                point(self.env, Point::RestoreAside);
            }
        }
        Ok(())
    }
}

/// Moves a file or folder; a file also from one file system to another, whole or not at all.
fn rename(from: &Path, to: &Path) -> Result<(), FileError> {
    if let Some(dir) = to.parent() {
        files::make_dir(dir, Mode::Private)?;
    }
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices && from.is_file() => {
            let mut target = host::atomic_file::AtomicFile::create(to)?;
            let mut source = fs::File::open(from).map_err(at("open", from))?;
            io::copy(&mut source, &mut target).map_err(at("write", to))?;
            target.commit()?;
            files::remove(from)?;
        }
        moved => moved.map_err(at("move", from))?,
    }
    sync_dir(to.parent().unwrap_or(Path::new(".")))
}
