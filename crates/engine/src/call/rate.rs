//! Rate limit per agent: a token bucket.
//!
//! Time is measured with the monotonic clock: a wall clock that is set back would stop the filling.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use model::AgentId;

#[derive(Debug, Default)]
pub(crate) struct Rates(Mutex<HashMap<AgentId, Bucket>>);

/// A bucket of calls.
#[derive(Debug)]
pub(crate) struct Bucket {
    /// Thousandths of a call
    left: u64,
    /// When it was last filled, by [`host::clock::Clock::elapsed`]
    at: Duration,
}

impl Bucket {
    /// One that is full.
    pub(crate) fn full(per_minute: u32, now: Duration) -> Self {
        Self { left: u64::from(per_minute) * 1000, at: now }
    }

    /// Lets in what has come since the last look; false if there is still no whole call in it.
    pub(crate) fn fill(&mut self, per_minute: u32, now: Duration) -> bool {
        let full = u64::from(per_minute) * 1000;
        let passed = u64::try_from(now.saturating_sub(self.at).as_millis()).unwrap_or(u64::MAX);
        let gained = passed.min(60_000) * u64::from(per_minute) / 60;
        if gained > 0 {
            self.left = (self.left + gained).min(full);
            self.at = now;
        }
        self.left >= 1000
    }

    /// Takes a call out; false if there is none in it.
    pub(crate) fn take(&mut self, per_minute: u32, now: Duration) -> bool {
        let allowed = self.fill(per_minute, now);
        if allowed {
            self.left -= 1000;
        }
        allowed
    }
}

impl Rates {
    /// Takes a call out of the agent's bucket; false if it is empty. A limit of nought is none.
    pub(crate) fn take(&self, agent: AgentId, per_minute: u32, now: Duration) -> bool {
        if per_minute == 0 {
            return true;
        }
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets.entry(agent).or_insert_with(|| Bucket::full(per_minute, now));
        bucket.take(per_minute, now)
    }

    /// Forgets an agent that has ended.
    pub(crate) fn forget(&self, agent: AgentId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&agent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_bucket_fills_again() {
        let (rates, agent) = (Rates::default(), AgentId::from_bits(1));
        let start = Duration::ZERO;
        let taken = (0..100).filter(|_| rates.take(agent, 60, start)).count();
        assert_eq!(taken, 60);
        assert!(!rates.take(agent, 60, Duration::from_millis(900)));
        assert!(rates.take(agent, 60, Duration::from_millis(1900)));
        assert!(rates.take(AgentId::from_bits(2), 60, start), "others are not held up");
        assert!((0..10_000).all(|_| rates.take(agent, 0, start)), "nought is no limit");
    }
}
