//! Looks after a worktree whose agent has ended. Nothing that was done in it is ever lost: what is
//! committed stays on its branch, and what is not is committed first.

use std::path::{Path, PathBuf};

use host::git::{GitError, Repo};
use model::AgentId;
use model::agent::{AgentState, Outcome};
use model::review::WorktreeState;
use serde_json::json;
use store::{Agent, OutboxJob, Worktree};

use super::{Ending, JobError, Point};
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::delivery::worktree_setup::{live_directories, ourselves, rescue_branch_of, tell};

/// Outcome of tidying a worktree.
#[derive(Debug, Clone, Default)]
struct Tidied {
    /// Where its branch stands
    head: Option<String>,
    /// The branch with what was uncommitted
    rescued: Option<String>,
    /// True if it was removed
    gone: bool,
    /// Live agents that work in it; while there are any, nothing is touched
    occupants: Vec<AgentId>,
}

/// Keeps what is in a worktree safe, and takes it away if nobody wants it.
pub(super) async fn run(engine: &Core, job: &OutboxJob) -> Result<Ending, JobError> {
    engine.point(Point::TidyAsked);
    let id = job.agent.ok_or_else(|| ToolError::invalid("a worktree needs an agent"))?;
    let found =
        engine.store.read(|tx| Ok::<_, ToolError>(tx.worktree_of(id)?.zip(tx.agent_get(id)?)))?;
    // An agent may work in it again; then this job leaves it alone.
    let Some((worktree, agent)) = found.filter(|(worktree, agent)| {
        worktree.state != WorktreeState::Gone && agent.ended_at().is_some()
    }) else {
        return Ok(Box::new(|_, _| Ok(json!({ "worktree": "none" }))));
    };
    let settings = engine.settings();
    let live = engine.store.read(|tx| live_directories(tx, &settings, &engine.options.project))?;
    let (owner, place) = (agent.clone(), worktree.clone());
    let done = engine
        .outside(move |engine| {
            let occupants = occupants(Path::new(&place.path), &live);
            if occupants.is_empty() {
                return tidy(engine, &owner, &place);
            }
            // The end of the last one of them asks again.
            Ok::<_, JobError>(Tidied { occupants, ..Tidied::default() })
        })
        .await?;
    Ok(Box::new(move |tx, now| {
        if let Some(rescued) = &done.rescued {
            tx.worktree_rescued(id, rescued)?;
        }
        let state = if done.gone {
            tx.worktree_gone(id, done.head.as_deref(), now)?;
            WorktreeState::Gone
        } else {
            WorktreeState::There
        };
        let rescued = done.rescued.clone().or_else(|| worktree.rescued.clone());
        let now_is = Worktree { state, rescued: rescued.clone(), ..worktree.clone() };
        if done.gone || done.rescued.is_some() {
            tell(tx, &agent, &now_is, now)?;
        }
        Ok(json!({
            "worktree": state, "branch": worktree.branch, "head": done.head, "rescued": rescued,
            "occupants": done.occupants,
        }))
    }))
}

/// The agents whose directory lies in a worktree, by its name or by where it really is.
fn occupants(worktree: &Path, live: &[(AgentId, PathBuf)]) -> Vec<AgentId> {
    let real = worktree.canonicalize().unwrap_or_else(|_| worktree.to_owned());
    let is_inside = |dir: &Path| {
        dir.starts_with(worktree) || dir.canonicalize().is_ok_and(|dir| dir.starts_with(&real))
    };
    live.iter().filter(|(_, dir)| is_inside(dir)).map(|(id, _)| *id).collect()
}

fn tidy(engine: &Core, agent: &Agent, worktree: &Worktree) -> Result<Tidied, JobError> {
    let repo = engine.repo(&engine.options.project)?;
    let path = Path::new(&worktree.path);
    let at = agent.ended_at().unwrap_or(agent.created_at);
    if !path.is_dir() {
        // It was removed, perhaps by an earlier server; only its branches are left.
        repo.worktree_remove(path)?;
        let head = repo.resolve(&format!("refs/heads/{}", worktree.branch))?;
        let rescued = repo.branches(&rescue_branch_of(agent.id))?.pop().map(|(name, _)| name);
        return Ok(Tidied { head, rescued, gone: true, ..Tidied::default() });
    }
    let mut state = repo.state(path)?;
    let succeeded = matches!(agent.state, AgentState::Ended { outcome: Outcome::Succeeded, .. });
    let on_branch = state.branch.as_deref() == Some(&worktree.branch);
    if succeeded && on_branch && !worktree.unwanted && !state.is_clean() {
        let about = format!("Uncommitted work of {}", agent.id);
        match repo.commit_all(path, &about, &ourselves(at)) {
            Ok(_) => state = repo.state(path)?,
            // In the middle of something, it stays as it is.
            Err(GitError::Dirty(_) | GitError::Conflict(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let untouched = state.is_clean() && state.head.as_deref() == Some(&worktree.base) && on_branch;
    if !(worktree.unwanted || untouched) {
        return Ok(Tidied { head: state.head, ..Tidied::default() });
    }
    let about = format!("Uncommitted work in the worktree of {}", agent.id);
    let branch = rescue_branch_of(agent.id);
    let rescued = repo.rescue(path, &branch, &about, &ourselves(at))?;
    engine.point(Point::TidyRescued);
    let rescued = match rescued {
        Some(commit) => rescue_named(&repo, &branch, &commit)?,
        None => None,
    };
    repo.worktree_remove(path)?;
    engine.point(Point::TidyRemoved);
    let head = repo.resolve(&format!("refs/heads/{}", worktree.branch))?;
    if let Some(head) = &head
        && is_spent(&repo, worktree, head)?
    {
        repo.branch_delete_if_reachable(&worktree.branch)?;
    }
    Ok(Tidied { head, rescued, gone: true, ..Tidied::default() })
}

/// True if a branch has nothing that its target lacks.
fn is_spent(repo: &Repo, worktree: &Worktree, head: &str) -> Result<bool, GitError> {
    let target = worktree.target.as_ref();
    let target = target.map(|target| repo.resolve(&format!("refs/heads/{target}"))).transpose()?;
    match target.flatten() {
        Some(target) => repo.is_ancestor(head, &target),
        None => Ok(head == worktree.base),
    }
}

/// The branch on which a rescue is: its name may have a number.
fn rescue_named(repo: &Repo, branch: &str, commit: &str) -> Result<Option<String>, GitError> {
    // Almost always it has none, and a list of all branches takes longer the more there are.
    if repo.resolve(&format!("refs/heads/{branch}"))?.as_deref() == Some(commit) {
        return Ok(Some(branch.to_owned()));
    }
    let branches = repo.branches(branch)?;
    Ok(branches.into_iter().find(|(_, head)| head == commit).map(|(name, _)| name))
}
