//! Foretells which branches are in each other's way, before one of them is merged.

use std::collections::BTreeSet;

use host::git::{GitError, MergeOutcome, Repo};
use model::{TaskId, Timestamp};
use wire::merges::{BranchOverlap, ConflictView};

use super::view::conflicts_of;
use crate::delivery::reviews::FEEDBACK_FILE;
use crate::delivery::worktree_setup::ourselves;

/// Pairs that are test-merged; for the others only files are listed.
const PAIRS: usize = 300;
/// Files listed per pair.
const FILES: usize = 100;

/// A branch that is to go into another.
#[derive(Debug, Clone)]
pub(super) struct Branch {
    /// The task it belongs to
    pub(super) task: TaskId,
    /// Its slug
    pub(super) slug: String,
    /// The commit that is to be merged
    pub(super) commit: String,
    /// Into which branch
    pub(super) target: String,
    /// Where that stands
    pub(super) target_head: String,
    /// The files it changes
    pub(super) files: BTreeSet<String>,
}

/// Conflicts between a commit and its target.
pub(super) fn trial(repo: &Repo, into: &str, commit: &str) -> Result<Vec<ConflictView>, GitError> {
    match repo.merge_trees(into, commit)? {
        MergeOutcome::Clean { .. } => Ok(Vec::new()),
        MergeOutcome::Conflicts(conflicts) => Ok(conflicts_of(&conflicts)),
        MergeOutcome::Unrelated => {
            Err(GitError::Unrelated { ours: into.to_owned(), theirs: commit.to_owned() })
        }
    }
}

/// For each branch, which of the others touch the same files, and whether they fit.
pub(super) fn foretell(
    repo: &Repo,
    branches: &[Branch],
) -> Result<Vec<Vec<BranchOverlap>>, GitError> {
    let mut overlaps: Vec<Vec<BranchOverlap>> = vec![Vec::new(); branches.len()];
    let mut tried = 0;
    for (at, first) in branches.iter().enumerate() {
        let mut after = None;
        for (place, second) in branches.iter().enumerate().skip(at + 1) {
            let same = first.target == second.target && first.task != second.task;
            let shared: Vec<String> = first.files.intersection(&second.files).cloned().collect();
            if !same || shared.is_empty() {
                continue;
            }
            tried += 1;
            let conflicts = if tried > PAIRS {
                None
            } else {
                let into = match &after {
                    Some(into) => into,
                    None => after.insert(merged(repo, first)?),
                };
                Some(trial(repo, into, &second.commit)?)
            };
            let files: Vec<String> = shared.into_iter().take(FILES).collect();
            for (here, other) in [(at, second), (place, first)] {
                let (files, conflicts) = (files.clone(), conflicts.clone());
                let overlap = BranchOverlap {
                    task_id: other.task,
                    slug: other.slug.clone(),
                    files,
                    conflicts,
                };
                if let Some(list) = overlaps.get_mut(here) {
                    list.push(overlap);
                }
            }
        }
    }
    Ok(overlaps)
}

/// The commit that its target would stand at once a branch is in; the branch itself where it does not fit.
/// Made at the beginning of time, so that looking again makes the same one.
fn merged(repo: &Repo, branch: &Branch) -> Result<String, GitError> {
    let MergeOutcome::Clean { tree } = repo.merge_trees(&branch.target_head, &branch.commit)?
    else {
        return Ok(branch.commit.clone());
    };
    let who = ourselves(Timestamp::from_millis(0));
    repo.commit_merge(&tree, &[&branch.target_head, &branch.commit], "Forecast", &who)
}

/// The files that a branch changes, without feedback.
pub(super) fn files(repo: &Repo, from: &str, to: &str) -> Result<BTreeSet<String>, GitError> {
    let files = repo.changed_files(from, to)?;
    Ok(files.into_iter().filter(|file| file != FEEDBACK_FILE).collect())
}
