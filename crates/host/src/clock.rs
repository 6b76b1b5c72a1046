//! The only reader of the wall clock.
#![expect(clippy::disallowed_methods, reason = "this is the door")]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use model::Timestamp;

/// Says what time it is.
#[derive(Debug, Clone, Default)]
pub enum Clock {
    /// The machine's own clock
    #[default]
    System,
    /// A clock that a test moves by hand
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// A clock that stands at `at` until it is moved.
    pub fn manual(at: Timestamp) -> Self {
        Self::Manual(Arc::new(AtomicI64::new(at.as_millis())))
    }

    /// Moves a manual clock on; the machine's goes by itself.
    pub fn advance_seconds(&self, seconds: i64) {
        if let Self::Manual(at) = self {
            at.fetch_add(seconds.saturating_mul(1000), Ordering::SeqCst);
        }
    }

    /// What time it is.
    pub fn now(&self) -> Timestamp {
        Timestamp::from_millis(match self {
            Self::System => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX)),
            Self::Manual(at) => at.load(Ordering::SeqCst),
        })
    }
}
