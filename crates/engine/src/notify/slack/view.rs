//! Views of Slack and the operator's actions. They contain no token.

use serde_json::json;
use store::{Page, SlackAct, SlackOut, SlackThread, Tx};
use wire::slack::{SlackFailureView, SlackStatus, SlackThreadView, SlackThreads};

use super::LIVE;
use crate::call::cx::task_of;
use crate::core::error::ToolError;
use crate::notify::service::Notifications;

/// Failures shown.
const MAX_SHOWN: u32 = 20;
/// Characters of a text shown.
const BEGINNING: usize = 80;

fn failure_view(out: SlackOut) -> SlackFailureView {
    let (kind, text) = match out.what.act {
        SlackAct::Post => ("post", out.what.body.chars().take(BEGINNING).collect()),
        SlackAct::Mark | SlackAct::Unmark => ("reaction", out.what.name.unwrap_or_default()),
    };
    SlackFailureView {
        channel: out.what.channel,
        thread: out.what.thread,
        kind: kind.to_owned(),
        text,
        error: out.last_error.unwrap_or_default(),
        created_at: out.created_at,
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
    pub async fn slack_status(&self) -> Result<SlackStatus, ToolError> {
        let (settings, since) = (self.settings(), self.now().after_seconds(-LIVE));
        let now = self.slack_state.now().clone();
        let counted = self.store.scan(move |tx: &Tx<'_>| {
            Ok::<_, ToolError>((
                tx.slack_threads_count(since)?,
                tx.slack_out_count("pending")?,
                tx.slack_out_count("dead")?,
                tx.slack_out_dead(MAX_SHOWN)?,
            ))
        });
        let (threads, waiting, failed, failures) = counted.await?;
        let missing = self.slack_missing(&settings);
        Ok(SlackStatus {
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
            failures: failures.into_iter().map(failure_view).collect(),
        })
    }

    /// The threads that are ours, newest first.
    pub async fn slack_threads(
        &self,
        before: Option<i64>,
        limit: u32,
    ) -> Result<SlackThreads, ToolError> {
        let page = self.store.scan(move |tx: &Tx<'_>| {
            let Page { items, next } = tx.slack_thread_page(before.unwrap_or(i64::MAX), limit)?;
            let threads = items.into_iter().map(|thread| view(tx, thread));
            let threads = threads.collect::<Result<Vec<_>, _>>()?;
            Ok::<_, ToolError>(SlackThreads { threads, next_cursor: next })
        });
        page.await
    }

    /// Says what was given up again, and what waits now; says how much was given up.
    pub async fn slack_retry(&self) -> Result<u64, ToolError> {
        let missing = self.slack_missing(&self.settings());
        if let Some(first) = missing.first() {
            return Err(ToolError::conflict(format!("Slack is off: {first}"))
                .hint("`adjutant slack status` shows what is missing"));
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
