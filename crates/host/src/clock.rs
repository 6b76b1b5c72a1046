//! The only reader of the clocks.
//!
//! The wall clock says when something happened, and may be set back at any time. How long ago something was that is
//! only remembered in memory is measured with [`Clock::elapsed`], which never goes back.
#![expect(clippy::disallowed_methods, reason = "this is the door")]

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use model::Timestamp;

/// Says what time it is.
#[derive(Debug, Clone, Default)]
pub enum Clock {
    /// The machine's own clocks
    #[default]
    System,
    /// Clocks that a test moves by hand
    Manual(Arc<ManualTime>),
}

/// The time of a test.
#[derive(Debug)]
pub struct ManualTime {
    /// Milliseconds since 1970
    wall: AtomicI64,
    /// Milliseconds that have passed
    passed: AtomicU64,
}

impl Clock {
    /// A clock that stands at `at` until it is moved.
    pub fn manual(at: Timestamp) -> Self {
        let wall = AtomicI64::new(at.as_millis());
        Self::Manual(Arc::new(ManualTime { wall, passed: AtomicU64::new(0) }))
    }

    /// Lets time pass on a manual clock; the machine's goes by itself.
    pub fn advance_seconds(&self, seconds: i64) {
        if let Self::Manual(time) = self {
            let passed = u64::try_from(seconds).unwrap_or_default().saturating_mul(1000);
            time.passed.fetch_add(passed, Ordering::SeqCst);
        }
        self.step_seconds(seconds);
    }

    /// Sets a manual wall clock forward or back, as a person or a time server does; no time passes.
    pub fn step_seconds(&self, seconds: i64) {
        if let Self::Manual(time) = self {
            time.wall.fetch_add(seconds.saturating_mul(1000), Ordering::SeqCst);
        }
    }

    /// Current wall-clock time.
    pub fn now(&self) -> Timestamp {
        Timestamp::from_millis(match self {
            Self::System => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX)),
            Self::Manual(time) => time.wall.load(Ordering::SeqCst),
        })
    }

    /// Monotonic time since an arbitrary origin; only differences are meaningful.
    pub fn elapsed(&self) -> Duration {
        static CLOCK_ORIGIN: OnceLock<Instant> = OnceLock::new();
        match self {
            Self::System => CLOCK_ORIGIN.get_or_init(Instant::now).elapsed(),
            Self::Manual(time) => Duration::from_millis(time.passed.load(Ordering::SeqCst)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_the_wall_clock_back_lets_no_time_pass() {
        let clock = Clock::manual(Timestamp::from_millis(5_000));
        clock.advance_seconds(2);
        clock.step_seconds(-3600);
        assert_eq!(clock.now().as_millis(), 7_000 - 3_600_000);
        assert_eq!(clock.elapsed(), Duration::from_secs(2));
    }
}
