//! A control group for each run, where the user may make one: all that an agent starts is born in it and
//! cannot leave it by a session, a cleared environment or the death of its supervisor.
//!
//! Only version 2 of control groups can end a whole group. One is used where the group that this process
//! is in can be written by its user ("delegated"); elsewhere there is none, and sweeping finds processes
//! by other marks.
#![cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "there are groups on Linux alone")
)]

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use crate::process;

/// Time limit for a killed group to become empty.
const EMPTY_TIMEOUT: Duration = Duration::from_secs(5);
/// Poll interval until a group is empty.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// The control group of a run.
#[derive(Debug)]
pub(crate) struct Cgroup {
    path: PathBuf,
    /// By which a process is started in it
    folder: File,
}

impl Cgroup {
    /// Makes a group inside `parent` for the run in this folder; none where this process may not.
    pub(crate) fn create(parent: &Path, folder: &Path) -> Option<Self> {
        let name = format!("{}{}", prefix(folder)?, std::process::id());
        let path = parent.join(name);
        fs::create_dir(&path).ok()?;
        if let Ok(folder) = File::open(&path) {
            return Some(Self { path, folder });
        }
        // Best effort: an empty group harms nobody.
        drop(fs::remove_dir(&path));
        None
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The open folder, by which a process is started in the group.
    pub(crate) fn folder(&self) -> &File {
        &self.folder
    }

    /// Takes the group away, once all of it is gone.
    pub(crate) fn remove(self) {
        // Best effort: an empty group harms nobody.
        drop(fs::remove_dir(&self.path));
    }
}

/// Ends every process that is in the groups of a run; gives the processes there were. `noted` is where its supervisor
/// says that its group is, and is believed only if it has the run's name.
pub(super) fn end_all(folder: &Path, noted: Option<&Path>) -> io::Result<Vec<u32>> {
    let Some(prefix) = prefix(folder) else { return Ok(Vec::new()) };
    let is_named = |path: &Path| {
        path.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with(&prefix))
    };
    let mount = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mount = mount_of(&mount).map(|(_, point)| point);
    let noted = noted.filter(|path| is_named(path) && is_below(path, mount.as_deref()));
    let mut groups: Vec<PathBuf> = noted.map(Path::to_owned).into_iter().collect();
    for entry in own().and_then(|own| fs::read_dir(own).ok()).into_iter().flatten().flatten() {
        let path = entry.path();
        if is_named(&path) && !groups.contains(&path) {
            groups.push(path);
        }
    }
    let mut ended = Vec::new();
    for group in groups.iter().filter(|group| group.join("cgroup.procs").exists()) {
        ended.extend(end(group)?);
    }
    Ok(ended)
}

/// Returns whether a path leads into the mounted groups and not out of them again.
fn is_below(path: &Path, mount: Option<&Path>) -> bool {
    let is_plain = path.components().all(|part| part != std::path::Component::ParentDir);
    is_plain && mount.is_some_and(|mount| path.starts_with(mount))
}

/// Ends every process that is in one group and takes it away.
fn end(group: &Path) -> io::Result<Vec<u32>> {
    let (this, mut ended) = (std::process::id(), Vec::new());
    let deadline = process::monotonic() + EMPTY_TIMEOUT;
    loop {
        let members = members(group)?;
        if members.is_empty() {
            // One that has groups in it stays, empty.
            drop(fs::remove_dir(group));
            return Ok(ended);
        }
        // Were this process in it, the kernel would not spare it.
        if members.contains(&this) || fs::write(group.join("cgroup.kill"), "1").is_err() {
            for pid in members.iter().filter(|pid| **pid != this) {
                process::kill(*pid)?;
            }
        }
        ended.extend(members.into_iter().filter(|pid| *pid != this));
        ended.sort_unstable();
        ended.dedup();
        if process::monotonic() >= deadline {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "they do not go"));
        }
        process::pause(POLL_INTERVAL);
    }
}

/// Those who are in a group and run, or in one inside it.
fn members(group: &Path) -> io::Result<Vec<u32>> {
    let text = match fs::read_to_string(group.join("cgroup.procs")) {
        Ok(text) => text,
        // Gone, or with its last member going: there is nobody.
        Err(error) if matches!(error.raw_os_error(), Some(2 | 19)) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let pids = text.lines().filter_map(|line| line.trim().parse().ok());
    let mut all: Vec<u32> = pids.filter(|pid| process::is_alive(*pid)).collect();
    for entry in fs::read_dir(group).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            all.extend(members(&entry.path())?);
        }
    }
    Ok(all)
}

/// Name prefix of a run's groups: the last two parts of its folder, agent and attempt.
fn prefix(folder: &Path) -> Option<String> {
    let attempt = folder.file_name()?.to_str()?;
    let agent = folder.parent()?.file_name()?.to_str()?;
    Some(format!("adjutant-{agent}-{attempt}-"))
}

/// The group that this process was in when it was first asked for.
pub(super) fn own() -> Option<&'static Path> {
    static OWN_GROUP: OnceLock<Option<PathBuf>> = OnceLock::new();
    let find = || {
        let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        locate(&groups, &mounts)
    };
    OWN_GROUP.get_or_init(find).as_deref()
}

/// Where a process's group is mounted, from `/proc/<pid>/cgroup` and `/proc/<pid>/mountinfo`.
fn locate(groups: &str, mounts: &str) -> Option<PathBuf> {
    let group = Path::new(groups.lines().find_map(|line| line.strip_prefix("0::"))?);
    let (root, point) = mount_of(mounts)?;
    // A group outside of what is mounted cannot be reached.
    let inside = group.strip_prefix(root).ok()?;
    let is_plain = inside.components().all(|part| part != std::path::Component::ParentDir);
    is_plain.then(|| if inside == Path::new("") { point.clone() } else { point.join(inside) })
}

/// A mounted part of the cgroup tree.
fn mount_of(mounts: &str) -> Option<(PathBuf, PathBuf)> {
    mounts.lines().find_map(|line| {
        let (mount, kind) = line.split_once(" - ")?;
        if kind.split(' ').next() != Some("cgroup2") {
            return None;
        }
        let mut fields = mount.split(' ').skip(3);
        Some((fields.next()?.into(), fields.next()?.into()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIFIED_MOUNT: &str =
        "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";

    #[test]
    fn the_group_of_a_process_is_found_where_it_is_mounted() {
        let found = locate("0::/user.slice/user-1000.slice/app\n", UNIFIED_MOUNT);
        assert_eq!(found, Some("/sys/fs/cgroup/user.slice/user-1000.slice/app".into()));
        let hybrid = "40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n\
                      41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
        let found = locate("4:memory:/x\n0::/\n", hybrid);
        assert_eq!(found, Some("/sys/fs/cgroup/unified".into()));
        let part = "29 23 0:26 /docker/1 /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n";
        assert_eq!(locate("0::/docker/1/a\n", part), Some("/sys/fs/cgroup/a".into()));
    }

    #[test]
    fn a_group_that_is_not_mounted_is_not_used() {
        assert_eq!(locate("4:memory:/x\n", UNIFIED_MOUNT), None, "version 1 alone");
        assert_eq!(locate("0::/x\n", "23 1 0:1 / / rw - ext4 /dev/sda rw\n"), None);
        assert_eq!(locate("0::/../other\n", UNIFIED_MOUNT), None, "outside of the namespace");
        let part = "29 23 0:26 /docker/1 /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n";
        assert_eq!(locate("0::/docker/2\n", part), None);
    }

    #[test]
    fn a_note_is_believed_only_inside_the_mounted_groups() {
        let mount = Some(Path::new("/sys/fs/cgroup"));
        assert!(is_below(Path::new("/sys/fs/cgroup/a/adjutant-sp_1-1-7"), mount));
        assert!(!is_below(Path::new("/sys/fs/cgroup/../x/adjutant-sp_1-1-7"), mount));
        assert!(!is_below(Path::new("/elsewhere/adjutant-sp_1-1-7"), mount));
        assert!(!is_below(Path::new("/sys/fs/cgroup/a"), None));
        assert_eq!(prefix(Path::new("/h/runs/sp_1/2")).as_deref(), Some("adjutant-sp_1-2-"));
    }
}
