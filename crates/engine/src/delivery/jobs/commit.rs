//! Commits an agent's uncommitted work in its worktree, in its name. The agent's own sandbox may keep
//! `.git` read-only; the server's git does not run in it.

use host::git::{Checkout, CommitIdentity, GitError};
use model::{AgentId, PathGlob};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{OutboxJob, Reservation};

use super::{Ending, JobError, Point, note, notes_of, params_of};
use crate::call::cx::find_agent;
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::delivery::outbox::params::CommitRequest;
use crate::delivery::worktree_setup::{no_branch, work_of};

/// Reservations read at once.
const RESERVATION_PAGE: u32 = 500;

/// Progress notes of a commit. After a crash they tell a commit that was made from one that was not.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Notes {
    /// Branch that is checked out
    branch: String,
    /// Commit the branch stood at before
    before: String,
    /// Files to be committed
    files: Vec<String>,
}

/// Answer of a commit job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct CommitOutcome {
    /// Branch of the work
    pub(crate) branch: String,
    /// Commit the branch stands at
    pub(crate) head: String,
    /// False if there was nothing to commit
    pub(crate) committed: bool,
    /// Files that the commit changed
    pub(crate) files: Vec<String>,
}

/// Commits an agent's work.
pub(super) async fn run(engine: &Core, job: &OutboxJob) -> Result<Ending, JobError> {
    let request: CommitRequest = params_of(job)?;
    engine.point(Point::CommitAsked);
    let agent = request.agent;
    let notes = if let Some(notes) = notes_of::<Notes>(job)? {
        notes
    } else {
        let notes = engine.outside(move |engine| plan(engine, agent)).await?;
        note(engine, job.id, &notes).await?;
        notes
    };
    engine.point(Point::CommitNoted);
    let Notes { branch, before, files } = notes;
    let at = job.created_at;
    let head = engine
        .outside(move |engine| {
            let work = work_of(engine, agent)?;
            let author = engine.store.read(|tx| find_agent(tx, agent))?;
            let author =
                CommitIdentity { name: author.role, email: format!("{agent}@localhost"), at };
            let repo = engine.repo(&work.dir)?;
            repo.commit_all(&work.dir, &request.message, &author).map_err(advised)?;
            let head = repo.state(&work.dir)?.head;
            head.ok_or_else(|| ToolError::from(GitError::NoCommits))
        })
        .await?;
    engine.point(Point::CommitDone);
    let committed = head != before;
    let files = if committed { files } else { Vec::new() };
    let answer = CommitOutcome { branch, head, committed, files };
    Ok(Box::new(move |_, _| Ok(json!(answer))))
}

/// Finds out what is to be committed, and refuses what must not be.
fn plan(engine: &Core, agent: AgentId) -> Result<Notes, ToolError> {
    let work = work_of(engine, agent)?;
    if !work.dir.is_dir() {
        let message = format!("your worktree `{}` is gone", work.dir.display());
        return Err(ToolError::wrong_state(message).hint("its commits are on its branch"));
    }
    let repo = engine.repo(&work.dir)?;
    if is_projects_checkout(engine, &work.dir) {
        return Err(ToolError::wrong_state(
            "you work in the project's own checkout, where others' changes may lie",
        )
        .hint("commit your files there yourself: `git commit -- <files>`")
        .hint("a role with `worktree: fresh` gives its agents a worktree of their own"));
    }
    let state = repo.state(&work.dir)?;
    let branch = state.branch.ok_or_else(no_branch)?;
    let before = state.head.ok_or(GitError::NoCommits)?;
    let mut files = [state.staged, state.unstaged, state.untracked].concat();
    files.sort();
    files.dedup();
    if engine.settings().worktrees.guard {
        refuse_reserved(engine, agent, &files)?;
    }
    Ok(Notes { branch, before, files })
}

/// Returns whether a folder lies in the working tree of the project itself.
fn is_projects_checkout(engine: &Core, dir: &std::path::Path) -> bool {
    let project = Checkout::around(&engine.options.project);
    Checkout::around(dir).zip(project).is_some_and(|(one, project)| one.top == project.top)
}

/// Does what the guard's hook does in a worktree: the server's own git runs without hooks.
fn refuse_reserved(engine: &Core, agent: AgentId, files: &[String]) -> Result<(), ToolError> {
    let now = engine.now();
    let mut reserved: Vec<Reservation> = Vec::new();
    let mut after = 0;
    loop {
        let page = engine.store.read(|tx| tx.reservation_page(now, after, RESERVATION_PAGE))?;
        reserved.extend(page.items.into_iter().filter(|one| one.agent != agent));
        let Some(next) = page.next else { break };
        after = next;
    }
    for reservation in reserved {
        let pattern = PathGlob::new(&reservation.pattern).map_err(ToolError::internal)?;
        if let Some(file) = files.iter().find(|file| pattern.matches(file)) {
            let (holder, pattern) = (reservation.agent, reservation.pattern);
            return Err(ToolError::conflict(format!(
                "`{file}` is reserved by {holder} (`{pattern}`); nothing was committed"
            ))
            .hint("ask its holder by mail, or undo your change to the file")
            .detail("files", [file.as_str()]));
        }
    }
    Ok(())
}

/// An error, with what to do about it.
fn advised(error: GitError) -> ToolError {
    match error {
        GitError::Dirty(_) => ToolError::from(error)
            .hint("resolve the conflicts in these files; then call `git_commit` again"),
        GitError::InProgress { .. } => ToolError::conflict(error.to_string())
            .hint("finish it, or abort it: `git merge --abort`, `git rebase --abort`"),
        other => other.into(),
    }
}
