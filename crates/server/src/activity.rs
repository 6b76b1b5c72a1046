//! Tracks use of the server: an idle one may end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// A live counter.
#[derive(Debug, Clone, Default)]
pub(crate) struct Count(Arc<AtomicUsize>);

impl Count {
    /// Counts one until the guard is dropped.
    pub(crate) fn enter(&self) -> Counted {
        self.0.fetch_add(1, Ordering::Relaxed);
        Counted(Arc::clone(&self.0))
    }

    /// Current count.
    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Waits until there is none, and no longer than that.
    pub(crate) async fn wait_until_none(&self, limit: Duration) {
        let none = async {
            while self.get() > 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        // What is still there after that is cut off.
        drop(tokio::time::timeout(limit, none).await);
    }
}

/// Counts as long as it lives.
#[derive(Debug)]
pub(crate) struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Use of a server.
#[derive(Debug, Default)]
pub struct Activity {
    /// Time of the last request, in milliseconds of the monotonic clock
    last: AtomicU64,
    /// Open requests and streams
    pub(crate) open: Count,
}

impl Activity {
    /// Notes a request, at a moment of [`engine::Engine::elapsed`].
    pub fn touch(&self, elapsed: Duration) {
        let millis = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        self.last.fetch_max(millis, Ordering::Relaxed);
    }

    /// Since which moment nobody has been there; nothing while a request or a stream is open.
    pub fn idle_since(&self) -> Option<Duration> {
        let at = Duration::from_millis(self.last.load(Ordering::Relaxed));
        (self.open.get() == 0).then_some(at)
    }
}
