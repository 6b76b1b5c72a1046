//! Calls that wait: they look again when something has happened that concerns them.

use std::time::Duration;

use tokio::time::Instant;

use super::{CallRun, Progress};
use crate::call::identity::Principal;
use crate::call::tool::{Look, Output, WaitLook};
use crate::core::error::ToolError;
use crate::core::topics::Topic;

impl CallRun {
    /// Looks until there is something to see or the time is up.
    pub(super) async fn wait(
        &self,
        progress: &Progress,
        mut see: impl FnMut() -> Result<WaitLook, ToolError>,
    ) -> Result<Output, ToolError> {
        let WaitLook { look, seconds, mut topics } = see()?;
        let mut so_far = match look {
            Look::Settled(output) => return Ok(output),
            Look::NotYet(output) => output,
        };
        let deadline = self.began + Duration::from_secs(u64::from(seconds));
        // A timer takes a millisecond to notice that its time has passed already.
        if deadline <= Instant::now() {
            return Ok(so_far);
        }
        let _waiting = match self.call.principal {
            Principal::Agent(agent) => self.engine.waits.enter(agent, &topics),
            Principal::Operator | Principal::Viewer => None,
        };
        // Who has ended in the meantime is nobody, and is to hear of it.
        topics.extend(self.subject().map(Topic::Agent));
        let waiter = self.engine.topics.wait_for(&self.engine.store, topics);
        let every = self.engine.options.progress_every;
        let mut tick = tokio::time::interval_at(Instant::now() + every, every);
        loop {
            // Looked at after the bell was hung up: what happens meanwhile rings.
            match see()?.look {
                Look::Settled(output) => return Ok(output),
                Look::NotYet(output) => so_far = output,
            }
            loop {
                tokio::select! {
                    () = tokio::time::sleep_until(deadline) => return Ok(so_far),
                    () = progress.gone.cancelled() => return Ok(so_far),
                    more = waiter.woken() => if more { break } else { return Ok(so_far) },
                    _ = tick.tick(), if progress.report.is_some() => {
                        self.report(progress);
                    }
                }
            }
        }
    }

    /// Says that the call still waits.
    fn report(&self, progress: &Progress) {
        if let Some(report) = &progress.report
            && report.try_send(self.began.elapsed()).is_err()
        {
            tracing::trace!("progress report dropped: the caller has unread ones");
        }
    }
}
