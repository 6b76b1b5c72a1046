//! Copies of the record for backups, made while the server runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use host::files::{self, Mode, at};

use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::upkeep::service::Upkeep;

/// Age at which a copy that nobody fetched is removed.
const ABANDONED_MILLIS: i64 = 3_600_000;

impl Upkeep {
    /// Writes a copy of the record as it is now, for its caller to move away. Copies that a killed
    /// caller left are removed by a later one.
    pub async fn snapshot(&self) -> Result<PathBuf, ToolError> {
        self.outside(|engine| {
            let dir = engine.options.state.join("snapshots");
            files::make_dir(&dir, Mode::Private).map_err(ToolError::internal)?;
            remove_abandoned(engine, &dir).map_err(ToolError::internal)?;
            let bits = host::random::bits().map_err(ToolError::internal)?;
            let path = dir.join(format!("{bits:016x}.db"));
            let made = engine.store.snapshot(&path).map_err(ToolError::from);
            made.and_then(|()| make_private(&path).map_err(ToolError::internal)).inspect_err(
                |_| {
                    // A full disk is not helped by half a copy; if this fails too, a later call removes it.
                    drop(fs::remove_file(&path));
                },
            )?;
            Ok(path)
        })
        .await
    }
}

/// Removes copies that nobody fetched in time.
fn remove_abandoned(core: &Core, dir: &Path) -> Result<(), files::FileError> {
    for name in files::list(dir)? {
        let path = dir.join(name);
        let modified = fs::symlink_metadata(&path).and_then(|meta| meta.modified());
        let modified = modified.ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let millis = modified.map_or(0, |at| i64::try_from(at.as_millis()).unwrap_or(i64::MAX));
        if core.now().as_millis().saturating_sub(millis) > ABANDONED_MILLIS {
            files::remove(&path)?;
        }
    }
    Ok(())
}

/// Lets only the owner read the copy, and waits until it is on disk.
fn make_private(path: &Path) -> Result<(), files::FileError> {
    use std::os::unix::fs::PermissionsExt as _;
    let file = fs::File::open(path).map_err(at("open", path))?;
    file.set_permissions(fs::Permissions::from_mode(0o600)).map_err(at("protect", path))?;
    file.sync_all().map_err(at("write", path))
}
