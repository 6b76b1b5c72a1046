//! Brings what a reviewer wrote to the coder: as a commit, merged into the coder's worktree. Where that is
//! not possible at once it comes by mail, and the merge is tried again when the coder is next heard of.

use host::git::{GitError, MergeOutcome, Repo, TreeState};
use model::Timestamp;
use model::review::{FeedbackType, OnApproval, OutboxJobKind, ReviewState};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{Feedback, OutboxJob, Review, Tx};
use tokio_util::sync::CancellationToken;
use wire::event::{EventData, ReviewFeedback};

use super::approval::{self, Approval};
use super::{Ending, JobError, Point, RETRIES, note, notes_of, params_of};
use crate::call::cx::{find_agent, task_of};
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::core::redact::redact;
use crate::core::settings::Settings;
use crate::delivery::outbox::params::{FeedbackJob, PullJob};
use crate::delivery::outbox::{self, NewJob, lane_of};
use crate::delivery::reviews::{self, Closing, FEEDBACK_FILE, tell};
use crate::delivery::worktree_setup::{Work, ourselves, work_of};
use crate::mail::outgoing::MailText;

/// Wait for a coder whose worktree is busy, without a sign of it.
const PATIENCE_MS: i64 = 30_000;

/// Progress notes of a job.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Notes {
    /// The commit by which the feedback is merged
    merge: Option<String>,
}

/// Outcome of the merge.
#[derive(Debug, Clone)]
enum Landing {
    /// It is there already, or now, by this commit
    At(String),
    /// It is ready to be there by this commit
    Ready(String),
    /// The worktree is in the middle of something
    NotNow(String),
    /// There is no worktree any more
    Nowhere,
}

/// Beginnings of the messages of commits that bring feedback.
const FEEDBACK_COMMITS: [&str; 2] = ["Feedback of ", "Merge feedback of "];

/// True for the subject of a commit that brought feedback.
pub(super) fn is_feedback_commit(subject: &str) -> bool {
    FEEDBACK_COMMITS.iter().any(|start| subject.starts_with(start))
}

/// Merges the feedback, and tells the coder.
pub(super) async fn run(
    engine: &Core,
    job: &OutboxJob,
    shutdown: &CancellationToken,
) -> Result<Ending, JobError> {
    let params: FeedbackJob = params_of(job)?;
    engine.point(Point::FeedbackAsked);
    let coder = engine.store.read(|tx| tx.agent_get(params.coder)).map_err(ToolError::from)?;
    let is_over = coder.is_none_or(|coder| coder.ended_at().is_some());
    let review = engine.store.read(|tx| tx.review_by(params.reviewer)).map_err(ToolError::from)?;
    let Some(review) = review.filter(|_| !is_over) else {
        return Err(JobError::Never(ToolError::wrong_state("the agent you review has ended")));
    };
    if params.kind == FeedbackType::Approved {
        return approve(engine, job, params, review, shutdown).await;
    }
    let notes: Notes = notes_of(job)?.unwrap_or_default();
    let (asked, looked) = (params.clone(), review.clone());
    let landing = engine.outside(move |engine| plan(engine, &asked, &looked, notes)).await?;
    engine.point(Point::FeedbackCommitted);
    let landed = match landing {
        Landing::Ready(merge) => {
            note(engine, job.id, &Notes { merge: Some(merge.clone()) }).await?;
            engine.point(Point::FeedbackNoted);
            let asked = params.clone();
            let landed = engine.outside(move |engine| land(engine, &asked, merge)).await?;
            engine.point(Point::FeedbackMerged);
            landed
        }
        other => other,
    };
    let settings = engine.settings();
    match landed {
        Landing::NotNow(why) if params.told => {
            tracing::debug!(coder = %params.coder, why, "feedback not merged yet; retrying");
            Err(JobError::Until(engine.now().after_millis(PATIENCE_MS)))
        }
        landed => {
            Ok(Box::new(move |tx, now| record(tx, &settings, &params, &review, &landed, now)))
        }
    }
}

/// Approves the work: nothing is written into the coder's worktree, and what follows is up to the configuration. Where a
/// pull request cannot be opened, a person decides and is told why.
async fn approve(
    engine: &Core,
    job: &OutboxJob,
    params: FeedbackJob,
    review: Review,
    shutdown: &CancellationToken,
) -> Result<Ending, JobError> {
    let asked = |core: &Core| Ok::<_, ToolError>(approval::consequence(core));
    let mut follows = engine.outside(asked).await?;
    let in_epic = engine.store.read(|tx| {
        let coder = find_agent(tx, params.coder)?;
        Ok::<_, ToolError>(task_of(tx, coder.task)?.is_some_and(|task| task.epic.is_some()))
    })?;
    let mut problem = None;
    let mut opened = None;
    if follows == OnApproval::PullRequest && in_epic {
        // Its supervisor decides, and the epic has a pull request of its own.
        follows = OnApproval::Person;
    } else if follows == OnApproval::PullRequest {
        let pull = pull_of(engine, &params, &review)?;
        let opening = super::pull::open_as(engine, job, pull);
        match shutdown.run_until_cancelled(opening).await.unwrap_or(Err(JobError::Leave)) {
            Ok(ending) => opened = Some(ending),
            Err(JobError::Never(error)) => problem = Some(error.message),
            Err(JobError::Again(error)) if job.tries >= RETRIES => {
                problem = Some(error.message);
            }
            Err(other) => return Err(other),
        }
    }
    let settings = engine.settings();
    Ok(Box::new(move |tx, now| {
        record_feedback(tx, &params, &review, None, now)?;
        if let Some(opened) = &opened {
            // It ends the review itself.
            opened(tx, now)?;
        } else {
            let (words, problem) = (params.body.as_str(), problem.as_deref());
            let approval = Approval { review: &review, words, follows, problem };
            approval::record(tx, &settings, &approval, now)?;
        }
        Ok(answer(&params, None))
    }))
}

/// The pull request of approved work: the task's title, and the reviewer's words.
fn pull_of(engine: &Core, params: &FeedbackJob, review: &Review) -> Result<PullJob, ToolError> {
    let task = engine.store.read(|tx| {
        let coder = find_agent(tx, params.coder)?;
        Ok::<_, ToolError>(task_of(tx, coder.task)?)
    })?;
    let title = task
        .as_ref()
        .map_or_else(|| format!("Work of {}", params.coder), |task| task.title.clone());
    let about = task.and_then(|task| task.description).map(|text| format!("{text}\n\n"));
    let about: String = about.unwrap_or_default().chars().take(20_000).collect();
    let said = params.body.trim_end();
    Ok(PullJob {
        agent: Some(params.coder),
        epic: None,
        branch: Some(review.branch.clone()),
        title: redact(title.chars().take(256).collect()),
        description: redact(format!("{about}Approved by {}:\n\n{said}\n", params.reviewer)),
        base: None,
        caller: Some(params.reviewer),
    })
}

/// Records words of a reviewer that has ended and that could not be brought otherwise, so that they are not lost.
pub(super) async fn undo(engine: &Core, job: &OutboxJob) -> Result<(), ToolError> {
    let Ok(params) = params_of::<FeedbackJob>(job) else { return Ok(()) };
    let (settings, clock) = (engine.settings(), engine.clone());
    engine
        .store
        .write(move |tx| {
            let is_over = tx.agent_get(params.reviewer)?.is_none_or(|one| one.ended_at().is_some());
            let review = tx.review_by(params.reviewer)?.filter(|review| !review.state.is_over());
            match review.filter(|_| is_over) {
                Some(review) => reviews::deliver(tx, &settings, &review, &params.body, clock.now()),
                None => Ok(()),
            }
        })
        .await
}

/// Makes the commits of the feedback without touching any checked-out files.
fn plan(
    engine: &Core,
    params: &FeedbackJob,
    review: &Review,
    notes: Notes,
) -> Result<Landing, JobError> {
    let Ok(work) = work_of(engine, params.coder) else { return Ok(Landing::Nowhere) };
    if !work.dir.is_dir() {
        return Ok(Landing::Nowhere);
    }
    let repo = engine.repo(&work.dir)?;
    let state = repo.state(&work.dir)?;
    let head = state.head.clone().ok_or(GitError::NoCommits)?;
    if let Some(merge) = notes.merge
        && repo.is_ancestor(&merge, &head)?
    {
        return Ok(Landing::At(merge));
    }
    if let Some(why) = hindrance(&state) {
        return Ok(Landing::NotNow(why));
    }
    let who = ourselves(params.at);
    let text = file(params, review.iteration);
    let [said, merged] = FEEDBACK_COMMITS;
    let about = format!("{said}{} ({})", params.reviewer, params.kind);
    let said =
        repo.commit_file(&review.commit, FEEDBACK_FILE, Some(text.as_bytes()), &about, &who)?;
    let tree = merged_tree(&repo, &head, &said, text.as_bytes())?;
    let about = format!("{merged}{} into {}", params.reviewer, review.branch);
    Ok(Landing::Ready(repo.commit_merge(&tree, &[&head, &said], &about, &who)?))
}

/// The coder's tree with the feedback in it, whatever the coder did to earlier feedback.
fn merged_tree(repo: &Repo, ours: &str, theirs: &str, text: &[u8]) -> Result<String, GitError> {
    match repo.merge_trees(ours, theirs)? {
        MergeOutcome::Clean { tree } => Ok(tree),
        MergeOutcome::Conflicts(_) | MergeOutcome::Unrelated => {
            repo.tree_with(&format!("{ours}^{{tree}}"), FEEDBACK_FILE, Some(text))
        }
    }
}

/// Why nothing can be merged into a worktree now.
fn hindrance(state: &TreeState) -> Option<String> {
    if let Some(doing) = &state.in_progress {
        return Some(format!("a {doing} is in progress"));
    }
    if !state.staged.is_empty() {
        return Some(format!("{} files are staged", state.staged.len()));
    }
    let in_the_way = state
        .unstaged
        .iter()
        .chain(&state.untracked)
        .any(|file| file.rsplit('/').next() == Some(FEEDBACK_FILE));
    in_the_way.then(|| format!("`{FEEDBACK_FILE}` is being edited"))
}

/// Moves the coder's branch and files to the merge.
fn land(engine: &Core, params: &FeedbackJob, merge: String) -> Result<Landing, JobError> {
    let Work { dir, .. } = work_of(engine, params.coder)?;
    match engine.repo(&dir)?.fast_forward(&dir, &merge) {
        Ok(()) => Ok(Landing::At(merge)),
        Err(error @ (GitError::Dirty(_) | GitError::Conflict(_))) => {
            Ok(Landing::NotNow(error.to_string()))
        }
        Err(error) => Err(error.into()),
    }
}

/// The file that the coder reads.
fn file(params: &FeedbackJob, iteration: u32) -> String {
    let priority =
        params.priority.map(|priority| format!("- Priority: {priority}\n")).unwrap_or_default();
    let items: Vec<String> = params.items.iter().map(|item| format!("- [ ] {item}\n")).collect();
    let items = match items.concat() {
        none if none.is_empty() => none,
        items => format!("\n## To do\n\n{items}"),
    };
    format!(
        "# Review feedback\n\n- From: {}\n- Review: {iteration}\n- Type: {}\n{priority}\n{}\n{items}",
        params.reviewer,
        params.kind,
        params.body.trim_end()
    )
}

/// Writes down that the feedback came, and lets the coder go on.
fn record(
    tx: &mut Tx<'_>,
    settings: &Settings,
    params: &FeedbackJob,
    review: &Review,
    landed: &Landing,
    now: Timestamp,
) -> Result<Value, ToolError> {
    let commit = match landed {
        Landing::At(commit) | Landing::Ready(commit) => Some(commit.clone()),
        Landing::NotNow(_) | Landing::Nowhere => None,
    };
    let answer = answer(params, commit.as_deref());
    if params.told {
        if let Some(commit) = &commit {
            tx.feedback_merged(params.id, commit)?;
            let data = EventData::ReviewFeedback(ReviewFeedback {
                feedback_id: params.id,
                reviewer_id: params.reviewer,
                kind: None,
                iteration: None,
                commit: Some(commit.clone()),
            });
            tell(tx, params.coder, data, now)?;
        }
        return Ok(answer);
    }
    record_feedback(tx, params, review, commit, now)?;
    let word = word(params, review, landed);
    let closing = Closing { state: ReviewState::Feedback, feedback: Some(params.kind), word };
    reviews::close(tx, settings, review, &closing, now)?;
    if let Landing::NotNow(_) = landed {
        let (lane, agent) = (lane_of(params.coder), Some(params.coder));
        let params = FeedbackJob { told: true, ..params.clone() };
        let caller = Some(params.reviewer);
        let sending =
            NewJob { kind: OutboxJobKind::Feedback, lane, agent, caller, params: &params };
        let merging = outbox::send(tx, sending, now)?;
        tx.outbox_job_reschedule(merging, now.after_millis(PATIENCE_MS))?;
    }
    Ok(answer)
}

fn answer(params: &FeedbackJob, commit: Option<&str>) -> Value {
    json!({
        "feedback_id": params.id, "git_commit_hash": commit, "target_instance_id": params.coder,
        "cleanup_status": "terminating",
        "delivered_by": if commit.is_some() { "merge" } else { "mail" },
    })
}

/// Records the reviewer's feedback, unless its review is over.
fn record_feedback(
    tx: &mut Tx<'_>,
    params: &FeedbackJob,
    review: &Review,
    commit: Option<String>,
    now: Timestamp,
) -> Result<(), ToolError> {
    let current = tx.review_by(params.reviewer)?;
    if current.is_none_or(|review| review.state.is_over()) {
        return Err(ToolError::wrong_state("this review has already ended"));
    }
    tx.feedback_insert(&Feedback {
        id: params.id,
        reviewer: params.reviewer,
        coder: params.coder,
        kind: params.kind,
        priority: params.priority,
        body: params.body.clone(),
        items: params.items.clone(),
        commit: commit.clone(),
        created_at: now,
    })?;
    let data = EventData::ReviewFeedback(ReviewFeedback {
        feedback_id: params.id,
        reviewer_id: params.reviewer,
        kind: Some(params.kind),
        iteration: Some(review.iteration),
        commit,
    });
    tell(tx, params.coder, data, now)
}

fn word(params: &FeedbackJob, review: &Review, landed: &Landing) -> MailText {
    let way = match landed {
        Landing::At(commit) | Landing::Ready(commit) => {
            format!("It is in your worktree as `{FEEDBACK_FILE}` (commit {commit}).")
        }
        Landing::NotNow(why) => format!(
            "It could not be merged into your worktree because {why}; that is tried again at your next \
             call. Until then this is all of it."
        ),
        Landing::Nowhere => "Your worktree is gone, so this letter is all of it.".to_owned(),
    };
    MailText {
        subject: format!("Review {}: {}", review.iteration, params.kind),
        body: format!(
            "{way}\n\n{}\n\nAnswer it point by point, commit, and call `request_review` again; or open \
             the pull request with `create_pull_request`.",
            file(params, review.iteration)
        ),
    }
}
