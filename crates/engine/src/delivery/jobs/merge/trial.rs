//! A merge as git does it: what it would be, how the branch gets it, and who it is in the way of. Blocks.

use host::git::{GitError, MergeOutcome, Repo};
use model::task::{TaskRef, TaskStateName};
use model::{TaskId, Timestamp};
use store::{Page, TaskFilter};
use wire::merges::ConflictView;

use super::super::JobError;
use super::super::feedback::is_feedback_commit;
use super::{Job, Verdict};
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::delivery::merge_queue::{Details, SubmittedWork, conflicts_of};
use crate::delivery::reviews::FEEDBACK_FILE;
use crate::delivery::worktree_setup::{epic_branch_of, ourselves};

/// Tasks read at once.
const ROWS: u32 = 100;
/// Commits listed in the message of the one that stands for them.
const SQUASHED: usize = 100;

/// A merge that could be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trial {
    /// Where the branch stands
    pub(super) from: String,
    /// Where it would stand
    pub(super) merged: String,
}

/// Progress before anything is changed.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// It is decided
    Over(Verdict),
    /// It fits, as far as git can say
    Try(Trial),
}

/// Another task in review that does not fit any more.
#[derive(Debug, Clone)]
pub(super) struct ConflictingTask {
    /// The task
    pub(super) task: TaskId,
    /// Conflicts
    pub(super) conflicts: Vec<ConflictView>,
}

fn held(reason: String) -> Step {
    Step::Over(Verdict::Held(reason, Details::default()))
}

/// Finds what the merge would be. The same question has the same answer as long as the branch stands still.
pub(super) fn plan(engine: &Core, job: &Job, known: Option<&str>) -> Result<Step, JobError> {
    let repo = engine.repo(&engine.options.project)?;
    let (target, commit) = (&job.merge.target, &job.merge.commit);
    let Some(from) = target_head(&repo, job)? else {
        return Ok(held(format!(
            "the branch `{target}` does not exist any more; make it again with `git branch`, then put this back into \
             the queue"
        )));
    };
    let there = |commit: &str| -> Result<bool, GitError> {
        Ok(repo.resolve(commit)?.is_some() && repo.is_ancestor(commit, &from)?)
    };
    // It was merged before, by us or by hand.
    if let Some(known) = known
        && there(known)?
    {
        return Ok(Step::Over(Verdict::In(known.to_owned())));
    }
    if there(commit)? {
        return Ok(Step::Over(Verdict::In(commit.clone())));
    }
    if repo.resolve(commit)?.is_none() {
        let reason = format!("the commit {commit} is gone from the repository");
        return Ok(Step::Over(Verdict::Back(reason, Details::default())));
    }
    let who = ourselves(job.at);
    let theirs = without_feedback(&repo, &from, commit, job.at)?;
    let verdict = match repo.merge_trees(&from, &theirs)? {
        MergeOutcome::Clean { tree } => {
            let merged = if job.merge.squash {
                let message = squashed_message(&repo, job, &from)?;
                repo.commit_merge(&tree, &[&from], &message, &who)?
            } else {
                repo.commit_merge(&tree, &[&from, &theirs], &message(job), &who)?
            };
            return Ok(Step::Try(Trial { from, merged }));
        }
        MergeOutcome::Conflicts(conflicts) => {
            let conflicts = conflicts_of(&conflicts);
            let reason = format!("it does not fit with what is on `{target}` by now");
            Verdict::Back(reason, Details { conflicts, ..Details::default() })
        }
        MergeOutcome::Unrelated => {
            let reason = format!("its branch has no history in common with `{target}`");
            Verdict::Back(reason, Details::default())
        }
    };
    Ok(Step::Over(verdict))
}

/// Where the branch stands. An epic's is made when it is needed.
fn target_head(repo: &Repo, job: &Job) -> Result<Option<String>, GitError> {
    let target = &job.merge.target;
    let head = || repo.resolve(&format!("refs/heads/{target}"));
    if let Some(head) = head()? {
        return Ok(Some(head));
    }
    if job.task.epic.map(epic_branch_of).as_ref() != Some(target) {
        return Ok(None);
    }
    let begin = repo.resolve("HEAD")?.ok_or(GitError::NoCommits)?;
    match repo.branch_create(target, &begin) {
        Ok(()) => Ok(Some(begin)),
        // Another process was first.
        Err(error) => head()?.map_or(Err(error), |head| Ok(Some(head))),
    }
}

/// The approved commit, and one after it without the feedback that reviewers left, if there is any.
fn without_feedback(
    repo: &Repo,
    from: &str,
    commit: &str,
    at: Timestamp,
) -> Result<String, GitError> {
    let told = repo.file_at(commit, FEEDBACK_FILE)?;
    // A file of that name that the project itself has stays as it is there.
    let own = repo.file_at(from, FEEDBACK_FILE)?;
    if told.is_none() || told == own {
        return Ok(commit.to_owned());
    }
    let about = format!("Remove {FEEDBACK_FILE}");
    repo.commit_file(commit, FEEDBACK_FILE, own.as_deref(), &about, &ourselves(at))
}

fn message(job: &Job) -> String {
    let number = TaskRef::Number(job.task.number);
    format!("Merge {number}: {}\n\n{}", job.task.title, trailers(job))
}

/// The lines by which a merge can be traced.
fn trailers(job: &Job) -> String {
    let merge = &job.merge;
    let by = merge.approved_by.map_or_else(|| "the operator".to_owned(), |id| id.to_string());
    let (slug, branch, commit) = (&job.task.slug, &merge.branch, &merge.commit);
    format!("Task: {slug}\nBranch: {branch}\nCommit: {commit}\nApproved-By: {by}\n")
}

/// Message of the one commit that stands for a branch: the task's title, and what the branch's commits say.
fn squashed_message(repo: &Repo, job: &Job, from: &str) -> Result<String, GitError> {
    let mut commits = repo.log(from, &job.merge.commit, SQUASHED)?;
    commits.reverse();
    let own = commits.into_iter().filter(|(_, subject)| !is_feedback_commit(subject));
    let lines: Vec<String> = own.map(|(_, subject)| format!("- {subject}\n")).collect();
    let number = TaskRef::Number(job.task.number);
    Ok(format!("{} ({number})\n\n{}\n{}", job.task.title, lines.concat(), trailers(job)))
}

/// Moves the branch, together with the files where it is checked out; nothing if it moved meanwhile.
pub(super) fn go(engine: &Core, target: &str, trial: &Trial) -> Result<Option<Verdict>, JobError> {
    let repo = engine.repo(&engine.options.project)?;
    let out = repo
        .worktrees()?
        .into_iter()
        .find(|entry| entry.branch.as_deref() == Some(target) && entry.path.is_dir());
    let Some(place) = out.map(|entry| entry.path) else {
        return match repo.branch_move(target, &trial.merged, &trial.from) {
            Ok(()) => Ok(Some(Verdict::In(trial.merged.clone()))),
            Err(GitError::Moved { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        };
    };
    let shown = place.display();
    let then = "then put this back into the queue";
    let (reason, files) = match repo.fast_forward(&place, &trial.merged) {
        Ok(()) => {
            let stands = repo.resolve(&format!("refs/heads/{target}"))?;
            let done = stands.as_ref() == Some(&trial.merged);
            return Ok(done.then(|| Verdict::In(trial.merged.clone())));
        }
        Err(GitError::Moved { .. } | GitError::Diverged { .. }) => return Ok(None),
        Err(GitError::Dirty(files)) => {
            let names: Vec<String> =
                files.iter().take(10).map(|file| format!("`{file}`")).collect();
            let more = files.len().saturating_sub(names.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let reason = format!(
                "`{target}` is checked out in `{shown}`, where uncommitted changes are in the way: \
                 {}{more}; commit or stash them there, {then}",
                names.join(", ")
            );
            (reason, files)
        }
        Err(error @ GitError::InProgress { .. }) => {
            (format!("`{target}` is checked out in `{shown}`: {error}; {then}"), Vec::new())
        }
        Err(error) => return Err(error.into()),
    };
    Ok(Some(Verdict::Held(reason, Details { files, ..Details::default() })))
}

/// The other tasks in review that are meant for the same branch and do not fit any more. What is in the
/// queue itself has its own turn.
pub(super) fn in_the_way(engine: &Core, job: &Job) -> Result<Vec<ConflictingTask>, ToolError> {
    let repo = engine.repo(&engine.options.project)?;
    let target = &job.merge.target;
    let Some(head) = repo.resolve(&format!("refs/heads/{target}"))? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for handed in others(engine, job.task.id)? {
        let looked = || -> Result<Vec<ConflictView>, ToolError> {
            let Some(other) = handed.find(engine, &repo)?.filter(|other| other.target == *target)
            else {
                return Ok(Vec::new());
            };
            match repo.merge_trees(&head, &other.head)? {
                MergeOutcome::Conflicts(conflicts) => Ok(conflicts_of(&conflicts)),
                MergeOutcome::Clean { .. } | MergeOutcome::Unrelated => Ok(Vec::new()),
            }
        };
        match looked() {
            Ok(conflicts) if conflicts.is_empty() => {}
            Ok(conflicts) => found.push(ConflictingTask { task: handed.task.id, conflicts }),
            // The approver is told of that.
            Err(error) => {
                tracing::debug!(task = %handed.task.id, message = error.message, "skipped a task during the trial merge");
            }
        }
    }
    Ok(found)
}

/// All other tasks in review that are not in the queue.
fn others(engine: &Core, own: TaskId) -> Result<Vec<SubmittedWork>, ToolError> {
    let filter = TaskFilter { states: vec![TaskStateName::Review], ..TaskFilter::default() };
    engine.store.read(|tx| {
        let mut found = Vec::new();
        for task in Page::all(|after| tx.task_page(&filter, after, ROWS))? {
            let queued = tx.merge_of(task.id)?.is_some_and(|merge| merge.ended_at.is_none());
            if task.id != own && !queued {
                found.push(SubmittedWork::of(tx, task)?);
            }
        }
        Ok(found)
    })
}
