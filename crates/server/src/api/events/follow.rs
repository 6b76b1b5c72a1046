//! A follower of events reads from the number it saw last.
//!
//! Nothing is queued per reader: the store only says how far the events reach, and a reader fetches a
//! page when it has sent the one before. So a slow one holds nobody back, and loses nothing.

use std::sync::Arc;
use std::time::Duration;

use engine::{EventSelection, Tab, ToolError};
use tokio::sync::watch;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, timeout_at};
use tokio_util::sync::CancellationToken;

use wire::event::StreamHead;

use super::{Wanted, removed};
use crate::activity::Counted;
use crate::answer::Answer;
use crate::shared::Shared;
use crate::tail::RenderedEvent;

/// Keep-alive interval of a stream.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);
/// Delay between two reads of a follower, so that many small commits are one read.
/// The first event after a pause is told at once.
const MIN_READ_INTERVAL: Duration = Duration::from_millis(20);
/// After so many that it did not ask for, a reader is told how far it was looked.
const SKIPPED: i64 = 10_000;

/// Next item of a stream.
#[derive(Debug)]
pub(super) enum StreamUpdate {
    /// These happened
    Events(Vec<RenderedEvent>),
    /// Everything up to here was looked at, and nothing more of it was asked for
    LastNumber(i64),
    /// Nothing; but the line is alive
    Nothing,
    /// It ends, for this reason
    End(End),
}

/// Why a stream ends.
#[derive(Debug)]
pub(super) enum End {
    /// The server does
    Server,
    /// The token of the tab that hears it is void
    Token,
    /// The record cannot be read
    Record(ToolError),
    /// Events that it has not heard yet were removed
    Removed(ToolError),
}

/// One who follows.
pub(super) struct Follow {
    shared: Arc<Shared>,
    /// The tab that hears it, and when its time is over
    tab: Option<(Tab, Instant)>,
    place: FollowerPosition,
    /// Up to here the reader knows that everything was looked at
    told: i64,
    beat: Interval,
    /// A server that is watched is in use
    _open: Counted,
}

/// Position of a reader in the sequence.
struct FollowerPosition {
    query: EventSelection,
    news: watch::Receiver<i64>,
    /// Everything up to here was looked at
    seen: i64,
    /// Before this moment it is not looked again
    rests_until: Instant,
}

impl Follow {
    pub(super) fn new(
        shared: &Arc<Shared>,
        wanted: Wanted,
        tab: Option<Tab>,
    ) -> Answer<(Self, StreamHead)> {
        let news = shared.app.engine.last_event();
        let (after, last) = wanted.begin(shared)?;
        let now = Instant::now();
        let tab = tab.map(|tab| {
            let left = tab.expires_at.millis_since(shared.app.engine.now());
            let left = Duration::from_millis(u64::try_from(left).unwrap_or_default());
            (tab, now + left)
        });
        let mut beat = interval_at(now + HEARTBEAT_INTERVAL, HEARTBEAT_INTERVAL);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let follow = Self {
            shared: Arc::clone(shared),
            tab,
            place: FollowerPosition { query: wanted.query, news, seen: after, rests_until: now },
            told: after,
            beat,
            _open: shared.app.activity.open.enter(),
        };
        Ok((follow, StreamHead { last, after, started: shared.app.started_at }))
    }

    /// Cancelled when the server ends its streams.
    pub(super) fn end(&self) -> CancellationToken {
        self.shared.streams.clone()
    }

    /// Waits for the next item. Cancel-safe.
    pub(super) async fn next(&mut self) -> StreamUpdate {
        let news = tokio::select! {
            biased;
            () = self.shared.streams.cancelled() => StreamUpdate::End(End::Server),
            () = void(self.tab.as_ref()) => StreamUpdate::End(End::Token),
            _ = self.beat.tick() => self.alive(),
            news = self.place.next(&self.shared, self.told) => news,
        };
        match &news {
            StreamUpdate::Events(told) => {
                self.told = told.last().map_or(self.told, |last| last.number);
            }
            StreamUpdate::LastNumber(number) => self.told = *number,
            StreamUpdate::Nothing | StreamUpdate::End(_) => {}
        }
        news
    }

    /// Says that the line is alive.
    fn alive(&self) -> StreamUpdate {
        if self.place.seen > self.told {
            StreamUpdate::LastNumber(self.place.seen)
        } else {
            StreamUpdate::Nothing
        }
    }
}

impl FollowerPosition {
    /// The next events that were asked for, or that there are none for long.
    async fn next(&mut self, shared: &Shared, told: i64) -> StreamUpdate {
        loop {
            let last = *self.news.borrow_and_update();
            while self.seen < last {
                let engine = &shared.app.engine;
                match engine.event_bounds() {
                    Ok(bounds) if self.seen < bounds.floor => {
                        return StreamUpdate::End(End::Removed(removed(self.seen, bounds.floor)));
                    }
                    Ok(_) => {}
                    Err(error) => return StreamUpdate::End(End::Record(error)),
                }
                match shared.tail.look(engine, &self.query, self.seen, last).await {
                    Err(error) => return StreamUpdate::End(End::Record(error)),
                    Ok(found) => {
                        self.seen = found.seen;
                        if !found.told.is_empty() {
                            return StreamUpdate::Events(found.told);
                        }
                    }
                }
                if self.seen - told >= SKIPPED {
                    return StreamUpdate::LastNumber(self.seen);
                }
            }
            self.rests_until = Instant::now() + MIN_READ_INTERVAL;
            if self.news.changed().await.is_err() {
                return StreamUpdate::End(End::Server);
            }
            tokio::time::sleep_until(self.rests_until).await;
        }
    }
}

/// Waits until a tab's token ends; other tokens do not end here.
async fn void(tab: Option<&(Tab, Instant)>) {
    match tab {
        // Either way it is over.
        Some((tab, end)) => drop(timeout_at(*end, tab.void.cancelled()).await),
        None => std::future::pending().await,
    }
}
