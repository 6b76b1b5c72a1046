//! A home in PostgreSQL that this server owns: the lease, and the machine that its run folders are on.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use store::{
    CommitHistogram, CommitObserver, CommitStep, CommitTimes, LeaseClock, LeaseKeeper, LeaseState,
};
use tokio::sync::watch;

use crate::core::point::Point;

/// Ownership of a home that several servers share. Cheap to clone.
///
/// Invariant: an effect on the outside begins only after [`SharedHome::held`]. While PostgreSQL is away another server
/// may not have taken the home, but nobody can know that.
#[derive(Debug, Clone)]
pub struct SharedHome {
    machine: String,
    lease: LeaseClock,
    state: watch::Receiver<LeaseState>,
    crash: CrashSwitch,
}

/// Lets the process die at a step of a commit once it is armed: what a server writes before the first call is not meant.
#[derive(Debug, Clone, Default)]
pub(crate) struct CrashSwitch(Arc<AtomicBool>);

impl CrashSwitch {
    /// Observer to be called at each step of a commit.
    pub(crate) fn observer(&self, wanted: Point) -> CommitObserver {
        let is_armed = Arc::clone(&self.0);
        CommitObserver::new(move |step| {
            let point = match step {
                CommitStep::Before => Point::LedgerBefore,
                CommitStep::Sent => Point::LedgerSent,
                CommitStep::Held => Point::LedgerHeld,
                CommitStep::Committed => Point::LedgerCommitted,
            };
            if point == wanted && is_armed.load(Ordering::Acquire) {
                tracing::warn!(%point, "exiting at a crash point, as configured");
                host::process::die();
            }
        })
    }
}

/// Ownership at this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ownership {
    /// The home is this server's
    Held,
    /// The lease has run out, because PostgreSQL is away; nothing may be answered or begun
    Suspended,
    /// Another server owns the home, or this one can write no more; this process has to end
    Lost,
}

/// Durations of an owner's commits in PostgreSQL. Cheap to clone; all clones are the same ones.
#[derive(Debug, Clone)]
pub struct CommitDurations(pub(crate) CommitTimes);

impl CommitDurations {
    /// The durations as a histogram in Prometheus text.
    pub fn metrics(&self, home: &str) -> String {
        const NAME: &str = "adjutant_commit_seconds";
        let CommitHistogram { buckets, count, sum } = self.0.read();
        let mut text = format!(
            "# HELP {NAME} Durations of commits in PostgreSQL, its standby included.\n# TYPE {NAME} histogram\n"
        );
        let bounds = buckets.iter().map(|(bound, count)| (bound.to_string(), *count));
        for (bound, count) in bounds.chain([("+Inf".to_owned(), count)]) {
            let labels = format!("{{home=\"{home}\",le=\"{bound}\"}}");
            // Writing to a String cannot fail.
            _ = writeln!(text, "{NAME}_bucket{labels} {count}");
        }
        _ = writeln!(text, "{NAME}_sum{{home=\"{home}\"}} {sum}");
        _ = writeln!(text, "{NAME}_count{{home=\"{home}\"}} {count}");
        text
    }
}

impl SharedHome {
    pub(crate) fn new(
        machine: String,
        lease: LeaseClock,
        keeper: &LeaseKeeper,
        crash: CrashSwitch,
    ) -> Self {
        Self { machine, lease, state: keeper.state(), crash }
    }

    /// Notes the first call: from now on a crash point of a commit counts.
    pub(crate) fn called(&self) {
        self.crash.0.store(true, Ordering::Release);
    }

    /// Id of the machine that the run folders of this server are on.
    pub(crate) fn machine(&self) -> &str {
        &self.machine
    }

    /// Ownership at this moment, by the clock and not by what was published last.
    pub fn ownership(&self) -> Ownership {
        match self.lease.state() {
            LeaseState::Held => Ownership::Held,
            LeaseState::Waiting => Ownership::Suspended,
            LeaseState::Lost => Ownership::Lost,
        }
    }

    /// True once PostgreSQL knows that this server has given the home up.
    pub fn is_handed_over(&self) -> bool {
        self.lease.is_handed_over()
    }

    /// Waits until the ownership is not what it was, and returns what it is.
    pub async fn changed(&mut self, from: Ownership) -> Ownership {
        loop {
            let now = self.ownership();
            if now != from {
                return now;
            }
            if self.state.changed().await.is_err() {
                // The lease is no longer kept: this process is about to end.
                return Ownership::Lost;
            }
        }
    }

    /// Waits until the lease is held. Never returns once it is lost: the process is about to end.
    pub(crate) async fn held(&self) {
        let mut state = self.state.clone();
        while self.ownership() != Ownership::Held {
            if state.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}
