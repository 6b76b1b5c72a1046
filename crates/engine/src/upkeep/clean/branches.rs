//! Branches of agents that have ended: deleted where no commit is lost by it.

use std::collections::BTreeSet;

use host::git::{GitError, Repo};
use model::Timestamp;
use wire::cleanup::{CleanPart, CleanedPart};

use super::Mode;
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::delivery::worktree_setup::BRANCHES;

/// Deletes branches and rescue branches that another branch, remote branch or tag has. Blocks.
pub(super) fn clean(
    engine: &Core,
    before: Timestamp,
    mode: Mode,
) -> Result<CleanedPart, ToolError> {
    let mut done = CleanedPart::new(CleanPart::Branches);
    let candidates = engine.store.read(|tx| tx.branches_cleanable(before))?;
    if candidates.is_empty() {
        return Ok(done);
    }
    let repo = engine.repo(&engine.options.project)?;
    let there: BTreeSet<String> =
        repo.branches(BRANCHES)?.into_iter().map(|(name, _)| name).collect();
    let names = candidates.into_iter().flat_map(|one| one.rescued.into_iter().chain([one.branch]));
    for name in names.filter(|name| there.contains(name)) {
        match delete(&repo, &name, mode) {
            Ok(true) => done.removed += 1,
            Ok(false) => done.kept.push(format!("branch {name}: no other branch has its commits")),
            // One that cannot be deleted is no reason to keep the others.
            Err(error) => done.kept.push(format!("branch {name}: {error}")),
        }
    }
    Ok(done)
}

fn delete(repo: &Repo, name: &str, mode: Mode) -> Result<bool, GitError> {
    if mode == Mode::Count {
        repo.branch_is_deletable(name)
    } else {
        repo.branch_delete_if_reachable(name)
    }
}
