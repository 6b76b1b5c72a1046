//! Ends what an agent left when its supervisor died before it could.

use std::path::Path;

use crate::files::FileError;

/// Ends every process that has the run's folder in its environment; says how many there were.
#[cfg(target_os = "linux")]
pub(super) fn sweep(folder: &Path) -> Result<u32, FileError> {
    use std::collections::BTreeSet;
    use std::io;
    use std::os::unix::ffi::OsStrExt as _;
    use std::time::Duration;

    use super::RUN_VARIABLE;
    use crate::files::at;
    use crate::process;

    /// A process that was killed is gone in a moment, unless the disk holds it.
    const PATIENCE: Duration = Duration::from_secs(5);

    let real = std::fs::canonicalize(folder).map_err(at("find", folder))?;
    let mark = [RUN_VARIABLE.as_bytes(), b"=", real.as_os_str().as_bytes()].concat();
    let mut ended = BTreeSet::new();
    let deadline = process::monotonic() + PATIENCE;
    loop {
        let found = marked(&mark).map_err(at("look for the processes of", folder))?;
        let Some(first) = found.first() else {
            return Ok(u32::try_from(ended.len()).unwrap_or(u32::MAX));
        };
        for pid in &found {
            process::kill(*pid).map_err(at("end the processes of", folder))?;
            ended.insert(*pid);
        }
        let left = deadline.saturating_duration_since(process::monotonic());
        if !process::wait_gone(*first, left) {
            let late = io::Error::new(io::ErrorKind::TimedOut, "they do not go");
            return Err(at("end the processes of", folder)(late));
        }
    }
}

/// The processes that have this in their environment. One that has ended has no environment.
#[cfg(target_os = "linux")]
fn marked(mark: &[u8]) -> std::io::Result<Vec<u32>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
        // Those that went meanwhile and those of others cannot be read, and are not ours.
        let Ok(environment) = std::fs::read(format!("/proc/{pid}/environ")) else { continue };
        let is_marked = environment.split(|byte| *byte == 0).any(|variable| variable == mark);
        if is_marked && pid != std::process::id() {
            found.push(pid);
        }
    }
    Ok(found)
}

/// Where others' environment cannot be seen, nobody can be told apart, and nobody is ended.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "it can fail where it does something")]
pub(super) fn sweep(_folder: &Path) -> Result<u32, FileError> {
    Ok(0)
}
