//! The merge queue as others see it: what waits to be approved or for its turn, and what would be in whose
//! way. `jobs/merge.rs` merges it.

mod acts;
mod forecast;
mod progress;
mod queue;
mod review_desk;
mod view;

use std::path::PathBuf;

use host::git::{GitError, Repo};
use model::TaskRef;
use store::{Agent, Task, Tx};

use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::delivery::worktree_setup::epic_branch_of;

pub use acts::ServerVariables;
pub(crate) use acts::{
    NOBODY_WORKS, complete, hold_back, in_review, line_up, outbox_job_of, pinned_by, requeue,
    retire, take_out, tell, write_to,
};
pub use queue::ReviewScope;
pub(crate) use queue::{Waiting, look_at};
pub(crate) use view::{Details, conflicts_of, places};

/// Work that was handed in, as the record knows it.
#[derive(Debug, Clone)]
pub(crate) struct SubmittedWork {
    /// Title of the task
    pub(crate) task: Task,
    /// Author of the work
    pub(crate) worker: Option<Agent>,
    /// Branch, where that is on record
    branch: Option<String>,
    /// Where it was done, as it is on record
    dir: Option<PathBuf>,
    /// Target branch, where that is on record
    target: Option<String>,
}

/// Work that was handed in, as git knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BranchHead {
    /// Branch
    pub(crate) branch: String,
    /// Where that stands
    pub(crate) head: String,
    /// Target branch
    pub(crate) target: String,
    /// Where that stands, or would begin; none where it is gone
    pub(crate) target_head: Option<String>,
}

/// Author of a task's work: its holder, else the agent it was last assigned to.
pub(crate) fn worker_of(tx: &Tx<'_>, task: &Task) -> Result<Option<Agent>, ToolError> {
    let holder = task.state.claim().map(|claim| claim.holder).or(task.assigned_agent);
    Ok(holder.map(|id| tx.agent_get(id)).transpose()?.flatten())
}

impl SubmittedWork {
    /// Collects the record of a task's work.
    pub(crate) fn of(tx: &Tx<'_>, task: Task) -> Result<Self, ToolError> {
        let worker = worker_of(tx, &task)?;
        let branch = task.branch_name.clone();
        let worktree = branch.as_deref().map(|name| tx.worktree_by_branch(name)).transpose()?;
        let worktree = worktree.flatten();
        let given = worker.as_ref().and_then(|worker| worker.cwd.as_ref());
        let dir = worktree.as_ref().map(|tree| &tree.path).or(given).map(PathBuf::from);
        let target = worktree.and_then(|tree| tree.target);
        let target = target.or_else(|| task.epic.map(epic_branch_of));
        Ok(Self { task, worker, branch, dir, target })
    }

    /// True if the work may have a branch.
    pub(crate) const fn may_have_branch(&self) -> bool {
        self.branch.is_some() || self.dir.is_some()
    }

    /// Where it was done, if that is still there.
    fn place(&self, engine: &Core) -> Option<PathBuf> {
        let dir = self.dir.as_ref().map(|dir| engine.options.project.join(dir));
        dir.filter(|dir| dir.is_dir())
    }

    /// Looks at the branches; none where the work has no branch of its own. Blocks.
    pub(crate) fn find(&self, engine: &Core, repo: &Repo) -> Result<Option<BranchHead>, ToolError> {
        let number = TaskRef::Number(self.task.number);
        let here = match repo.current_branch(&engine.options.project) {
            // Nothing is checked out in a bare repository.
            Err(GitError::NotARepository { .. }) => None,
            here => here?,
        };
        let own = match (&self.branch, self.place(engine)) {
            (Some(branch), _) => Some(branch.clone()),
            (None, Some(dir)) => repo.current_branch(&dir)?,
            (None, None) => None,
        };
        // Who works in the project itself has put its work where it belongs.
        let own = own.filter(|branch| self.branch.is_some() || Some(branch) != here.as_ref());
        let Some(branch) = own else { return Ok(None) };
        let head = repo.resolve(&format!("refs/heads/{branch}"))?.ok_or_else(|| {
            ToolError::not_found(format!("the branch `{branch}` of {number} is gone"))
                .hint(format!(
                    "if its commits are still there, `git branch {branch} COMMIT` makes it again"
                ))
                .hint("`request_changes` returns it to an agent; `force_complete_task` completes it without the branch")
        })?;
        let target = self.target.clone().or(here).ok_or_else(|| {
            ToolError::conflict(format!("the target branch of {number} is unknown"))
                .hint("check out a branch in the project, then try again")
        })?;
        if target == branch {
            return Ok(None);
        }
        let stands = repo.resolve(&format!("refs/heads/{target}"))?;
        let target_head = match stands {
            None if self.is_epics(&target) => repo.resolve("HEAD")?,
            stands => stands,
        };
        Ok(Some(BranchHead { branch, head, target, target_head }))
    }

    /// True for the branch of the task's epic, which is created on demand.
    fn is_epics(&self, target: &str) -> bool {
        self.task.epic.is_some_and(|epic| epic_branch_of(epic) == target)
    }
}
