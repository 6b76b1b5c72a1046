//! Recovery from panics in the server's own tasks: a panic is reported, and the work restarts after a delay that
//! grows each time.

use std::time::Duration;

use model::{AgentId, Timestamp};
use store::{EventDraft, Recipient, Sender, Tx};
use tokio::task::{JoinError, JoinHandle};
use wire::event::{AgentWarned, EventData};

use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::mail::outgoing::{self, OutgoingMail};

/// Delay before the first restart; each further one takes twice as long.
const FIRST_DELAY: Duration = Duration::from_secs(1);
/// No delay is longer.
const MAX_DELAY: Duration = Duration::from_secs(60);
/// Time that reporting the end of a service may take; the record may be what failed.
const REPORT_TIMEOUT: Duration = Duration::from_secs(5);
/// At most one mail in this time is written about the same agent.
const LETTER_INTERVAL_SECONDS: i64 = 600;
/// The name under which mails about panics are counted.
const ESCALATED_AS: &str = "panic";

/// A panic, as it is reported.
#[derive(Debug, Clone)]
pub(crate) struct PanicReport {
    /// The agent that it concerns
    pub(crate) agent: Option<AgentId>,
    /// Activity that panicked
    pub(crate) doing: String,
    /// Panic message
    pub(crate) message: String,
    /// Recovery step
    pub(crate) next: String,
}

/// Delay before something is begun again that has panicked so many times before.
pub(crate) fn restart_delay(before: u32) -> Duration {
    FIRST_DELAY.saturating_mul(1_u32.checked_shl(before).unwrap_or(u32::MAX)).min(MAX_DELAY)
}

/// Extracts the panic message of a task; `None` if it did not panic.
pub(crate) fn message_of(error: JoinError) -> Option<String> {
    let payload = error.try_into_panic().ok()?;
    let text = payload.downcast_ref::<String>().cloned();
    let text = text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    Some(text.unwrap_or_else(|| "no message".to_owned()))
}

/// Watches a service of the server until its end. After a panic it cannot begin again beside the tasks that it left, and a
/// server without it would look healthy. So the panic is reported and `end_server` called, which must end the process:
/// nothing is lost by that, and a server in the background is started again.
pub async fn watch_service(
    engine: Core,
    name: &'static str,
    service: JoinHandle<()>,
    end_server: impl FnOnce() + Send,
) {
    let Err(error) = service.await else { return };
    let Some(message) = message_of(error) else { return };
    let next = "the server stops; one in the background is restarted".to_owned();
    let report = PanicReport { agent: None, doing: format!("running {name}"), message, next };
    let report = self::report(&engine, report);
    if tokio::time::timeout(REPORT_TIMEOUT, report).await.is_err() {
        tracing::error!(name, "failed to record a panic in time");
    }
    end_server();
}

/// Logs a panic, tells of it as an event of its agent, and writes to the human.
pub(crate) async fn report(engine: &Core, panic: PanicReport) {
    let PanicReport { agent, doing, message, next } = &panic;
    let id = agent.map(|agent| agent.to_string());
    tracing::error!(agent = id, doing, message, next, "a task of the server panicked");
    let (clock, noted) = (engine.clone(), panic);
    let written = engine.store.write(move |tx| record(tx, &noted, clock.now())).await;
    if let Err(error) = written {
        tracing::error!(causes = error.causes(), "failed to record a panic");
    }
}

fn record(tx: &mut Tx<'_>, panic: &PanicReport, now: Timestamp) -> Result<(), ToolError> {
    let PanicReport { agent, doing, message, next } = panic;
    let message = crate::core::redact::redact(message.chars().take(1_000).collect());
    let found = agent.map(|id| tx.agent_get(id)).transpose()?.flatten();
    if let Some(agent) = &found {
        let warning = format!("Adjutant had an internal error while {doing}: {message}; {next}");
        let data = EventData::AgentWarned(AgentWarned { warning });
        tx.event_append(now, &EventDraft { agent: Some(agent.id), task: agent.task, data })?;
    }
    let since = now.after_seconds(-LETTER_INTERVAL_SECONDS);
    if !tx.escalation_claim(*agent, ESCALATED_AS, since, now)? {
        return Ok(());
    }
    let subject = format!("Adjutant had an internal error while {doing}");
    let body = format!(
        "{message}\n\n{next}. This is a bug in Adjutant, not in your project. See the server's log for details.",
    );
    let from = Sender::System(found.as_ref().map(|agent| agent.id));
    let task = found.and_then(|agent| agent.task);
    let to = Recipient::Human;
    outgoing::send(tx, OutgoingMail { from, to, subject, body, reply_to: None, task }, now)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_up_to_a_minute() {
        let seconds: Vec<u64> = [0, 1, 2, 5, 6, 40].map(|n| restart_delay(n).as_secs()).into();
        assert_eq!(seconds, [1, 2, 4, 32, 60, 60]);
    }
}
