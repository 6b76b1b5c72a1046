//! Opens a pull request: takes the reviewer's file out of the branch, pushes it, and asks GitHub. Whatever was
//! done before is found again, so that there is one pull request however often it is asked for.

use std::path::PathBuf;

use host::git::{GitError, Push, Repo};
use host::github::{GitHub, GitHubError, NewPull, Pull, Repository};
use model::review::{PullState, ReviewState};
use model::{AgentId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{OutboxJob, PullRequest, Tx};
use wire::event::{EventData, PullOpened};

use super::{Ending, JobError, Point, note, notes_of, params_of};
use crate::call::cx::task_of;
use crate::core::error::{Code, ToolError};
use crate::core::handle::Core;
use crate::core::settings::Settings;
use crate::delivery::github::{self, Remote, follow, key_of};
use crate::delivery::outbox::params::PullJob;
use crate::delivery::reviews::{self, Closing, FEEDBACK_FILE, tell};
use crate::delivery::worktree_setup::{no_branch, ourselves, work_of};
use crate::mail::outgoing::MailText;
use crate::tasks::task_change;

/// The base where nobody knows better.
const MAIN: &str = "main";

/// Outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Opened {
    /// `owner/name`, as in the record
    pub(crate) repository: String,
    /// Its number
    pub(crate) pr_number: u64,
    /// Its page
    pub(crate) pr_url: String,
    /// The branch that is to be merged
    pub(crate) branch_name: String,
    /// Into which
    pub(crate) base_branch: String,
}

/// Source and target of a push.
#[derive(Debug, Clone)]
struct Source {
    /// Where the branch is checked out
    dir: Option<PathBuf>,
    branch: String,
    head: String,
    remote: String,
    url: String,
    repository: Repository,
    /// The remote's default branch, as far as it is known here
    usual: Option<String>,
}

/// Opens the pull request, or finds it open.
pub(super) async fn run(engine: &Core, job: &OutboxJob) -> Result<Ending, JobError> {
    let params = params_of(job)?;
    open_as(engine, job, params).await
}

/// Opens a pull request as a part of any job, whose notes it uses.
pub(super) async fn open_as(
    engine: &Core,
    job: &OutboxJob,
    params: PullJob,
) -> Result<Ending, JobError> {
    engine.point(Point::PullAsked);
    let owner = params.agent.or(params.caller).ok_or_else(|| {
        ToolError::wrong_state("a pull request needs an agent")
            .hint("name the agent to act as: `--as <agent>`")
    })?;
    let asked = params.clone();
    let source = engine.outside(move |engine| source(engine, &asked)).await?;
    let github = github::client(engine)?;
    let base = base(engine, &github, &params, &source).await?;
    let (place, into, at) = (source.clone(), base.clone(), job.created_at);
    let commit = engine.outside(move |engine| clean(engine, &place, &into, at)).await?;
    engine.point(Point::PullCleaned);
    let place = source.clone();
    engine.outside(move |engine| push(engine, &place, commit)).await?;
    engine.point(Point::PullPushed);
    let pull = open(engine, &github, job, &params, &source, &base).await?;
    engine.point(Point::PullOpened);
    let settings = engine.settings();
    let repository = key_of(&source.repository);
    Ok(Box::new(move |tx, now| record(tx, &settings, &params, owner, &repository, &pull, now)))
}

/// Finds the branch, and the repository on GitHub.
fn source(engine: &Core, params: &PullJob) -> Result<Source, JobError> {
    let work = params.agent.map(|agent| work_of(engine, agent)).transpose();
    let (dir, branch, head) = match (&params.branch, work) {
        (Some(branch), work) => {
            let repo = engine.repo(&engine.options.project)?;
            let head =
                repo.resolve(&format!("refs/heads/{branch}"))?.ok_or_else(|| gone(branch))?;
            let dir = work.ok().flatten().map(|work| work.dir);
            let has_it = |dir: &PathBuf| {
                repo.current_branch(dir).is_ok_and(|own| own.as_deref() == Some(branch.as_str()))
            };
            (dir.filter(has_it), branch.clone(), head)
        }
        (None, work) => {
            let work = work?.ok_or_else(|| ToolError::wrong_state("there is no branch"))?;
            own_branch(engine, params, work.dir)?
        }
    };
    let repo = engine.repo(&engine.options.project)?;
    let Remote { name: remote, url, repository } = github::remote(engine, &repo)?;
    let usual = repo.default_branch(&remote)?;
    Ok(Source { dir, branch, head, remote, url, repository, usual })
}

/// Branch checked out in an agent's directory; uncommitted work is refused.
fn own_branch(
    engine: &Core,
    params: &PullJob,
    dir: PathBuf,
) -> Result<(Option<PathBuf>, String, String), JobError> {
    let agent = params.agent;
    if !dir.is_dir() {
        // It has ended meanwhile, and its worktree was taken away; the branch was not.
        let worktree = agent.map(|agent| engine.store.read(|tx| tx.worktree_of(agent))).transpose();
        let worktree = worktree.map_err(ToolError::from)?.flatten();
        let branch = worktree.map(|worktree| worktree.branch).ok_or_else(|| {
            ToolError::conflict(format!("there is no folder `{}` any more", dir.display()))
        })?;
        let repo = engine.repo(&engine.options.project)?;
        let head = repo.resolve(&format!("refs/heads/{branch}"))?.ok_or_else(|| gone(&branch))?;
        return Ok((None, branch, head));
    }
    let repo = engine.repo(&dir)?;
    let state = repo.state(&dir)?;
    let branch = state.branch.clone().ok_or_else(no_branch)?;
    let head = state.head.clone().ok_or(GitError::NoCommits)?;
    if params.caller == agent && !state.is_clean() {
        let open = [state.staged, state.unstaged, state.untracked].concat();
        let message = format!(
            "{} files are not committed, and a pull request contains only commits",
            open.len()
        );
        return Err(JobError::Never(
            ToolError::conflict(message)
                .hint("commit the files that belong to the work, and remove or ignore the rest")
                .detail("files", open),
        ));
    }
    Ok((Some(dir), branch, head))
}

fn gone(branch: &str) -> ToolError {
    ToolError::conflict(format!("the branch `{branch}` does not exist any more"))
        .hint("if its commits still exist, `git branch <name> <commit>` restores it")
}

/// The branch that the pull request is meant for.
async fn base(
    engine: &Core,
    github: &GitHub,
    params: &PullJob,
    source: &Source,
) -> Result<String, JobError> {
    let known =
        params.agent.or(params.caller).map(|agent| engine.store.read(|tx| tx.pull_of(agent)));
    let known = known.transpose().map_err(ToolError::from)?.flatten();
    let open = known.filter(|known| {
        known.state == PullState::Open
            && known.branch == source.branch
            && known.repository == key_of(&source.repository)
    });
    let base = match (&params.base, open, &source.usual) {
        (Some(base), _, _) => base.clone(),
        (None, Some(open), _) => open.base,
        (None, None, Some(usual)) => usual.clone(),
        (None, None, None) => {
            let told = github.default_branch(&source.repository).await;
            let told = told.map_err(|error| failed(engine, error))?;
            if told.is_empty() { MAIN.to_owned() } else { told }
        }
    };
    if !Repo::is_valid_branch_name(&base) {
        let error = ToolError::invalid(format!("`{base}` is not a branch name"));
        return Err(error.detail("field", "base_branch").into());
    }
    // To push the branch that everybody works from is not to ask whether one may.
    if base == source.branch || source.usual.as_ref() == Some(&source.branch) {
        let branch = &source.branch;
        return Err(JobError::Never(
            ToolError::conflict(format!(
                "`{branch}` is a target branch and cannot be the source of a pull request"
            ))
            .hint("a pull request needs a branch of its own: `git switch -c <name>`"),
        ));
    }
    Ok(base)
}

/// Takes the reviewer's file out of the branch by a last commit, and says what is to be pushed.
fn clean(engine: &Core, source: &Source, base: &str, at: Timestamp) -> Result<String, JobError> {
    let Source { dir, branch, head, remote, .. } = source;
    let repo = engine.repo(dir.as_deref().unwrap_or(&engine.options.project))?;
    let there = repo.resolve(&format!("refs/remotes/{remote}/{base}"))?;
    let left = repo.file_at(head, FEEDBACK_FILE)?;
    // A file of that name that the project itself has stays as it was.
    let before = match &there {
        Some(there) if left.is_some() => repo.file_at(there, FEEDBACK_FILE)?,
        _ => None,
    };
    let cleaned = if left.is_none() || left == before {
        head.clone()
    } else {
        let about = format!("Remove {FEEDBACK_FILE}");
        repo.commit_file(head, FEEDBACK_FILE, before.as_deref(), &about, &ourselves(at))?
    };
    if let Some(there) = &there
        && is_nothing(&repo, there, &cleaned)?
    {
        return Err(JobError::Never(nothing(base)));
    }
    if cleaned == *head {
        return Ok(cleaned);
    }
    let stepped = dir.as_ref().map(|dir| repo.fast_forward(dir, &cleaned));
    let moved = match stepped {
        Some(Ok(())) => Ok(()),
        Some(Err(error)) if error.is_transient() => Err(error),
        // The worktree has a merge or rebase in progress: the branch moves without its files.
        Some(Err(_)) | None => repo.branch_move(branch, &cleaned, head),
    };
    match moved {
        Ok(()) => Ok(cleaned),
        // There was a commit at this moment, so the step begins again with it.
        Err(error @ GitError::Moved { .. }) => {
            Err(JobError::Again(ToolError::new(Code::TransientError, error.to_string())))
        }
        Err(error) => Err(error.into()),
    }
}

/// True if a branch has nothing that its base lacks.
fn is_nothing(repo: &Repo, base: &str, head: &str) -> Result<bool, GitError> {
    if repo.is_ancestor(head, base)? {
        return Ok(true);
    }
    match repo.changed_files(base, head) {
        Ok(files) => Ok(files.is_empty()),
        // GitHub has all of the history and says it itself.
        Err(GitError::Shallow | GitError::Partial(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

fn nothing(base: &str) -> ToolError {
    ToolError::conflict("there are no commits for a pull request")
        .hint(format!("commit changes that `{base}` does not have"))
}

fn push(engine: &Core, source: &Source, commit: String) -> Result<(), JobError> {
    let push = Push {
        remote: source.remote.clone(),
        url: source.url.clone(),
        commit,
        branch: source.branch.clone(),
        environment: github::git_environment(engine),
        header: github::push_header(engine, &source.url),
        scratch: Some(engine.options.secrets.clone()).filter(|folder| folder.is_dir()),
    };
    match engine.repo(&engine.options.project)?.push(&push) {
        Ok(()) => Ok(()),
        Err(error @ GitError::Rejected { .. }) => {
            Err(JobError::Never(ToolError::conflict(error.to_string())))
        }
        Err(error) => Err(error.into()),
    }
}

/// Progress notes of a job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Notes {
    /// The newest pull request of the branch before one was opened
    newest: Option<u64>,
}

/// Finds the pull request, or opens it.
async fn open(
    engine: &Core,
    github: &GitHub,
    job: &OutboxJob,
    params: &PullJob,
    source: &Source,
    base: &str,
) -> Result<Pull, JobError> {
    let Source { repository, branch, .. } = source;
    let found = github.find_pull(repository, branch, base).await;
    let found = found.map_err(|error| failed(engine, error))?;
    let newest = found.as_ref().map(|pull| pull.number);
    // One that was not there before is ours, even if it was closed or merged at once.
    let is_ours = notes_of::<Notes>(job)?.is_some_and(|notes| newest > notes.newest);
    if let Some(pull) = found.filter(|pull| is_ours || pull.state == PullState::Open) {
        return Ok(pull);
    }
    note(engine, job.id, &Notes { newest }).await?;
    let new = NewPull {
        title: params.title.clone(),
        body: params.description.clone(),
        head: branch.clone(),
        base: base.to_owned(),
    };
    github.create_pull(repository, &new).await.map_err(|error| {
        let GitHubError::Refused { messages, .. } = &error else { return failed(engine, error) };
        let says = |words: &str| messages.iter().any(|message| message.contains(words));
        JobError::Never(if says("No commits between") {
            nothing(base)
        } else if says("`base`: invalid") {
            ToolError::conflict(format!("{repository} has no branch `{base}` to merge into"))
                .hint("name another with `base_branch`")
        } else {
            error.into()
        })
    })
}

/// Converts an error of GitHub for an outbox job.
pub(super) fn failed(engine: &Core, error: GitHubError) -> JobError {
    match error.retry_at() {
        // Clocks differ: what should be over and is not is not asked for without a pause.
        Some(at) => JobError::Until(at.max(engine.now().after_seconds(1))),
        None => ToolError::from(error).into(),
    }
}

/// Writes the pull request down. A reviewer that opens one has approved the work.
fn record(
    tx: &mut Tx<'_>,
    settings: &Settings,
    params: &PullJob,
    owner: AgentId,
    repository: &str,
    pull: &Pull,
    now: Timestamp,
) -> Result<Value, ToolError> {
    let opened = Opened {
        repository: repository.to_owned(),
        pr_number: pull.number,
        pr_url: pull.url.clone(),
        branch_name: pull.head.clone(),
        base_branch: pull.base.clone(),
    };
    if let Some(known) = tx.pull_get(repository, pull.number)? {
        follow::changed(tx, &known, pull.state, "call", now)?;
    } else {
        tx.pull_insert(&PullRequest {
            agent: owner,
            opened_by: params.caller,
            epic: params.epic,
            repository: opened.repository.clone(),
            pull: pull.number,
            url: pull.url.clone(),
            branch: pull.head.clone(),
            base: pull.base.clone(),
            title: pull.title.clone(),
            state: pull.state,
            created_at: now,
            updated_at: now,
        })?;
        let data = EventData::PullOpened(PullOpened {
            repository: repository.to_owned(),
            number: pull.number,
            url: pull.url.clone(),
            branch: pull.head.clone(),
            base: pull.base.clone(),
            title: pull.title.clone(),
            state: pull.state,
            opened_by: params.caller,
            epic_id: params.epic,
        });
        tell(tx, owner, data, now)?;
        if params.epic.is_none() {
            note_on_task(tx, owner, &pull.url, now)?;
        }
    }
    let reviewer = params.caller.filter(|caller| *caller != owner);
    let review = reviewer.map(|reviewer| tx.review_by(reviewer)).transpose()?.flatten();
    if let Some(review) = review.filter(|review| review.coder == owner && !review.state.is_over()) {
        let word = MailText {
            subject: format!(
                "Review {}: approved, pull request #{}",
                review.iteration, pull.number
            ),
            body: format!(
                "The reviewer {} approved your work and opened the pull request {}. There is nothing left to do \
                 for it unless a comment there asks for changes.",
                review.reviewer, pull.url
            ),
        };
        let closing = Closing { state: ReviewState::Approved, feedback: None, word };
        reviews::close(tx, settings, &review, &closing, now)?;
    }
    serde_json::to_value(opened).map_err(ToolError::internal)
}

/// Says on the task of the branch's owner where its work is.
fn note_on_task(
    tx: &mut Tx<'_>,
    owner: AgentId,
    url: &str,
    now: Timestamp,
) -> Result<(), ToolError> {
    let task = tx.agent_get(owner)?.and_then(|agent| agent.task);
    let Some(mut task) = task_of(tx, task)? else { return Ok(()) };
    tx.task_set_pull(task.id, url, now)?;
    task.pr_url = Some(url.to_owned());
    task_change::touch(tx, &mut task, (Some(owner), now))
}
