//! Reads the events of a loop or a plan page by page, each once and in order.

use std::time::Duration;

use tokio::time::{Instant, sleep};
use wire::event::{EventPage, EventView};

use crate::app::query;
use crate::cli_error::CliError;
use crate::commands::reconnect::Steady;

/// Seconds that one request waits for news.
const WAIT_SECONDS: u64 = 60;
/// Page size.
const PAGE: u64 = 500;
/// Pause after a request that was to wait and was answered at once: the server may be ending.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Whether a request waits where nothing has happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Until something happens, for a minute at most
    ForNews,
    /// Not at all
    No,
}

/// A position in the log of events, for some kinds.
#[derive(Debug)]
pub(super) struct EventLog {
    /// Kinds that are read, as `kind` of the route takes them
    kinds: &'static str,
    /// Number of the last event that was searched
    after: i64,
}

impl EventLog {
    /// The log after the event of that number.
    pub(super) const fn after(number: i64, kinds: &'static str) -> Self {
        Self { kinds, after: number }
    }

    /// The log from now on.
    pub(super) async fn from_now(
        steady: &mut Steady<'_>,
        kinds: &'static str,
    ) -> Result<Self, CliError> {
        let newest = steady.fetch::<EventPage>("/api/events?after=now&limit=1").await?;
        Ok(Self::after(newest.last, kinds))
    }

    /// Reads the next events.
    pub(super) async fn next(
        &mut self,
        steady: &mut Steady<'_>,
        wait: Wait,
    ) -> Result<Vec<EventView>, CliError> {
        let asked = Instant::now();
        let waits = wait == Wait::ForNews;
        let path = query(
            "/api/events",
            [
                ("after", Some(self.after.to_string())),
                ("limit", Some(PAGE.to_string())),
                ("kind", Some(self.kinds.to_owned())),
                ("waitSeconds", waits.then(|| WAIT_SECONDS.to_string())),
            ],
        );
        let page = steady.fetch::<EventPage>(&path).await?.into_value();
        let left = MIN_POLL_INTERVAL
            .checked_sub(asked.elapsed())
            .filter(|_| waits && page.events.is_empty());
        if let Some(left) = left {
            sleep(left).await;
        }
        self.after = page.last;
        Ok(page.events)
    }
}
