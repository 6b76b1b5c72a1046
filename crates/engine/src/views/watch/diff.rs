//! Changes of an agent: its branch against its target, and uncommitted work.

use std::path::Path;

use host::git::{Diff, DiffFile, Repo};
use model::AgentId;
use model::review::{PullState, WorktreeState};
use store::{Merge, Tx, Worktree};
use wire::agents::{AgentDiff, ChangedFileView, CommitView};

use crate::call::cx::find_agent;
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::delivery::worktree_setup::settled;
use crate::views::service::Views;

/// A patch is no longer than this.
const PATCH: usize = 2 * 1024 * 1024;
/// Maximum number of files listed.
const FILES: usize = 5000;
/// Commits listed.
const COMMITS: usize = 200;

/// Recorded facts about an agent's work.
#[derive(Debug)]
struct Work {
    worktree: Option<Worktree>,
    /// Its work, as it was merged
    merge: Option<Merge>,
    /// True if GitHub merged it
    is_pulled: bool,
    /// True if it works in another agent's folder
    is_guest: bool,
}

impl Work {
    fn of(tx: &Tx<'_>, id: AgentId) -> Result<Self, ToolError> {
        let agent = find_agent(tx, id)?;
        let merge = agent.task.map(|task| tx.merge_of(task)).transpose()?.flatten();
        let pull = tx.pull_of(id)?;
        Ok(Self {
            worktree: tx.worktree_of(id)?,
            merge: merge.filter(|merge| merge.agent == Some(id) && merge.merged.is_some()),
            is_pulled: pull.is_some_and(|pull| pull.state == PullState::Merged),
            is_guest: agent.kind == "enlisted" || agent.cwd.is_some(),
        })
    }
}

impl Views {
    /// Loads an agent's changes from git, on a blocking thread and outside any transaction.
    pub async fn agent_diff(&self, id: AgentId) -> Result<AgentDiff, ToolError> {
        let is_over =
            self.store.read(|tx| Ok::<_, ToolError>(find_agent(tx, id)?.ended_at().is_some()))?;
        if is_over {
            // What it left is on its branch once its worktree was looked after.
            settled(self, id).await?;
        }
        let work = self.store.read(|tx| Work::of(tx, id))?;
        self.outside(move |engine| look(engine, work)).await
    }
}

fn nothing(why: impl Into<String>) -> AgentDiff {
    AgentDiff { why: Some(why.into()), ..AgentDiff::default() }
}

fn look(engine: &Core, work: Work) -> Result<AgentDiff, ToolError> {
    let Work { worktree, merge, is_pulled, is_guest } = work;
    let Some(tree) = worktree else {
        return Ok(nothing(if is_guest {
            "it works in a shared folder, so its own changes cannot be determined"
        } else {
            "it has no worktree of its own: it works in the project itself, or has not started"
        }));
    };
    let dir = engine.project().join(&tree.path);
    let is_there = tree.state == WorktreeState::There && dir.is_dir();
    if tree.state == WorktreeState::Wanted && !is_there {
        let why = "its worktree is about to be created";
        return Ok(AgentDiff { branch: Some(tree.branch), ..nothing(why) });
    }
    let repo = match engine.repo(if is_there { &dir } else { engine.project() }) {
        Ok(repo) => repo,
        Err(error) => return Ok(nothing(error.to_string())),
    };
    let range = merge.as_ref().map(|merge| merged(&repo, &tree, merge)).transpose()?.flatten();
    if let Some((base, head)) = range.clone().filter(|_| !is_there) {
        let view = AgentDiff { merged: true, ..between(&repo, base, head)? };
        return Ok(with_names(view, tree));
    }
    let Some(head) = head_of(&repo, &tree, is_there.then_some(&*dir))? else {
        let why = format!("its worktree and its branch `{}` were removed", tree.branch);
        return Ok(with_names(nothing(why), tree));
    };
    let shared = shared_with_target(&repo, &tree, &head)?;
    // What is committed after the merge is looked at by itself.
    let is_at_merge = merge.is_some_and(|merge| merge.commit == head);
    let merged = is_at_merge || is_pulled || shared.as_ref() == Some(&head);
    let base = if let Some((before, _)) = range.filter(|_| is_at_merge) {
        repo.common_ancestor(&before, &head)?.unwrap_or(before)
    } else {
        // What the target has already was merged elsewhere, and began where the worktree began.
        let is_open = is_there && !is_pulled;
        shared.filter(|shared| *shared != head || is_open).unwrap_or_else(|| tree.base.clone())
    };
    let view = if is_there {
        let (diff, uncommitted) = repo.work_diff(&dir, &base, PATCH)?;
        AgentDiff { uncommitted, ..view_of(&repo, diff, base, head)? }
    } else {
        between(&repo, base, head)?
    };
    Ok(with_names(AgentDiff { merged, ..view }, tree))
}

fn with_names(view: AgentDiff, tree: Worktree) -> AgentDiff {
    AgentDiff { branch: Some(tree.branch), target: tree.target, rescued: tree.rescued, ..view }
}

/// From where to where the work went when it was merged.
fn merged(
    repo: &Repo,
    tree: &Worktree,
    merge: &Merge,
) -> Result<Option<(String, String)>, ToolError> {
    let Some(merged) = merge.merged.as_deref() else { return Ok(None) };
    let Some(to) = repo.resolve(merged)? else { return Ok(None) };
    // What was not merged but only moved up to has no commit of its own to compare with.
    let from = if to == merge.commit { tree.base.clone() } else { format!("{to}^1") };
    Ok(repo.resolve(&from)?.map(|from| (from, to)))
}

/// The commit that its work stands at.
fn head_of(repo: &Repo, tree: &Worktree, dir: Option<&Path>) -> Result<Option<String>, ToolError> {
    if let Some(dir) = dir {
        // Read from git's files where they tell; else git is asked.
        return match host::git::head(dir) {
            Some(head) => Ok(Some(head)),
            None => Ok(repo.state(dir)?.head),
        };
    }
    if let Some(head) = repo.resolve(&format!("refs/heads/{}", tree.branch))? {
        return Ok(Some(head));
    }
    Ok(tree.head.as_deref().map(|head| repo.resolve(head)).transpose()?.flatten())
}

/// Last commit that a worktree's head shares with its target branch.
fn shared_with_target(
    repo: &Repo,
    tree: &Worktree,
    head: &str,
) -> Result<Option<String>, ToolError> {
    let Some(target) = &tree.target else { return Ok(None) };
    let Some(target) = repo.resolve(&format!("refs/heads/{target}"))? else { return Ok(None) };
    Ok(repo.common_ancestor(&target, head)?)
}

fn between(repo: &Repo, base: String, head: String) -> Result<AgentDiff, ToolError> {
    let diff = repo.diff(&base, &head, PATCH)?;
    view_of(repo, diff, base, head)
}

fn view_of(repo: &Repo, diff: Diff, base: String, head: String) -> Result<AgentDiff, ToolError> {
    let commits = repo.history(&base, &head, COMMITS)?;
    let commit = |(hash, at, subject)| CommitView { hash, at, subject };
    let more = diff.files.len() > FILES;
    Ok(AgentDiff {
        base: Some(base),
        head: Some(head),
        truncated: diff.cut || more,
        patch: if diff.cut { whole_files(diff.text) } else { diff.text },
        files: diff.files.into_iter().take(FILES).map(changed).collect(),
        commits: commits.into_iter().map(commit).collect(),
        ..AgentDiff::default()
    })
}

fn changed(file: DiffFile) -> ChangedFileView {
    ChangedFileView {
        path: file.path,
        old_path: file.old,
        status: file.status.to_owned(),
        binary: file.added.is_none(),
        added: file.added.unwrap_or_default(),
        removed: file.removed.unwrap_or_default(),
    }
}

/// A patch that was cut, without the file that it was cut in; of a single file, its whole lines.
fn whole_files(mut patch: String) -> String {
    let end = patch.rfind("\ndiff --git ").or_else(|| patch.rfind('\n'));
    if let Some(end) = end {
        patch.truncate(end + 1);
    }
    patch
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_ends_with_a_whole_file_or_a_whole_line() {
        let two = "diff --git a/a b/a\n+x\ndiff --git a/b b/b\n+y\n+z";
        assert_eq!(whole_files(two.to_owned()), "diff --git a/a b/a\n+x\n");
        assert_eq!(
            whole_files("diff --git a/a b/a\n+x\n+y".to_owned()),
            "diff --git a/a b/a\n+x\n"
        );
        assert_eq!(whole_files("x".to_owned()), "x");
    }
}
