//! Ends what an agent left when its supervisor died before it could.
//!
//! Its processes are found by three marks: the run's control group, where it has one; the session of the
//! supervisor; and `ADJUTANT_RUN` in the environment. A process that has a session of its own and a cleared
//! environment is found by the first alone.

use std::path::Path;

use crate::files::FileError;

/// Ends every process of a run; says how many there were.
#[cfg(target_os = "linux")]
pub(super) fn sweep(folder: &Path) -> Result<u32, FileError> {
    use std::collections::BTreeSet;
    use std::io;
    use std::os::unix::ffi::OsStrExt as _;
    use std::time::Duration;

    use super::{RUN_VARIABLE, SupervisorRecord, cgroup, read_json};
    use crate::files::at;
    use crate::process;

    /// A process that was killed is gone in a moment, unless the disk holds it.
    const KILL_TIMEOUT: Duration = Duration::from_secs(5);

    let real = real_path(folder);
    let mark = [RUN_VARIABLE.as_bytes(), b"=", real.as_os_str().as_bytes()].concat();
    // The agent can write it: a record that makes no sense is none.
    let record: Option<SupervisorRecord> =
        read_json(&folder.join("supervisor.json")).ok().flatten();
    let group = record.as_ref().and_then(|record| record.cgroup.as_deref());
    let ended = cgroup::end_all(&real, group).map_err(at("end the processes of", folder))?;
    let mut ended: BTreeSet<u32> = ended.into_iter().collect();
    let session = record.as_ref().and_then(session_of);
    let deadline = process::monotonic() + KILL_TIMEOUT;
    loop {
        let found = marked(&mark, session).map_err(at("look for the processes of", folder))?;
        let Some(first) = found.first() else {
            super::socket::clean(folder)?;
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

/// A folder's path without links, also of one that is gone.
#[cfg(target_os = "linux")]
fn real_path(folder: &Path) -> std::path::PathBuf {
    for above in folder.ancestors() {
        if let (Ok(real), Ok(rest)) = (std::fs::canonicalize(above), folder.strip_prefix(above)) {
            return if rest == Path::new("") { real } else { real.join(rest) };
        }
    }
    folder.to_owned()
}

/// A session that a supervisor led.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy)]
struct SupervisorSession {
    /// Number of the session: the process id of its leader
    id: u32,
    /// Time of its start, in clock ticks since the boot
    started: u64,
}

/// The session of a supervisor that is gone; none where its number may mean another one by now.
#[cfg(target_os = "linux")]
fn session_of(record: &super::SupervisorRecord) -> Option<SupervisorSession> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let is_same_boot = record.boot_id.as_deref() == Some(boot.trim());
    // As long as a process is in the session, the kernel gives its number to no other.
    // A supervisor that was killed and is not reaped yet keeps the number too.
    let is_led = crate::process::is_alive(record.pid);
    let started = record.start_time.filter(|_| is_same_boot && !is_led)?;
    Some(SupervisorSession { id: record.pid, started })
}

/// The processes of the run. One that has ended has no environment.
#[cfg(target_os = "linux")]
fn marked(mark: &[u8], session: Option<SupervisorSession>) -> std::io::Result<Vec<u32>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
        // Those that went meanwhile and those of others cannot be read, and are not ours.
        let Ok(environment) = std::fs::read(format!("/proc/{pid}/environ")) else { continue };
        let is_marked = environment.split(|byte| *byte == 0).any(|variable| variable == mark);
        let is_in_session = || session.is_some_and(|session| is_member(pid, session));
        if pid != std::process::id() && (is_marked || is_in_session()) {
            found.push(pid);
        }
    }
    Ok(found)
}

/// Returns whether a process runs in a session, and not in an older one of the same number.
#[cfg(target_os = "linux")]
fn is_member(pid: u32, session: SupervisorSession) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name in brackets may itself hold brackets and spaces.
    let Some((_, rest)) = stat.rsplit_once(')') else { return false };
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok());
    let runs = !matches!(fields.first(), Some(&("Z" | "X")) | None);
    let is_own = |at: u64| at == u64::from(session.id);
    runs && number(3).is_some_and(is_own)
        && number(19).is_some_and(|started| started >= session.started)
}

/// Where others' environment cannot be seen, nobody can be told apart, and nobody is ended.
#[cfg(not(target_os = "linux"))]
pub(super) fn sweep(folder: &Path) -> Result<u32, FileError> {
    super::socket::clean(folder)?;
    Ok(0)
}
