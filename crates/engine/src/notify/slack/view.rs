//! Views of Slack and the operator's actions. They contain no token.

use model::{AgentId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use store::{Page, SlackAct, SlackOut, SlackThread, Tx};

use super::LIVE;
use crate::call::cx::task_of;
use crate::core::error::ToolError;
use crate::notify::service::Notifications;

/// Failures shown.
const SHOWN: u32 = 20;
/// Characters of a text shown.
const BEGINNING: usize = 80;

/// Status of Slack.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SlackView {
    /// True if it is enabled
    pub on: bool,
    /// Missing settings, if it is disabled
    pub missing: Vec<String>,
    /// Since when there is a connection; null where there is none
    pub connected_at: Option<Timestamp>,
    /// Problem with the connection
    pub problem: Option<String>,
    /// The workspace
    pub team: Option<String>,
    /// Our own user there
    pub user_id: Option<String>,
    /// When Slack last told something, since the server started
    pub last_event_at: Option<Timestamp>,
    /// Users who may give orders
    pub users: Vec<String>,
    /// In how many threads something happened in the last two weeks
    pub threads: i64,
    /// Number of messages waiting to be sent
    pub waiting: i64,
    /// Number of messages given up
    pub failed: i64,
    /// The last of what was given up, newest first
    pub failures: Vec<SlackFailureView>,
}

/// Something that Slack did not take.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct SlackFailureView {
    /// The channel
    pub channel: String,
    /// The message with which the thread begins
    pub thread: String,
    /// Action: `post` or `reaction`
    pub kind: String,
    /// The beginning of what was to be said, or the reaction
    pub text: String,
    /// Slack's error
    pub error: String,
    /// When it was made
    pub created_at: Timestamp,
}

/// A thread.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct SlackThreadView {
    /// The channel
    pub channel: String,
    /// The message with which it begins
    pub thread: String,
    /// Slack user who started it
    pub user: String,
    /// Its role; null while nobody said which
    pub role: Option<String>,
    /// Its task
    pub task_slug: Option<String>,
    /// The agent that works on it, or did last
    pub agent_id: Option<AgentId>,
    /// Its state
    pub state: Option<String>,
    /// When something last happened in it
    pub changed_at: Timestamp,
}

/// A page of threads.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SlackThreadsView {
    /// The threads, newest first
    pub threads: Vec<SlackThreadView>,
    /// Where the next page begins, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<i64>,
}

impl From<SlackOut> for SlackFailureView {
    fn from(out: SlackOut) -> Self {
        let (kind, text) = match out.what.act {
            SlackAct::Post => ("post", out.what.body.chars().take(BEGINNING).collect()),
            SlackAct::Mark | SlackAct::Unmark => ("reaction", out.what.name.unwrap_or_default()),
        };
        Self {
            channel: out.what.channel,
            thread: out.what.thread,
            kind: kind.to_owned(),
            text,
            error: out.last_error.unwrap_or_default(),
            created_at: out.created_at,
        }
    }
}

fn view(tx: &Tx<'_>, thread: SlackThread) -> Result<SlackThreadView, ToolError> {
    let agent = tx.slack_orders(thread.number)?.first().map(|order| order.agent);
    let agent = agent.map(|id| tx.agent_get(id)).transpose()?.flatten();
    Ok(SlackThreadView {
        task_slug: task_of(tx, thread.task)?.map(|task| task.slug),
        agent_id: agent.as_ref().map(|agent| agent.id),
        state: agent.map(|agent| agent.state.name().stored().to_owned()),
        channel: thread.channel,
        thread: thread.ts,
        user: thread.user,
        role: thread.role,
        changed_at: thread.changed_at,
    })
}

impl Notifications {
    /// Status of Slack.
    pub async fn slack_status(&self) -> Result<SlackView, ToolError> {
        let (settings, since) = (self.settings(), self.now().after_seconds(-LIVE));
        let now = self.slack_state.now().clone();
        let counted = self.store.scan(move |tx: &Tx<'_>| {
            Ok::<_, ToolError>((
                tx.slack_threads_count(since)?,
                tx.slack_out_count("pending")?,
                tx.slack_out_count("dead")?,
                tx.slack_out_dead(SHOWN)?,
            ))
        });
        let (threads, waiting, failed, failures) = counted.await?;
        let missing = self.slack_missing(&settings);
        Ok(SlackView {
            on: missing.is_empty(),
            missing,
            connected_at: now.connected_at,
            problem: now.problem,
            team: now.identity.as_ref().map(|identity| identity.team.clone()),
            user_id: now.identity.map(|identity| identity.user),
            last_event_at: now.last_event_at,
            users: settings.slack.users.clone(),
            threads,
            waiting,
            failed,
            failures: failures.into_iter().map(SlackFailureView::from).collect(),
        })
    }

    /// The threads that are ours, newest first.
    pub async fn slack_threads(
        &self,
        before: Option<i64>,
        limit: u32,
    ) -> Result<SlackThreadsView, ToolError> {
        let page = self.store.scan(move |tx: &Tx<'_>| {
            let Page { items, next } = tx.slack_thread_page(before.unwrap_or(i64::MAX), limit)?;
            let threads = items.into_iter().map(|thread| view(tx, thread));
            let threads = threads.collect::<Result<Vec<_>, _>>()?;
            Ok::<_, ToolError>(SlackThreadsView { threads, next_cursor: next })
        });
        page.await
    }

    /// Says what was given up again, and what waits now; says how much was given up.
    pub async fn slack_retry(&self) -> Result<u64, ToolError> {
        let missing = self.slack_missing(&self.settings());
        if let Some(first) = missing.first() {
            return Err(ToolError::conflict(format!("Slack is off: {first}"))
                .hint("`adjutant slack status` says what is missing"));
        }
        let engine = self.clone();
        let retried = self.store.write(move |tx| {
            let now = engine.now();
            let retried = tx.slack_out_retry(now)?;
            tx.slack_out_hurry(now)?;
            let output = json!({ "retried": retried });
            let row = engine.operator_row("operator__slack_retry", None, "{}".to_owned(), &output);
            tx.audit_append(&row)?;
            Ok::<_, ToolError>(retried)
        });
        let retried = retried.await?;
        self.slack_state.to_say.notify_one();
        Ok(retried)
    }
}
