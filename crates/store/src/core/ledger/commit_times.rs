//! Durations of appends to a home's log, in the buckets of a histogram.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the buckets, in microseconds: from a local disk to a failover of PostgreSQL.
const BOUNDS: [u64; 11] =
    [500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 500_000, 2_500_000, 10_000_000];

/// Durations of all appends of an owner. Cheap to clone; all clones are the same ones.
#[derive(Debug, Clone, Default)]
pub struct CommitTimes(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// Not cumulative; the last one is for whatever is longer
    buckets: [AtomicU64; BOUNDS.len() + 1],
    micros: AtomicU64,
}

/// A histogram at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct CommitHistogram {
    /// Upper bounds in seconds, each with the number of appends that took no longer
    pub buckets: Vec<(f64, u64)>,
    /// Number of appends
    pub count: u64,
    /// Sum of their durations in seconds
    pub sum: f64,
}

impl CommitTimes {
    pub(crate) fn note(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS.partition_point(|bound| *bound < micros);
        if let Some(count) = self.0.buckets.get(bucket) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.0.micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// The histogram at this moment.
    pub fn read(&self) -> CommitHistogram {
        let mut count = 0;
        let mut buckets = Vec::with_capacity(BOUNDS.len());
        let bounds = BOUNDS.iter().map(Some).chain([None]);
        for (found, bound) in self.0.buckets.iter().zip(bounds) {
            count += found.load(Ordering::Relaxed);
            if let Some(bound) = bound {
                buckets.push((Duration::from_micros(*bound).as_secs_f64(), count));
            }
        }
        let sum = Duration::from_micros(self.0.micros.load(Ordering::Relaxed)).as_secs_f64();
        CommitHistogram { buckets, count, sum }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_counts_in_every_bucket_that_is_long_enough() {
        let times = CommitTimes::default();
        for millis in [1, 2, 30_000] {
            times.note(Duration::from_millis(millis));
        }
        let CommitHistogram { buckets, count, sum } = times.read();
        assert_eq!(buckets[..3], [(0.0005, 0), (0.001, 1), (0.0025, 2)]);
        assert_eq!((buckets.last().unwrap().1, count), (2, 3));
        assert!((sum - 30.003).abs() < 1e-9, "{sum}");
    }
}
