//! Access to agents' work: author, location and permission.

use std::path::PathBuf;

use model::{AgentId, TaskRef};
use store::{Agent, Review, Task, Tx};

use crate::call::cx::{ReadCx, find_agent, find_task};
use crate::core::error::ToolError;
use crate::crew::run::view::within_reach;
use crate::delivery::worktree_setup::no_place;

/// An agent's work, done or in progress.
#[derive(Debug, Clone)]
pub(super) struct Work {
    /// Owner
    pub(super) agent: AgentId,
    /// The folder, from the project on; it may be gone
    pub(super) dir: PathBuf,
    /// Its branch, where it is one of ours
    pub(super) branch: Option<String>,
    /// The commit that is meant, where it is not what is checked out
    pub(super) head: Option<String>,
    /// Where the branch stood when the folder was taken away
    pub(super) last: Option<String>,
    /// Target branch
    pub(super) target: Option<String>,
    /// The commit it began from
    pub(super) base: Option<String>,
}

/// Finds the work that is meant: an agent's, a task's, what the caller reviews, or the caller's own.
pub(super) fn find(
    cx: &ReadCx<'_>,
    agent: Option<AgentId>,
    task: Option<&TaskRef>,
) -> Result<Work, ToolError> {
    match (agent, task) {
        (Some(_), Some(_)) => {
            Err(ToolError::invalid("pass `agentId` or `taskId`, not both")
                .detail("field", "taskId"))
        }
        (Some(id), None) => {
            let agent = find_agent(cx.tx, id)?;
            may_see(cx, &agent)?;
            of_agent(cx, &agent)
        }
        (None, Some(name)) => {
            let task = find_task(cx.tx, name)?;
            let agent = who_did(cx.tx, &task)?;
            may_see(cx, &agent)?;
            of_agent(cx, &agent)
        }
        (None, None) => {
            let own = cx
                .caller
                .agent()
                .map_err(|error| error.hint("or select the work with `agentId` or `taskId`"))?;
            match cx.tx.review_by(own.id)? {
                Some(review) => of_review(cx, &review),
                None => of_agent(cx, own),
            }
        }
    }
}

/// Where an agent's work is.
fn of_agent(cx: &ReadCx<'_>, agent: &Agent) -> Result<Work, ToolError> {
    if let Some(worktree) = cx.tx.worktree_of(agent.id)? {
        return Ok(Work {
            agent: agent.id,
            dir: PathBuf::from(worktree.path),
            branch: Some(worktree.branch),
            head: None,
            last: worktree.head,
            target: worktree.target,
            base: Some(worktree.base),
        });
    }
    let cwd = agent.cwd.as_ref().ok_or_else(|| no_place(agent.id))?;
    Ok(Work {
        agent: agent.id,
        dir: PathBuf::from(cwd),
        branch: None,
        head: None,
        last: None,
        target: None,
        base: None,
    })
}

/// The work that a reviewer was asked to look at, at the commit it was asked to look at.
fn of_review(cx: &ReadCx<'_>, review: &Review) -> Result<Work, ToolError> {
    let coder = find_agent(cx.tx, review.coder)?;
    let work = of_agent(cx, &coder)?;
    let (branch, head) = (Some(review.branch.clone()), Some(review.commit.clone()));
    Ok(Work { branch, head, ..work })
}

/// Current or last agent on a task.
fn who_did(tx: &Tx<'_>, task: &Task) -> Result<Agent, ToolError> {
    let tree = task.branch_name.as_deref().map(|name| tx.worktree_by_branch(name)).transpose()?;
    let holder = task.state.claim().map(|claim| claim.holder).or(task.assigned_agent);
    let who = tree.flatten().map(|tree| tree.agent).or(holder);
    let who = who.ok_or_else(|| {
        let number = TaskRef::Number(task.number);
        ToolError::wrong_state(format!("no agent has worked on {number}: there is nothing to show"))
    })?;
    find_agent(tx, who)
}

/// Refuses what is none of the caller's business.
fn may_see(cx: &ReadCx<'_>, agent: &Agent) -> Result<(), ToolError> {
    if let Some(own) = &cx.caller.agent
        && (reviews(cx.tx, own, agent)? || same_epic(own, agent))
    {
        return Ok(());
    }
    within_reach(cx.tx, cx.settings, cx.caller, agent.id).map(|_| ())
}

/// True if an agent reviews another's work.
fn reviews(tx: &Tx<'_>, own: &Agent, agent: &Agent) -> Result<bool, ToolError> {
    Ok(tx.review_by(own.id)?.is_some_and(|review| review.coder == agent.id))
}

/// True if an agent leads or reviews in another's epic.
fn same_epic(own: &Agent, agent: &Agent) -> bool {
    matches!(own.category.as_str(), "supervisor" | "review")
        && own.epic.is_some()
        && own.epic == agent.epic
}
