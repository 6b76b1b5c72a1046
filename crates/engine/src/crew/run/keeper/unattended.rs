//! An agent whose supervisor runs and cannot be reached: the agent may have taken its socket away. Its
//! output is read and charged all the same, orders are obeyed, and an end goes by signals.

use std::io;
use std::time::Duration;

use host::run::{RunFolder, RunStatus};
use tokio::time::Instant;

use super::{Keeper, Leave};
use crate::core::error::ToolError;
use crate::crew::run::{reconcile, terminal};

/// The first and the longest delay between two attempts to connect; output is read as often.
const RETRY_DELAYS: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(250));
/// Attempts in a row whose supervisor may die before it begins the agent.
const MAX_STARTS: u32 = 3;

/// State of a keeper without a connection.
#[derive(Debug)]
pub(super) struct Unattended {
    /// Delay before the next attempt to connect
    delay: Duration,
}

impl Keeper {
    /// Notes that its supervisor could not be connected to.
    pub(super) fn connect_failed(&self, error: &io::Error) {
        let id = self.agent.id;
        match &self.unattended {
            // For a moment this is so whenever an agent ends.
            Some(Unattended { delay }) if *delay == RETRY_DELAYS.1 => {
                tracing::warn!(%id, %error, "supervisor not reachable; following agent by its files");
            }
            _ => tracing::debug!(%id, %error, "supervisor not reachable"),
        }
    }

    /// Does a keeper's work for a while without a connection.
    pub(super) async fn attend_without_connection(&mut self) -> Result<(), Leave> {
        let delay = self.unattended.as_ref().map_or(RETRY_DELAYS.0, |before| before.delay);
        let is_first = self.unattended.is_none();
        self.unattended = Some(Unattended { delay: (delay * 2).min(RETRY_DELAYS.1) });
        let retry = Instant::now() + delay;
        if !is_first {
            self.obey_stop().await?;
        }
        if delay == RETRY_DELAYS.0 * 2 {
            // An end that was ordered over the lost connection may not have been heard.
            self.repeat_stop().await?;
        }
        let mut behind = true;
        loop {
            let look = self.next_look();
            tokio::select! {
                biased;
                () = self.shutdown.cancelled() => {
                    self.report().await?;
                    return Err(Leave::Shutdown);
                }
                order = self.orders.recv() => match order {
                    Some(order) => self.obey(order).await?,
                    None => return Err(Leave::Shutdown),
                },
                () = tokio::time::sleep_until(retry) => return Ok(()),
                () = tokio::time::sleep_until(look) => self.look().await?,
                () = std::future::ready(()), if behind => behind = self.read().await?,
            }
        }
    }

    /// Puts an agent back into the queue whose supervisor died before it began it; false where that
    /// happened too often in a row, or its stop is requested.
    pub(super) async fn try_again(&mut self) -> Result<bool, Leave> {
        let (id, attempt, now) = (self.agent.id, self.agent.attempt, self.engine.now());
        let present = self.folder.path();
        let is_lost = |back: u32| {
            let number = attempt.checked_sub(back).filter(|number| *number > 0);
            let folder = number.map(|number| present.with_file_name(number.to_string()));
            folder.filter(|path| path.is_dir()).is_some_and(|path| {
                matches!(RunFolder::open(path).standing(), Ok(RunStatus::NotBegun))
            })
        };
        if (1..MAX_STARTS).all(is_lost) {
            return Ok(false);
        }
        let settings = self.engine.settings();
        let queued = self
            .engine
            .store
            .write(move |tx| {
                let is_current = tx.agent_get(id)?.is_some_and(|agent| agent.attempt == attempt);
                let is_wanted = tx.run_get(id)?.is_some_and(|run| run.stop.is_none());
                if !is_current || !is_wanted {
                    return Ok::<_, ToolError>(false);
                }
                reconcile::requeue(tx, &settings, id, now)?;
                Ok(true)
            })
            .await?;
        if queued {
            tracing::warn!(%id, attempt, "supervisor died before it began the agent; queued again");
            terminal::close(&self.engine, &self.agent).await;
            self.engine.tokens.forget(id);
        }
        Ok(queued)
    }
}
