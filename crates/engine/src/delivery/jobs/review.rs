//! Makes ready what a reviewer looks at: a worktree forked from the coder's branch, and the reviewer.

use std::path::PathBuf;

use model::agent::{AgentEvent, AgentState, Outcome};
use model::review::WorktreeState;
use model::{TaskRef, Timestamp};
use serde_json::{Map, Value, json};
use store::{Agent, NewReview, NewWorktree, OutboxJob, StopRequest, Tx};
use wire::event::{EventData, ReviewRequested};

use super::{Ending, JobError, Point, params_of};
use crate::call::cx::{find_agent, task_of};
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::core::settings::Settings;
use crate::crew::run::{Claims, Draft, RunOptions, draft, stop};
use crate::crew::transition::{self, MoveError};
use crate::delivery::outbox::params::ReviewJob;
use crate::delivery::reviews::{history, limit_error, note_no_reviewer, prompt, tell};
use crate::delivery::worktree_setup::{no_branch, ourselves, review_branch_of, work_of};

/// Changed files listed in the reviewer's prompt.
const FILES: usize = 100;

/// The reviewed branch and commit.
#[derive(Debug, Clone)]
struct Fork {
    branch: String,
    commit: String,
    target: Option<String>,
    path: PathBuf,
    changes: String,
}

/// Forks the worktree and records the review.
pub(super) async fn run(engine: &Core, job: &OutboxJob) -> Result<Ending, JobError> {
    let params: ReviewJob = params_of(job)?;
    engine.point(Point::ReviewAsked);
    let asked = params.clone();
    let fork = engine.outside(move |engine| fork(engine, &asked)).await?;
    engine.point(Point::ReviewForked);
    let settings = engine.settings();
    Ok(Box::new(move |tx, now| record(tx, &settings, &params, &fork, now)))
}

fn fork(engine: &Core, params: &ReviewJob) -> Result<Fork, ToolError> {
    let work = work_of(engine, params.coder)?;
    let repo = engine.repo(&work.dir)?;
    let mut state = repo.state(&work.dir)?;
    if params.at_end && !state.is_clean() {
        // Nobody works there any more, so that what was left is all there will be.
        let about = format!("Uncommitted work of {}", params.coder);
        repo.commit_all(&work.dir, &about, &ourselves(engine.now()))?;
        state = repo.state(&work.dir)?;
    }
    let branch = state.branch.clone().ok_or_else(no_branch)?;
    let commit = state.head.clone().ok_or(host::git::GitError::NoCommits)?;
    if !state.is_clean() {
        let open = [state.staged, state.unstaged, state.untracked].concat();
        return Err(ToolError::conflict(format!(
            "{} files are not committed, and a reviewer sees only commits",
            open.len()
        ))
        .hint("call `git_commit` with a message: it commits everything in your worktree to your branch")
        .hint("remove or ignore files that do not belong to the work first")
        .detail("files", open));
    }
    if work.base.as_deref() == Some(commit.as_str()) && !params.at_end {
        return Err(ToolError::conflict("there is nothing to review: you have no commits")
            .hint("commit your work first, with `git commit` or the tool `git_commit`"));
    }
    engine.make_worktrees_folder()?;
    let path = engine.worktree_path(params.reviewer);
    repo.worktree_add(&path, &review_branch_of(params.reviewer), &commit)?;
    crate::delivery::worktree_setup::point_to_home(engine, &path)?;
    let from = work.target.clone().or_else(|| work.base.clone());
    let changed = match from.map(|from| repo.changed_files(&from, &commit)).transpose() {
        Ok(files) => files.unwrap_or_default(),
        // Without it the reviewer asks git itself.
        Err(error) => {
            tracing::debug!(%error, "failed to read the subject of a review from git");
            Vec::new()
        }
    };
    let mut lines: Vec<String> =
        changed.iter().take(FILES).map(|file| format!("- {file}")).collect();
    if changed.len() > FILES {
        lines.push(format!("- and {} more", changed.len() - FILES));
    }
    Ok(Fork { branch, commit, target: work.target, path, changes: lines.join("\n") })
}

/// Records the review: its reviewer, a worktree, the coder that waits.
fn record(
    tx: &mut Tx<'_>,
    settings: &Settings,
    params: &ReviewJob,
    fork: &Fork,
    now: Timestamp,
) -> Result<Value, ToolError> {
    let mut coder = find_agent(tx, params.coder)?;
    transition::next_state(&coder, AgentEvent::AskedReview, now).map_err(|error| match error {
        MoveError::Illegal(illegal) => {
            ToolError::wrong_state(format!("agent `{}` is {}", coder.id, illegal.from))
        }
        MoveError::Failed(error) => error,
    })?;
    let (iterations, _, limits) = history(tx, settings, coder.id)?;
    let iteration = limits.next(iterations).map_err(|limit| limit_error(coder.id, limit))?;
    let values = values(tx, &coder, params, fork, iteration, limits.max_iterations + limits.more)?;
    let template = settings.review_template.as_deref().unwrap_or(prompt::REVIEW_TEMPLATE);
    let ask = Draft {
        role: Some(settings.review.role.clone()),
        prompt: prompt::render(template, &values),
        summary: Some(format!("review {iteration} of {}", coder.id)),
        task: coder.task.map(TaskRef::Id),
        cwd: Some(fork.path.display().to_string()),
        options: RunOptions { claims: Claims::Nothing, ..RunOptions::default() },
        ..Draft::default()
    };
    let data = EventData::ReviewRequested(ReviewRequested {
        coder_id: coder.id,
        reviewer_id: params.reviewer,
        iteration,
        branch: fork.branch.clone(),
        commit: fork.commit.clone(),
    });
    tell(tx, coder.id, data, now)?;
    draft::beside(tx, settings, &coder, params.reviewer, &ask, now)?;
    let branch = review_branch_of(params.reviewer);
    let path = fork.path.display().to_string();
    let (base, target) = (fork.commit.clone(), Some(fork.branch.clone()));
    let tree = NewWorktree { agent: params.reviewer, path: path.clone(), branch, base, target };
    tx.worktree_insert(&tree, now)?;
    tx.worktree_set(params.reviewer, WorktreeState::There)?;
    tx.worktree_unwanted(params.reviewer)?;
    let review = NewReview {
        coder: coder.id,
        reviewer: params.reviewer,
        iteration,
        branch: fork.branch.clone(),
        commit: fork.commit.clone(),
        message: params.message.clone(),
    };
    tx.review_insert(&review, now)?;
    transition::advance(tx, &mut coder, AgentEvent::AskedReview, now)?;
    let tmux = settings.roles.get(&settings.review.role).is_some_and(|role| role.tmux);
    Ok(json!({
        "review_instance_id": params.reviewer,
        "session_name": tmux.then(|| params.reviewer.to_string()),
        "worktree_path": path,
        "branch_name": fork.branch,
        "review_iteration": iteration,
    }))
}

fn values(
    tx: &Tx<'_>,
    coder: &Agent,
    params: &ReviewJob,
    fork: &Fork,
    iteration: u32,
    max: u32,
) -> Result<Map<String, Value>, ToolError> {
    let task = task_of(tx, coder.task)?;
    let task = task.map_or_else(
        || "It has no task.".to_owned(),
        |task| {
            let more = task.description.map(|text| format!("\n\n{text}")).unwrap_or_default();
            format!("{} ({}){more}", task.title, task.slug)
        },
    );
    let before: Vec<String> = tx
        .feedback_of(coder.id)?
        .iter()
        .map(|output| format!("### {}\n\n{}", output.kind, output.body))
        .collect();
    let or = |text: Option<String>, none: &str| text.unwrap_or_else(|| none.to_owned());
    let values = json!({
        "coder": coder.id, "task": task, "branch": fork.branch, "commit": fork.commit,
        "target": or(fork.target.clone(), "no known branch"),
        "iteration": iteration, "max_iterations": max,
        "message": or(params.message.clone(), "Nothing."),
        "instructions": or(params.instructions.clone(), "The author gave no instructions."),
        "changes": if fork.changes.is_empty() { "Ask git." } else { fork.changes.as_str() },
        "feedback": if before.is_empty() { "Nothing.".to_owned() } else { before.join("\n\n") },
    });
    Ok(values.as_object().cloned().unwrap_or_default())
}

/// Takes the fork away again: nobody has worked in it. A coder that waits for the review with nothing left to do ends,
/// and a person decides about its work.
pub(super) async fn undo(
    engine: &Core,
    job: &OutboxJob,
    error: &ToolError,
) -> Result<(), ToolError> {
    let Ok(params) = params_of::<ReviewJob>(job) else { return Ok(()) };
    // Once it is on record the reviewer's end takes it away.
    if engine.store.read(|tx| tx.review_by(params.reviewer))?.is_some() {
        return Ok(());
    }
    let path = engine.worktree_path(params.reviewer);
    engine
        .outside(move |engine| {
            if path.exists() {
                let repo = engine.repo(&engine.options.project)?;
                repo.worktree_remove(&path)?;
                repo.branch_delete_if_reachable(&review_branch_of(params.reviewer))?;
            }
            Ok::<_, ToolError>(())
        })
        .await?;
    if params.at_end {
        let (settings, clock, why) = (engine.settings(), engine.clone(), error.message.clone());
        let end = move |tx: &mut Tx<'_>| {
            let now = clock.now();
            let coder = find_agent(tx, params.coder)?;
            if coder.state == AgentState::WaitingReview {
                note_no_reviewer(tx, &coder, &why, now)?;
                let stop = StopRequest { outcome: Outcome::Succeeded, reason: "done".to_owned() };
                stop::stop_tree(tx, &settings, coder.id, &stop, now)?;
            }
            Ok::<_, ToolError>(())
        };
        engine.store.write(end).await?;
    }
    engine.point(Point::ReviewUndone);
    Ok(())
}
