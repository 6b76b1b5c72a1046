//! Decides whether an agent's work needs a review before its task is completed, and whether it left any.

use model::review::ReviewRequired;
use model::session::DEFAULT_SESSION;
use store::{Agent, Tx, Worktree};

use super::options::{RunOptions, StartedBy};
use crate::call::cx::task_of;
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::core::settings::Settings;

/// Review that an agent's work needs. The request decides, else the role, else the configuration; the latter holds for
/// agents without a parent whom a person started, outside of loops, plans and epics. In an epic every task is reviewed
/// by its supervisor, and in a loop an agent says itself when a task is done.
pub(crate) fn required_review(
    tx: &Tx<'_>,
    settings: &Settings,
    agent: &Agent,
) -> Result<ReviewRequired, ToolError> {
    let Some(task) = task_of(tx, agent.task)? else { return Ok(ReviewRequired::Never) };
    let Some(run) = tx.run_get(agent.id)? else { return Ok(ReviewRequired::Never) };
    let session = agent.session.as_deref().unwrap_or(DEFAULT_SESSION);
    let in_loop = session != DEFAULT_SESSION || task.session != DEFAULT_SESSION;
    if task.epic.is_some() || in_loop {
        return Ok(ReviewRequired::Never);
    }
    let options = RunOptions::of(&run)?;
    let role = settings.role_of(&agent.role).and_then(|role| role.review_required);
    if let Some(required) = options.review.or(role) {
        return Ok(required);
    }
    let is_persons = options.started_by == StartedBy::Person && agent.parent.is_none();
    if is_persons && tx.plan_step_of(task.id)?.is_none() {
        return Ok(settings.review.required);
    }
    Ok(ReviewRequired::Never)
}

/// True if an agent's worktree has work that its target lacks: commits, or files that are about to be committed for it.
/// Where git cannot tell, a person has a look. Blocks.
pub(super) fn left_work(core: &Core, worktree: &Worktree) -> bool {
    let looked = || -> Result<bool, ToolError> {
        let repo = core.repo(&core.options.project)?;
        let path = std::path::Path::new(&worktree.path);
        if path.is_dir() && !repo.state(path)?.is_clean() {
            return Ok(true);
        }
        let head_of = |branch: &str| repo.resolve(&format!("refs/heads/{branch}"));
        let Some(head) = head_of(&worktree.branch)? else { return Ok(false) };
        let target = worktree.target.as_deref().map(head_of).transpose()?.flatten();
        Ok(match target {
            Some(target) => !repo.is_ancestor(&head, &target)?,
            None => head != worktree.base,
        })
    };
    looked().unwrap_or_else(|error| {
        tracing::warn!(agent = %worktree.agent, message = error.message, "failed to check for uncommitted work");
        true
    })
}
