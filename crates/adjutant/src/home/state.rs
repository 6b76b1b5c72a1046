//! Where a home keeps its state: the record, the lock, the run folders, the server's log and `server.json`.
//!
//! The state lies where no cleaning of the working tree reaches it: in `adjutant/<name>/` below the directory
//! that all working trees of the repository share, and in `.adjutant/state/` where there is no repository.
//! `--state DIR` or `ADJUTANT_STATE` names another folder, and then nothing else counts. State that lies
//! somewhere else is used there until a start moves it, see `moving.rs`.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use host::git::Checkout;
use sha2::{Digest as _, Sha256};

use super::HomeError;
use crate::environment::Environment;

/// Folder of all homes' state in a repository.
const IN_REPOSITORY: &str = "adjutant";
/// Folder of the state in a home that is in no repository.
const IN_HOME: &str = "state";
/// The usual name of the record.
pub(super) const DATABASE: &str = "state.db";
/// Note of a move that has begun and not ended; it names the folder that is left.
pub(super) const MOVING: &str = "moving-from";
/// Longest readable part of a folder's name.
const MAX_READABLE: usize = 48;

/// Where the state of a home lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placement {
    /// The folder in use
    pub(crate) dir: PathBuf,
    /// The folder that the next start moves it to, where it is another one
    pub(crate) wanted: Option<PathBuf>,
}

/// Finds the folder in which the state of the home `dir` lies, or would be made.
pub(super) fn place(dir: &Path, env: &Environment) -> Result<Placement, HomeError> {
    if let Some(named) = &env.state {
        let dir = super::canonical(&env.cwd.join(named));
        return Ok(Placement { dir, wanted: None });
    }
    let wanted = usual(dir);
    if wanted.join(MOVING).exists() {
        return Ok(Placement { dir: wanted, wanted: None });
    }
    let all = [wanted.clone(), dir.join(IN_HOME), dir.to_owned()];
    // Where the record has an absolute path, it may lie in the home while the rest of the same state does not.
    let is_elsewhere = wanted.join("runs").exists() && !wanted.join(DATABASE).exists();
    let counts = |dir: &PathBuf| {
        has_state(dir) && (*dir == wanted || !is_elsewhere || dir.join("runs").exists())
    };
    let mut there: Vec<PathBuf> = all.into_iter().filter(counts).collect();
    there.dedup();
    match there.as_slice() {
        [] => Ok(Placement { dir: wanted, wanted: None }),
        [only] if *only == wanted => Ok(Placement { dir: wanted, wanted: None }),
        [only] => Ok(Placement { dir: only.clone(), wanted: Some(wanted) }),
        [first, second, ..] => {
            Err(HomeError::TwoStates { first: first.clone(), second: second.clone() })
        }
    }
}

/// Returns whether a folder holds a record or run folders. Every server makes the latter before it serves; a restore that
/// was killed in the middle may have taken both away.
pub(super) fn has_state(dir: &Path) -> bool {
    [DATABASE, "runs", "restore/ready"].iter().any(|name| dir.join(name).exists())
}

/// The folder that a home's state belongs in.
pub(super) fn usual(dir: &Path) -> PathBuf {
    in_repository(dir).unwrap_or_else(|| dir.join(IN_HOME))
}

/// The folder in the repository around a home. Named for the working tree, by the name that the repository
/// gives it, and for the home's place in it; so it stays the same when the project is renamed or moved.
fn in_repository(dir: &Path) -> Option<PathBuf> {
    let checkout = Checkout::around(dir.parent()?)?;
    let inside = dir.strip_prefix(&checkout.top).ok()?;
    let tree = checkout.name.as_deref();
    let mut readable = String::from(if tree.is_some() { "worktree" } else { "main" });
    let folders = inside.parent().into_iter().flat_map(Path::components);
    for part in tree.into_iter().chain(folders.map(|part| part.as_os_str())) {
        readable.push('-');
        readable.extend(part.to_string_lossy().chars().map(plain));
    }
    let readable: String = readable.chars().take(MAX_READABLE).collect();
    let name = format!("{readable}-{}", digest(&[tree.unwrap_or_default(), inside.as_os_str()]));
    Some(checkout.common.join(IN_REPOSITORY).join(name))
}

/// Keeps what every file system takes in a name.
pub(super) fn plain(c: char) -> char {
    if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' }
}

/// Short hash that keeps homes apart whose readable names are the same.
pub(super) fn digest(parts: &[&OsStr]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        let bytes = part.as_encoded_bytes();
        hash.update(u64::try_from(bytes.len()).unwrap_or_default().to_be_bytes());
        hash.update(bytes);
    }
    hash.finalize().get(..4).map(hex).unwrap_or_default()
}

/// Bytes in lower-case hex.
pub(crate) fn hex(digest: &[u8]) -> String {
    digest.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns whether a home whose folder is gone has left its state here.
pub(super) fn remains(dir: &Path, env: &Environment) -> bool {
    match &env.state {
        Some(_) => false,
        None => in_repository(dir).is_some_and(|state| has_state(&state)),
    }
}
