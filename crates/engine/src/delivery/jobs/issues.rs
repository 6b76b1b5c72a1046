//! Opens issues on GitHub, each once: an issue carries a marker by which it is found again, and is written down as
//! soon as it is known.

use std::fmt::Write as _;
use std::path::Path;

use host::github::{GitHub, Issue, NewIssue, Repository};
use host::inside::{self, InsideError};
use model::plan_issues::planned_issues;
use model::{AgentId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use store::{EventDraft, GithubIssue, OutboxJob, Tx};
use wire::event::{EventData, IssuesCreated};

use super::pull::failed;
use super::{Ending, JobError, Point, note, notes_of, params_of};
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::core::redact::redact;
use crate::delivery::github::{self, key_of};
use crate::delivery::outbox::params::{IssueDraft, IssuesJob};
use crate::delivery::worktree_setup::work_of;

/// The lane of all issues: GitHub wants to be asked for one after the other.
pub(crate) const LANE: &str = "issues";
/// Maximum per call.
pub(crate) const MAX_ISSUES: usize = 50;
/// As long as GitHub allows.
pub(crate) const TITLE: usize = 256;
/// Almost as long as GitHub allows: the marker stands in the text too.
pub(crate) const BODY: usize = 65_000;
/// As long as GitHub allows.
pub(crate) const LABEL: usize = 50;
/// Maximum labels per issue.
pub(crate) const LABELS: usize = 20;
/// A plan that is longer is none.
const DOCUMENT: u64 = 1 << 20;
/// An issue that was opened and not written down is no older: what failed is not asked for again after that.
const LOOK_BACK_SECONDS: i64 = 24 * 3600;

/// An issue that is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Created {
    /// Its number
    pub(crate) number: u64,
    /// Its page
    pub(crate) url: String,
    /// Title
    pub(crate) title: String,
}

/// On whose behalf issues are opened: who asks for the same again on the same behalf gets the same ones.
#[derive(Debug, Clone)]
struct Requester {
    name: String,
    since: Timestamp,
}

/// Opens those that are not there yet.
pub(super) async fn run(engine: &Core, job: &OutboxJob) -> Result<Ending, JobError> {
    let params: IssuesJob = params_of(job)?;
    engine.point(Point::IssuesAsked);
    let issues = wanted(engine, job, &params).await?;
    let project = engine.options.project.clone();
    let repository = engine
        .outside(move |engine| {
            Ok::<_, ToolError>(github::remote(engine, &engine.repo(&project)?)?.repository)
        })
        .await?;
    let github = github::client(engine)?;
    let behalf = engine.store.read(|tx| behalf(tx, engine, &params, job.created_at))?;
    let mut created: Vec<Created> = Vec::new();
    for issue in issues {
        let one = open_one(engine, &github, &repository, &params, &behalf, issue).await;
        created.push(one.map_err(|job_error| so_far(job_error, &created))?);
    }
    Ok(Box::new(move |_, _| Ok(json!({ "issues": created }))))
}

/// Says what was done before something went wrong.
fn so_far(job_error: JobError, created: &[Created]) -> JobError {
    let told = |error: ToolError| match created {
        [] => error,
        created => error
            .hint("the issues in `created` are open; repeat the call to open the rest")
            .detail("created", json!(created)),
    };
    match job_error {
        JobError::Never(error) => JobError::Never(told(error)),
        JobError::Again(error) => JobError::Again(told(error)),
        waits => waits,
    }
}

/// Collects the requested issues. A plan is read once.
async fn wanted(
    engine: &Core,
    job: &OutboxJob,
    params: &IssuesJob,
) -> Result<Vec<IssueDraft>, JobError> {
    let Some(document) = params.document.clone() else { return Ok(params.issues.clone()) };
    if let Some(kept) = notes_of(job)? {
        return Ok(kept);
    }
    let caller = params.caller;
    let issues = engine.outside(move |engine| read(engine, caller, &document)).await?;
    note(engine, job.id, &issues).await?;
    Ok(issues)
}

/// Reads a plan where the caller works, else in the project.
fn read(
    engine: &Core,
    caller: Option<AgentId>,
    document: &str,
) -> Result<Vec<IssueDraft>, ToolError> {
    let refused =
        |why: &str| ToolError::invalid(format!("`{document}`: {why}")).detail("field", "document");
    let path = Path::new(document);
    let own = caller.and_then(|caller| work_of(engine, caller).ok());
    let own = own.map(|work| inside::read(&work.dir, path, DOCUMENT));
    let found = match own {
        Some(Ok(found)) => Ok(found),
        None | Some(Err(InsideError::Missing | InsideError::Outside)) => {
            inside::read(&engine.options.project, path, DOCUMENT)
        }
        Some(Err(error)) => Err(error),
    };
    let found = found.map_err(|error| refused(&error.to_string()))?;
    if found.size > DOCUMENT {
        return Err(refused(&format!("it has {} bytes; the limit is {DOCUMENT}", found.size)));
    }
    let text = String::from_utf8(found.bytes).map_err(|_| refused("it is not text in UTF-8"))?;
    let issues: Vec<IssueDraft> = planned_issues(&text)
        .into_iter()
        .map(|issue| IssueDraft {
            title: redact(issue.title),
            body: redact(issue.body),
            labels: issue.labels,
        })
        .collect();
    if issues.is_empty() {
        return Err(refused("it has no open section").hint(
            "each section under `## ` is one, or under `### ` below a heading `## Issues`; those marked `[x]`, `✅` \
             or `(done)` are not",
        ));
    }
    if issues.len() > MAX_ISSUES {
        return Err(refused(&format!("it has {} issues; the limit is {MAX_ISSUES}", issues.len()))
            .hint("put them into several documents, or mark what is done"));
    }
    match issues.iter().find_map(|issue| Some((&issue.title, too_long(issue)?))) {
        Some((title, why)) => Err(refused(&format!("the section `{title:.80}` {why}"))),
        None => Ok(issues),
    }
}

/// Parts of an issue that exceed GitHub's limits.
fn too_long(issue: &IssueDraft) -> Option<String> {
    let over = |text: &str, limit: usize| text.chars().count() > limit;
    if over(&issue.title, TITLE) {
        return Some(format!("has a heading of more than {TITLE} characters"));
    }
    if over(&issue.body, BODY) {
        return Some(format!("has more than {BODY} characters"));
    }
    if issue.labels.len() > LABELS {
        return Some(format!("has more than {LABELS} labels"));
    }
    let long = issue.labels.iter().find(|label| over(label, LABEL))?;
    Some(format!("has the label `{long:.80}`, which is longer than {LABEL} characters"))
}

fn behalf(
    tx: &Tx<'_>,
    engine: &Core,
    params: &IssuesJob,
    asked_at: Timestamp,
) -> Result<Requester, ToolError> {
    let look_back = asked_at.after_seconds(-LOOK_BACK_SECONDS);
    let agent = params.caller.map(|caller| tx.agent_get(caller)).transpose()?.flatten();
    let name = match agent {
        // Agents that work on one task, one after the other, request the same issues.
        Some(agent) => agent.task.map_or_else(|| agent.id.to_string(), |task| task.to_string()),
        None => format!("operator of {}", engine.options.home.display()),
    };
    Ok(Requester { name, since: look_back })
}

/// Marker of an issue.
fn marker(repository: &str, behalf: &Requester, issue: &IssueDraft) -> String {
    let mut hash = Sha256::new();
    for part in [repository, &behalf.name, &issue.title, &issue.body] {
        // The length before each part, so that no two lists of parts are the same text.
        hash.update(part.len().to_string());
        hash.update([0]);
        hash.update(part);
    }
    hash.finalize().iter().take(16).fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        _ = write!(text, "{byte:02x}");
        text
    })
}

/// The issue as it stands in the record or on GitHub; opened, if it stands nowhere.
async fn open_one(
    engine: &Core,
    github: &GitHub,
    repository: &Repository,
    params: &IssuesJob,
    behalf: &Requester,
    issue: IssueDraft,
) -> Result<Created, JobError> {
    let key = key_of(repository);
    let marker = marker(&key, behalf, &issue);
    let known = engine.store.read(|tx| tx.issue_by_marker(&marker)).map_err(ToolError::from)?;
    if let Some(known) = known {
        return Ok(Created { number: known.issue, url: known.url, title: known.title });
    }
    let found = github.find_issue(repository, &marker, behalf.since).await;
    let there = if let Some(there) = found.map_err(|error| failed(engine, error))? {
        there
    } else {
        let IssueDraft { title, body, labels } = issue;
        let new = NewIssue { title, body, labels, marker: marker.clone() };
        let opened = github.create_issue(repository, &new).await;
        let opened = opened.map_err(|error| failed(engine, error))?;
        engine.point(Point::IssuesOpened);
        opened
    };
    let Issue { number, url, title } = there;
    let row = GithubIssue {
        marker,
        agent: params.caller,
        repository: key,
        issue: number,
        url: url.clone(),
        title: title.clone(),
    };
    let clock = engine.clone();
    engine.store.write(move |tx| record(tx, &row, clock.now())).await?;
    Ok(Created { number, url, title })
}

fn record(tx: &mut Tx<'_>, row: &GithubIssue, now: Timestamp) -> Result<(), ToolError> {
    if tx.issue_by_marker(&row.marker)?.is_some() {
        return Ok(());
    }
    tx.issue_insert(row, now)?;
    let task = row.agent.map(|agent| tx.agent_get(agent)).transpose()?.flatten();
    let task = task.and_then(|agent| agent.task);
    let data = EventData::IssuesCreated(IssuesCreated {
        repository: row.repository.clone(),
        number: row.issue,
        url: row.url.clone(),
        title: row.title.clone(),
    });
    tx.event_append(now, &EventDraft { agent: row.agent, task, data })?;
    Ok(())
}

#[cfg(test)]
mod tests;
