//! What git knows, read from its files where that is enough: a call's commit costs no process.

mod changes;

use std::fs;
use std::path::{Path, PathBuf};

pub use changes::{ChangesError, Git};

/// The commit that is checked out in the repository around `dir`, if there is one.
pub fn head(dir: &Path) -> Option<String> {
    let git_dir = dir.ancestors().find_map(git_dir)?;
    let head = fs::read_to_string(git_dir.join("HEAD")).ok()?;
    let Some(name) = head.trim().strip_prefix("ref: ") else { return hash(&head) };
    // A worktree keeps its own HEAD and shares the branches of the main repository.
    let common = match fs::read_to_string(git_dir.join("commondir")) {
        Ok(text) => git_dir.join(text.trim()),
        Err(_) => git_dir,
    };
    let loose = fs::read_to_string(common.join(name)).ok().and_then(|text| hash(&text));
    loose.or_else(|| {
        let packed = fs::read_to_string(common.join("packed-refs")).ok()?;
        let line = packed.lines().find(|line| line.split(' ').nth(1) == Some(name))?;
        hash(line.split(' ').next()?)
    })
}

fn git_dir(dir: &Path) -> Option<PathBuf> {
    let dot = dir.join(".git");
    if dot.is_dir() {
        return Some(dot);
    }
    let text = fs::read_to_string(&dot).ok()?;
    Some(dir.join(text.strip_prefix("gitdir: ")?.trim()))
}

fn hash(text: &str) -> Option<String> {
    let text = text.trim();
    let hex = matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit());
    hex.then(|| text.to_owned())
}
