//! The one loop of everything that reacts to events.
//!
//! A [`EventReaction`] names the kinds of events that matter to it. It runs once at the start, and again when an event of
//! these kinds was committed, when the settings were replaced, when its own bell rings, and at the time that it asked
//! for. An event that is committed while it runs makes it run again, so none is missed. A reaction that fails runs again
//! by itself, after delays that grow; no further event is needed for that.

use std::time::Duration;

use model::{EventKinds, Timestamp};
use store::{Store, Tx};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::core::error::ToolError;

/// Delay before a reaction that failed runs again, whatever happens meanwhile. Each further failure in a row doubles the
/// time after which it runs again by itself.
const FIRST_RETRY_DELAY: Duration = Duration::from_secs(1);
/// Longest delay before a reaction that failed runs again by itself.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(30);
/// Longest time between two runs.
const IDLE_INTERVAL: Duration = Duration::from_secs(3600);

/// Something that follows from events.
pub trait EventReaction: Send {
    /// Its name in the log, as `the outbox`.
    fn name(&self) -> String;

    /// Kinds of events after which it runs. Asked before each wait.
    fn kinds(&self) -> EventKinds;

    /// Reads the record, does what is due, and says when to run again. Not dropped half-way.
    fn react(&mut self) -> impl Future<Output = Result<NextRun, ToolError>> + Send;

    /// Completes when it should run for a reason of its own. Dropped whenever something else is the reason.
    fn rung(&mut self) -> impl Future<Output = ()> + Send {
        std::future::pending()
    }
}

/// When a reaction runs again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextRun {
    /// At once: there is more to do
    Now,
    /// At this time, if nothing happens before
    At(Instant),
    /// When something happens
    News,
    /// Never: it is done
    Never,
}

impl NextRun {
    /// Run again at the time by which something of the record is due, if anything is.
    pub(crate) fn due(due: Option<Timestamp>, now: Timestamp) -> Self {
        due.map_or(Self::News, |due| {
            let millis = u64::try_from(due.millis_since(now)).unwrap_or_default().max(1);
            Self::At(Instant::now() + Duration::from_millis(millis).min(IDLE_INTERVAL))
        })
    }

    fn wake(self) -> Option<Instant> {
        match self {
            Self::Now => None,
            Self::At(wake) => Some(wake),
            Self::News | Self::Never => Some(Instant::now() + IDLE_INTERVAL),
        }
    }
}

/// Runs a reaction until it is done, `shutdown` is cancelled or the record has closed. `reloads` counts the
/// replacements of the settings; without it they are no reason to run.
pub(crate) async fn follow(
    store: &Store,
    mut reloads: Option<watch::Receiver<u64>>,
    reaction: &mut impl EventReaction,
    shutdown: &CancellationToken,
) {
    let mut events = store.event_watch();
    let mut failures = 0;
    while !shutdown.is_cancelled() {
        events.mark_seen();
        if let Some(reloads) = &mut reloads {
            reloads.borrow_and_update();
        }
        let next = match reaction.react().await {
            Ok(next) => {
                failures = 0;
                next
            }
            Err(error) => {
                let delay = retry_delay(failures);
                failures += 1;
                let (service, retry_in_s) = (reaction.name(), delay.as_secs());
                let (message, causes) = (&error.message, error.causes());
                tracing::error!(service, message, causes, retry_in_s, "reaction failed; retrying");
                let pause = tokio::time::sleep(FIRST_RETRY_DELAY);
                if shutdown.run_until_cancelled(pause).await.is_none() {
                    return;
                }
                NextRun::At(Instant::now() + delay.saturating_sub(FIRST_RETRY_DELAY))
            }
        };
        if next == NextRun::Never {
            return;
        }
        let Some(wake) = next.wake() else { continue };
        let kinds = reaction.kinds();
        tokio::select! {
            () = shutdown.cancelled() => return,
            changed = events.changed(kinds) => if changed.is_err() { return },
            () = replaced(reloads.as_mut()) => {}
            () = reaction.rung() => {}
            () = tokio::time::sleep_until(wake) => {}
        }
    }
}

/// Waits until the settings are replaced.
async fn replaced(reloads: Option<&mut watch::Receiver<u64>>) {
    if let Some(reloads) = reloads
        && reloads.changed().await.is_ok()
    {
        return;
    }
    std::future::pending::<()>().await;
}

/// Delay after which a reaction runs again by itself that has failed so many times in a row before.
fn retry_delay(before: u32) -> Duration {
    let factor = 1_u32.checked_shl(before).unwrap_or(u32::MAX);
    FIRST_RETRY_DELAY.saturating_mul(factor).min(MAX_RETRY_DELAY)
}

/// Looks into the record, and again after each event of these kinds, until it finds something. Nothing once the record
/// has closed.
pub(crate) async fn find<T>(
    store: &Store,
    kinds: EventKinds,
    mut look: impl FnMut(&Tx<'_>) -> Result<Option<T>, ToolError>,
) -> Result<Option<T>, ToolError> {
    let mut events = store.event_watch();
    loop {
        events.mark_seen();
        let found = store.read(&mut look)?;
        if found.is_some() || events.changed(kinds).await.is_err() {
            return Ok(found);
        }
    }
}

#[cfg(test)]
mod tests;
