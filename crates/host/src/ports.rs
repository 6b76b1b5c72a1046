//! Ranges of ports for worktrees. Each claim is a file that is named after the first port and holds the path of the
//! worktree, in a folder that all homes of a user share; a claim whose worktree is gone is free again. So claims
//! survive restarts, and end with their worktrees by themselves.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::files::{self, FileError, Mode};

/// Ports of one worktree.
pub const PORTS_PER_WORKTREE: u16 = 10;
/// The first port that is given out. The last ones end below those that systems choose by themselves.
const FIRST: u16 = 20_000;
/// First port of the last range.
const LAST: u16 = 32_000;
/// Longest path that a claim holds.
const MAX_PATH: u64 = 16 << 10;
/// Attempts to take the lock, and the pause between two of them.
const ATTEMPTS: u32 = 500;
const RETRY_DELAY: Duration = Duration::from_millis(10);

/// Why a worktree has no ports.
#[derive(Debug, thiserror::Error)]
pub enum PortsError {
    /// All are given out or in use.
    #[error("all ports from {FIRST} to {} are in use", LAST + PORTS_PER_WORKTREE - 1)]
    NoneFree,
    /// Another process holds the lock.
    #[error("another process holds the list of ports for too long")]
    Busy,
    /// The claims cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The first port of a worktree's range: the one it has, or a free one.
pub fn claim(folder: &Path, worktree: &Path) -> Result<u16, PortsError> {
    files::make_dir(folder, Mode::Private)?;
    let _lock = lock(&folder.join("lock"))?;
    let mut free = None;
    for first in (FIRST..=LAST).step_by(PORTS_PER_WORKTREE.into()) {
        match holder(folder, first) {
            Some(holder) if Path::new(&holder) == worktree => return Ok(first),
            Some(holder) if Path::new(&holder).exists() => {}
            // A worktree keeps what it has, so the rest is looked at too.
            _ if free.is_none() && are_unused(first) => free = Some(first),
            Some(_) | None => {}
        }
    }
    let first = free.ok_or(PortsError::NoneFree)?;
    let path = worktree.display().to_string();
    files::write_quickly(&folder.join(first.to_string()), &path, Mode::Private)?;
    Ok(first)
}

/// The first port of the range that a worktree has.
pub fn claimed(folder: &Path, worktree: &Path) -> Option<u16> {
    let names = files::list(folder).ok()?;
    let ports = names.iter().filter_map(|name| name.to_str()?.parse().ok());
    ports
        .into_iter()
        .find(|&first| holder(folder, first).is_some_and(|holder| Path::new(&holder) == worktree))
}

fn holder(folder: &Path, first: u16) -> Option<String> {
    let bytes = files::read_bytes(&folder.join(first.to_string()), MAX_PATH).ok()?;
    String::from_utf8(bytes).ok().filter(|path| !path.is_empty())
}

/// Returns whether nobody listens on any port of a range.
fn are_unused(first: u16) -> bool {
    (first..first + PORTS_PER_WORKTREE).all(|port| {
        let is_free = |address: SocketAddr| TcpListener::bind(address).map(drop);
        let everywhere = is_free((Ipv4Addr::UNSPECIFIED, port).into());
        let on_v6 = is_free((Ipv6Addr::LOCALHOST, port).into());
        let in_use = |tried: &io::Result<()>| {
            tried.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse)
        };
        !in_use(&everywhere) && !in_use(&on_v6)
    })
}

fn lock(path: &Path) -> Result<files::Lock, PortsError> {
    for _ in 0..ATTEMPTS {
        if let Some(lock) = files::lock(path)? {
            return Ok(lock);
        }
        thread::sleep(RETRY_DELAY);
    }
    Err(PortsError::Busy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::fs;

    #[test]
    fn each_worktree_keeps_its_own_range_until_it_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join(".ports");
        let trees: Vec<_> = (0..5).map(|number| dir.path().join(format!("w{number}"))).collect();
        for tree in &trees {
            fs::create_dir(tree).unwrap();
        }
        let all: Vec<u16> = thread::scope(|scope| {
            let claims: Vec<_> =
                trees.iter().map(|tree| scope.spawn(|| claim(&folder, tree).unwrap())).collect();
            claims.into_iter().map(|claim| claim.join().unwrap()).collect()
        });
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), 5, "{all:?}");
        for (tree, port) in trees.iter().zip(&all) {
            assert_eq!(claim(&folder, tree).unwrap(), *port, "the same after a restart");
            assert_eq!(claimed(&folder, tree), Some(*port));
        }
        assert_eq!(claimed(&folder, &dir.path().join("other")), None);
        let first = all.iter().position(|port| port == all.iter().min().unwrap()).unwrap();
        fs::remove_dir(&trees[first]).unwrap();
        let next = dir.path().join("next");
        fs::create_dir(&next).unwrap();
        assert_eq!(claim(&folder, &next).unwrap(), all[first], "released with its worktree");
    }

    #[test]
    fn ports_in_use_are_not_given_out() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join(".ports");
        let tree = dir.path().join("w");
        fs::create_dir(&tree).unwrap();
        let port = claim(&folder, &tree).unwrap();
        fs::remove_file(folder.join(port.to_string())).unwrap();
        // Another test may listen there by now; then it is in use all the same.
        let _listens = TcpListener::bind((Ipv4Addr::LOCALHOST, port + 3));
        assert_ne!(claim(&folder, &tree).unwrap(), port);
    }
}
