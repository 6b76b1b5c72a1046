//! Follows pull requests: by polling and by GitHub's webhooks.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use host::github::{Repository, parse_event, verify_signature};
use model::review::PullState;
use model::task::{TaskMove, TaskStateName};
use model::{EpicId, EpicState, Timestamp};
use serde_json::json;
use store::{Agent, PullRequest, Recipient, Sender, Tx};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use wire::event::{EventData, PullChanged};

use crate::call::cx::task_of;
use crate::core::error::{Code, ToolError};
use crate::core::handle::Core;
use crate::delivery::reviews::tell;
use crate::delivery::service::Delivery;
use crate::delivery::worktree_release;
use crate::mail::outgoing::{self, OutgoingMail};
use crate::tasks::epic::advance;
use crate::tasks::task_change;

/// Outcome of a webhook from GitHub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GithubHookEffect {
    /// A pull request stands otherwise now
    Changed,
    /// It was known already
    Unchanged,
    /// It is about nothing of ours
    Ignored,
}

/// Writes down how a pull request stands, and what follows from that. False where it was known.
pub(crate) fn changed(
    tx: &mut Tx<'_>,
    pull: &PullRequest,
    state: PullState,
    by: &str,
    now: Timestamp,
) -> Result<bool, ToolError> {
    // A merge is final; an older state that arrives late is ignored.
    let is_in = pull.state == PullState::Merged;
    if is_in || !tx.pull_set(&pull.repository, pull.pull, state, now)? {
        return Ok(false);
    }
    let data = EventData::PullChanged(PullChanged {
        repository: pull.repository.clone(),
        number: pull.pull,
        url: pull.url.clone(),
        branch: pull.branch.clone(),
        base: pull.base.clone(),
        from: pull.state,
        state,
        by: by.to_owned(),
    });
    tell(tx, pull.agent, data, now)?;
    if let (PullState::Merged, Some(epic)) = (state, pull.epic) {
        complete_epic(tx, epic, now)?;
    }
    // A successor has the worktree of its predecessor.
    let owner = tx.worktree_by_branch(&pull.branch)?.map_or(pull.agent, |worktree| worktree.agent);
    let Some(agent) = tx.agent_get(owner)? else { return Ok(true) };
    if state == PullState::Merged {
        complete(tx, pull, &agent, now)?;
        clear(tx, pull, &agent, now)?;
    }
    write_to(tx, pull, &agent, state, now)?;
    Ok(true)
}

/// The epic that a merged pull request was for is done.
fn complete_epic(tx: &mut Tx<'_>, epic: EpicId, now: Timestamp) -> Result<(), ToolError> {
    let Some(epic) = tx.epic_get(epic)? else { return Ok(()) };
    match epic.state.go(EpicState::Completed) {
        Ok(to) => advance(tx, &epic, to, None, now),
        Err(_) => Ok(()),
    }
}

/// The task that a merged pull request was for is done.
fn complete(
    tx: &mut Tx<'_>,
    pull: &PullRequest,
    agent: &Agent,
    now: Timestamp,
) -> Result<(), ToolError> {
    let task = task_of(tx, agent.task)?;
    let Some(mut task) = task.filter(|task| task.pr_url.as_deref() == Some(&pull.url)) else {
        return Ok(());
    };
    match task.state.name() {
        TaskStateName::InProgress if task.epic.is_some() => Ok(()),
        TaskStateName::Review | TaskStateName::InProgress => {
            task_change::apply(tx, &mut task, TaskMove::Complete, (None, now))
        }
        TaskStateName::Pending
        | TaskStateName::Assigned
        | TaskStateName::Blocked
        | TaskStateName::Completed
        | TaskStateName::Failed
        | TaskStateName::Cancelled => Ok(()),
    }
}

/// Nobody needs the worktree of a branch that is in.
fn clear(
    tx: &mut Tx<'_>,
    pull: &PullRequest,
    agent: &Agent,
    now: Timestamp,
) -> Result<(), ToolError> {
    if tx.worktree_of(agent.id)?.is_none_or(|worktree| worktree.branch != pull.branch) {
        return Ok(());
    }
    worktree_release::discard_worktree(tx, agent, now)
}

/// Tells the agent that did the work, or the one that asked for it.
fn write_to(
    tx: &mut Tx<'_>,
    pull: &PullRequest,
    agent: &Agent,
    state: PullState,
    now: Timestamp,
) -> Result<(), ToolError> {
    let (what, next) = match state {
        PullState::Open => ("was opened again", "It waits for its merge."),
        PullState::Merged => ("was merged", "Your work was merged; nothing is left to do."),
        PullState::Closed => {
            ("was closed and not merged", "Read the reason there before you continue.")
        }
    };
    let subject = format!("Pull request #{} {what}", pull.pull);
    let body = format!("{} ({}), from `{}`: {next}", pull.url, pull.title, pull.branch);
    let mail = if agent.ended_at().is_none() {
        let to = Recipient::Agent(agent.id);
        let from = Sender::System(None);
        OutgoingMail { from, to, subject, body, reply_to: None, task: agent.task }
    } else if state == PullState::Closed {
        OutgoingMail::about(agent, outgoing::above(tx, agent)?, subject, body)
    } else {
        return Ok(());
    };
    outgoing::send(tx, mail, now)?;
    Ok(())
}

impl Delivery {
    /// Takes in what GitHub tells, if it is GitHub who tells it.
    pub async fn github_told(
        &self,
        event: &str,
        signature: Option<&str>,
        body: &[u8],
    ) -> Result<GithubHookEffect, ToolError> {
        let secret = self.options.github.webhook.as_deref().filter(|secret| !secret.is_empty());
        let secret = secret.ok_or_else(|| {
            ToolError::not_found("GitHub webhooks are not accepted: no key is set").hint(
                "set the variable that `github.webhookSecretVariable` names (`GITHUB_WEBHOOK_SECRET`, unless it \
                 was changed) to the webhook's secret, and start the server again",
            )
        })?;
        if !signature.is_some_and(|signature| verify_signature(secret.as_bytes(), body, signature))
        {
            let message = "`X-Hub-Signature-256` does not fit the body";
            return Err(ToolError::new(Code::Unauthenticated, message)
                .hint("the webhook's secret on GitHub must be the server's"));
        }
        let Some(told) = parse_event(event, body) else { return Ok(GithubHookEffect::Ignored) };
        let (owner, name) = &told.repository;
        let repository = format!("{owner}/{name}").to_ascii_lowercase();
        let (engine, event) = (self.clone(), event.to_owned());
        self.store
            .write(move |tx| {
                let Some(pull) = tx.pull_get(&repository, told.number)? else {
                    return Ok(GithubHookEffect::Ignored);
                };
                if !changed(tx, &pull, told.state, "webhook", engine.now())? {
                    return Ok(GithubHookEffect::Unchanged);
                }
                let input = json!({
                    "event": event, "repository": repository, "number": told.number,
                    "state": told.state,
                });
                let output = json!({ "from": pull.state, "state": told.state });
                let agent = Some(pull.agent);
                let row = engine.operator_row("github__webhook", agent, input.to_string(), &output);
                tx.audit_append(&row)?;
                Ok(GithubHookEffect::Changed)
            })
            .await
    }
}

/// Asks now and then what became of the pull requests that are open.
#[derive(Debug, Clone, Default)]
pub(crate) struct Poll(Arc<Mutex<PullStatus>>);

#[derive(Debug, Default)]
struct PullStatus {
    is_asking: bool,
    /// When to ask again; at once where nobody has asked yet
    due: Option<Timestamp>,
}

impl Poll {
    /// Starts a poll if it is due, and returns when the next one is. The poll rings the bell when it is done.
    pub(crate) fn turn(
        &self,
        engine: &Delivery,
        tasks: &TaskTracker,
        shutdown: &CancellationToken,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, ToolError> {
        let seconds = engine.settings().github.poll_seconds;
        if seconds == 0 || engine.options.github.token.is_none() {
            return Ok(None);
        }
        let open = engine.store.read(|tx| tx.pulls_open())?;
        let mut poll_status = self.poll_status();
        if open.is_empty() || poll_status.is_asking {
            return Ok(None);
        }
        if let Some(due) = poll_status.due.filter(|due| *due > now) {
            return Ok(Some(due));
        }
        poll_status.is_asking = true;
        drop(poll_status);
        let (poll, engine, shutdown) = (self.clone(), engine.clone(), shutdown.clone());
        tasks.spawn(async move {
            let told = shutdown.run_until_cancelled(ask(&engine, open)).await.flatten();
            let usual = engine.now().after_seconds(seconds.into());
            let mut poll_status = poll.poll_status();
            poll_status.is_asking = false;
            poll_status.due = Some(told.map_or(usual, |told| told.max(usual)));
            drop(poll_status);
            engine.outbox.ring();
        });
        Ok(None)
    }

    fn poll_status(&self) -> MutexGuard<'_, PullStatus> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks for each of them. Says when GitHub takes questions again, if it wants to be left alone.
async fn ask(engine: &Core, open: Vec<PullRequest>) -> Option<Timestamp> {
    let github = match super::client(engine) {
        Ok(github) => github,
        Err(error) => {
            tracing::warn!(
                message = error.message,
                "no GitHub client; pull requests are not followed"
            );
            return None;
        }
    };
    for pull in open {
        let name = pull.repository.split_once('/');
        // Only the names are asked for: the client knows its own host.
        let Some(repository) =
            name.and_then(|(owner, name)| Repository::new("github.com", owner, name))
        else {
            continue;
        };
        match github.pull(&repository, pull.pull).await {
            Ok(found) if found.state == pull.state => {}
            Ok(found) => note(engine, pull, found.state).await,
            Err(error) => {
                tracing::info!(%repository, number = pull.pull, %error, "failed to query pull request");
                if error.is_transient() {
                    return error.retry_at();
                }
            }
        }
    }
    None
}

/// Records the observed state, unless a newer one was recorded meanwhile.
async fn note(engine: &Core, seen: PullRequest, state: PullState) {
    let (clock, number) = (engine.clone(), seen.pull);
    let written = engine
        .store
        .write(move |tx| {
            let now_is = tx.pull_get(&seen.repository, seen.pull)?;
            if now_is.as_ref() == Some(&seen) {
                changed(tx, &seen, state, "poll", clock.now())?;
            }
            Ok::<_, ToolError>(())
        })
        .await;
    if let Err(error) = written {
        tracing::error!(
            number,
            causes = error.causes(),
            "failed to record the state of a pull request"
        );
    }
}
