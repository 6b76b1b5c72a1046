//! The requested end of an agent: its descendants first, then a request in its own
//! protocol, then SIGTERM, then SIGKILL, then an end of the supervisor that does not do its part.

use std::time::Duration;

use model::agent::Outcome;
use store::StopRequest;
use tokio::time::Instant;

use super::{Keeper, Leave};
use crate::core::error::ToolError;

/// Time beyond the grace after which an unresponsive supervisor is killed.
const KILL_MARGIN: Duration = Duration::from_secs(5);
/// Upper bound on the part of the grace that is left to the agent's own protocol.
const MAX_POLITE: Duration = Duration::from_secs(5);

/// The end of an agent that is under way.
#[derive(Debug)]
pub(super) struct Stopping {
    options: StopRequest,
    stage: Stage,
}

/// Stage of a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Those below it end first, until then
    Below { until: Instant },
    /// It was asked in its own protocol, and its processes are signalled then
    Asked { until: Instant },
    /// Its processes are being ended by its supervisor, which is ended itself then
    Ending { force: Instant },
    /// Its supervisor was ended
    Forced,
}

impl Stopping {
    /// When the next step is due.
    pub(super) fn next(&self) -> Option<Instant> {
        match self.stage {
            Stage::Below { until } | Stage::Asked { until } => Some(until),
            Stage::Ending { force } => Some(force),
            Stage::Forced => None,
        }
    }
}

impl Keeper {
    /// Looks whether it is to end, and does what is due of it: those below it first.
    pub(super) async fn obey_stop(&mut self) -> Result<(), Leave> {
        let id = self.agent.id;
        let run = self.engine.store.read(|tx| tx.run_get(id)).map_err(ToolError::from)?;
        let Some(options) = run.and_then(|run| run.stop) else { return Ok(()) };
        // Who has spent too much spends no more while others take their time; it is over after them.
        let waits = options.outcome != Outcome::OverBudget && self.has_below()?;
        let stage = Stage::Below { until: self.patience() };
        let stopping = self.stopping.get_or_insert(Stopping { options, stage });
        let Stage::Below { until } = stopping.stage else { return Ok(()) };
        let is_due = !waits || Instant::now() >= until;
        // A keeper that is about to connect asks again as soon as it is connected.
        let is_heard = self.sender.is_some() || self.unattended.is_some();
        if is_due && is_heard { self.ask_to_stop().await } else { Ok(()) }
    }

    /// Does the next step of an end, whose time has come.
    pub(super) async fn go_on_stopping(&mut self) -> Result<(), Leave> {
        let Some(stopping) = &self.stopping else { return Ok(()) };
        if stopping.next().is_none_or(|due| Instant::now() < due) {
            return Ok(());
        }
        match stopping.stage {
            Stage::Below { .. } => self.obey_stop().await,
            Stage::Asked { .. } => {
                self.end_processes(self.grace().saturating_sub(self.polite())).await
            }
            Stage::Ending { .. } => self.force().await,
            Stage::Forced => Ok(()),
        }
    }

    /// Asks the agent to stop in its own protocol, where its kind has words for it.
    async fn ask_to_stop(&mut self) -> Result<(), Leave> {
        let steps = self.talk.interrupt();
        let says = self.take(steps, self.engine.now().as_millis());
        if says.is_empty() || self.sender.is_none() {
            return self.end_processes(self.grace()).await;
        }
        let until = Instant::now() + self.polite();
        self.enter(Stage::Asked { until });
        for (index, step) in says.into_iter().enumerate() {
            self.say(&format!("interrupt:{index}"), step).await;
        }
        Ok(())
    }

    /// Ends a process that gave its result and does not exit. It ended by itself, so nobody below it is stopped.
    pub(super) async fn dismiss(&mut self) -> Result<(), Leave> {
        let reason = "it gave its result and did not exit".to_owned();
        tracing::info!(id = %self.agent.id, "agent gave its result and did not exit; ending its process");
        self.finished_since = None;
        let (grace, options) = (self.grace(), StopRequest { outcome: Outcome::Succeeded, reason });
        let stage = Stage::Ending { force: Instant::now() + grace + KILL_MARGIN };
        self.stopping = Some(Stopping { options, stage });
        self.order_end(grace).await
    }

    /// Lets the supervisor end all processes: politely, and after the grace by force.
    async fn end_processes(&mut self, grace: Duration) -> Result<(), Leave> {
        self.enter(Stage::Ending { force: Instant::now() + grace + KILL_MARGIN });
        self.order_end(grace).await
    }

    /// Gives the order again after a connection was lost: nobody knows whether it was heard.
    pub(super) async fn repeat_stop(&mut self) -> Result<(), Leave> {
        let Some(Stage::Ending { force }) = self.stopping.as_ref().map(|stopping| stopping.stage)
        else {
            return Ok(());
        };
        let left = force.saturating_duration_since(Instant::now());
        self.order_end(left.saturating_sub(KILL_MARGIN)).await
    }

    async fn order_end(&mut self, grace: Duration) -> Result<(), Leave> {
        let Some(stopping) = &self.stopping else { return Ok(()) };
        let id = self.agent.id;
        if let Some(sender) = &mut self.sender {
            if sender.stop(&stopping.options.reason, grace).await.is_err() {
                tracing::debug!(%id, "connection to supervisor lost; retrying");
            }
            return Ok(());
        }
        // A signal is heard without a connection; its grace is the one of the start.
        let folder = self.folder.clone();
        match tokio::task::spawn_blocking(move || folder.terminate_supervisor()).await {
            Ok(Ok(found)) => tracing::info!(%id, found, "supervisor asked to end by a signal"),
            Ok(Err(error)) => tracing::error!(%id, %error, "failed to signal supervisor"),
            Err(error) => tracing::error!(%id, %error, "failed to signal supervisor"),
        }
        Ok(())
    }

    /// Ends a supervisor that does not answer, and whatever its agent has left.
    async fn force(&mut self) -> Result<(), Leave> {
        self.enter(Stage::Forced);
        let (id, folder) = (self.agent.id, self.folder.clone());
        let swept = tokio::task::spawn_blocking(move || {
            // Its agent dies with it.
            let killed = folder.kill_supervisor();
            folder.sweep().map(|count| (killed, count))
        });
        match swept.await {
            Ok(Ok((killed, count))) => {
                tracing::warn!(%id, ?killed, count, "supervisor and its processes ended by force");
            }
            Ok(Err(error)) => tracing::error!(%id, %error, "failed to end processes of agent"),
            Err(error) => tracing::error!(%id, %error, "failed to end processes of agent"),
        }
        Ok(())
    }

    fn enter(&mut self, stage: Stage) {
        if let Some(stopping) = &mut self.stopping {
            stopping.stage = stage;
        }
    }

    pub(super) fn grace(&self) -> Duration {
        Duration::from_millis(self.engine.settings().limits.grace_ms)
    }

    /// The part of the grace that is left to the agent's own protocol.
    fn polite(&self) -> Duration {
        (self.grace() / 2).min(MAX_POLITE)
    }

    /// Until when those below are waited for: everybody has a grace of its own.
    pub(super) fn patience(&self) -> Instant {
        Instant::now() + self.grace() * 2 + KILL_MARGIN
    }
}
