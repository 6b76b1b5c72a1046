//! Wake-ups after commits with events of certain kinds.
//!
//! The writer notes after each commit the number of the last event, and of the last event of each kind that the commit
//! appended. A watch compares these numbers with the last event that it has seen, so that a commit without a kind it
//! waits for costs it a comparison and no query.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use model::EventKinds;
use model::event::EventKind;
use tokio::sync::watch;
use tokio::sync::watch::error::RecvError;

/// A watch also wakes when this many events of other kinds were committed, so that a reader's stored position stays
/// near the end of the events.
const MAX_UNSEEN_EVENTS: i64 = 1_000;

/// Numbers of the last committed event of each kind, by the kind's place in [`EventKind::ALL`].
#[derive(Debug)]
pub(crate) struct LastOfKinds([AtomicI64; EventKind::ALL.len()]);

impl Default for LastOfKinds {
    fn default() -> Self {
        Self([const { AtomicI64::new(0) }; EventKind::ALL.len()])
    }
}

impl LastOfKinds {
    /// Notes that a commit whose last event has this number appended events of these kinds. To be called before the
    /// number is published.
    pub(crate) fn committed(&self, kinds: EventKinds, last: i64) {
        for kind in kinds.iter() {
            self.0[kind as usize].store(last, Ordering::Release);
        }
    }

    fn any_after(&self, kinds: EventKinds, number: i64) -> bool {
        kinds.iter().any(|kind| self.0[kind as usize].load(Ordering::Acquire) > number)
    }
}

/// Wakes up after commits with events of certain kinds.
#[derive(Debug, Clone)]
pub struct EventWatch {
    last: watch::Receiver<i64>,
    of_kinds: Arc<LastOfKinds>,
    seen: i64,
}

impl EventWatch {
    pub(crate) fn new(last: watch::Receiver<i64>, of_kinds: Arc<LastOfKinds>) -> Self {
        let seen = *last.borrow();
        Self { last, of_kinds, seen }
    }

    /// Marks all events up to now as seen, and gives the number of the last one. To be called before the record is read,
    /// so that an event that is committed meanwhile wakes.
    pub fn mark_seen(&mut self) -> i64 {
        self.seen = *self.last.borrow_and_update();
        self.seen
    }

    /// Waits for an event of one of these kinds that has not been marked as seen, or for many of other kinds. An error
    /// once the record has closed. Cancel-safe.
    pub async fn changed(&mut self, kinds: EventKinds) -> Result<(), RecvError> {
        loop {
            let last = *self.last.borrow_and_update();
            let is_far = last.saturating_sub(self.seen) >= MAX_UNSEEN_EVENTS;
            if is_far || self.of_kinds.any_after(kinds, self.seen) {
                return Ok(());
            }
            self.last.changed().await?;
        }
    }
}
