//! Puts an agent's commits on top of what others did, in its own worktree. Where they do not fit nothing is
//! changed.

use host::git::{GitError, Repo};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::OutboxJob;

use super::{Ending, JobError, Point, note, notes_of, params_of};
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::delivery::outbox::params::RebaseJob;
use crate::delivery::worktree_setup::{Work, no_branch, ourselves, work_of};

/// Progress notes of a rebase; after a crash the same one is repeated.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Notes {
    /// The branch it is put on
    onto: String,
    /// Where that stood
    commit: String,
    /// Where the agent's own stood
    before: String,
    /// The agent's own
    branch: String,
}

/// Rebases an agent's work.
pub(super) async fn run(engine: &Core, job: &OutboxJob) -> Result<Ending, JobError> {
    let params: RebaseJob = params_of(job)?;
    engine.point(Point::RebaseAsked);
    let notes = if let Some(notes) = notes_of::<Notes>(job)? {
        notes
    } else {
        let asked = params.clone();
        let notes = engine.outside(move |engine| plan(engine, &asked)).await?;
        note(engine, job.id, &notes).await?;
        notes
    };
    engine.point(Point::RebaseNoted);
    let (agent, at, plan) = (params.agent, job.created_at, notes.clone());
    let head = engine
        .outside(move |engine| {
            let work = work_of(engine, agent)?;
            let repo = engine.repo(&work.dir)?;
            let done = repo.rebase(&work.dir, &plan.commit, &ourselves(at));
            done.map(|done| done.head).map_err(|error| advised(error, &plan.onto))
        })
        .await?;
    engine.point(Point::RebaseDone);
    Ok(Box::new(move |tx, _| {
        // From here on its own work is what came after this.
        tx.worktree_rebased(agent, &notes.commit)?;
        Ok(json!({
            "branch": notes.branch, "head": head, "onto": notes.onto, "moved": head != notes.before,
        }))
    }))
}

/// Finds out what is to be done.
fn plan(engine: &Core, params: &RebaseJob) -> Result<Notes, ToolError> {
    let work = work_of(engine, params.agent)?;
    if !work.dir.is_dir() {
        return Err(ToolError::wrong_state(format!(
            "your worktree `{}` is gone",
            work.dir.display()
        ))
        .hint("its commits are on its branch"));
    }
    let repo = engine.repo(&work.dir)?;
    let state = repo.state(&work.dir)?;
    let branch = state.branch.ok_or_else(no_branch)?;
    let before = state.head.ok_or(GitError::NoCommits)?;
    let (onto, commit) = onto(&repo, params, &work)?;
    if onto == branch {
        return Err(
            ToolError::invalid(format!("`{onto}` is your own branch")).detail("field", "onto")
        );
    }
    Ok(Notes { onto, commit, before, branch })
}

/// The branch that the work is put on, and where it stands.
fn onto(repo: &Repo, params: &RebaseJob, work: &Work) -> Result<(String, String), ToolError> {
    let name = params.onto.clone().or_else(|| work.target.clone()).ok_or_else(|| {
        ToolError::invalid("the target branch of your work is unknown")
            .detail("field", "onto")
            .hint("pass the branch to rebase onto as `onto`")
    })?;
    for reference in [format!("refs/heads/{name}"), format!("refs/remotes/{name}")] {
        if let Some(commit) = repo.resolve(&reference)? {
            return Ok((name, commit));
        }
    }
    Err(ToolError::not_found(format!("there is no branch `{name}`"))
        .detail("field", "onto")
        .hint("`git branch --all` lists them"))
}

/// An error, with what to do about it.
fn advised(error: GitError, onto: &str) -> ToolError {
    match error {
        GitError::Conflict(_) => ToolError::from(error)
            .hint("nothing was changed in your branch and files")
            .hint(format!(
                "in your worktree run `git rebase {onto}`, mend each file that is named, `git add` it, and \
                 `git rebase --continue`; then check your work again"
            )),
        GitError::Dirty(_) => ToolError::from(error)
            .hint("commit what belongs to your work, and remove or ignore the rest"),
        GitError::InProgress { .. } | GitError::Unrelated { .. } => {
            ToolError::conflict(error.to_string())
        }
        other => other.into(),
    }
}
