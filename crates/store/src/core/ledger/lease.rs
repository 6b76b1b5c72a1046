//! The lease of a home as its owner counts it, and the threads that keep and watch it.
//!
//! Invariant: the owner's deadline is earlier than PostgreSQL's. It counts from when the renewal was sent, less a margin,
//! on a clock that goes on while the machine sleeps. No clock of two machines is compared.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tokio::sync::watch;
use tokio_postgres::types::Type;

use crate::core::error::StoreError;
use crate::core::ledger::client::LedgerClient;
use crate::core::ledger::owned::{GiveUp, OwnedHome, Owner, TakeOutcome};

/// Largest part of a lease by which the owner's deadline is earlier.
const MAX_MARGIN: Duration = Duration::from_secs(1);
/// Interval at which the deadline is looked at.
const WATCH_INTERVAL: Duration = Duration::from_millis(50);
/// Interval at which a server that waits for a home asks for it.
const TAKE_INTERVAL: Duration = Duration::from_millis(250);

/// The clock that counts the time that a machine sleeps.
#[cfg(target_os = "linux")]
const CLOCK: ClockId = ClockId::Boottime;
#[cfg(not(target_os = "linux"))]
const CLOCK: ClockId = ClockId::Monotonic;

const RENEW_LEASE: &str = "UPDATE adjutant.home
       SET expires_at = clock_timestamp() + $3 * INTERVAL '1 millisecond'
     WHERE id = $1 AND epoch = $2 AND owner IS NOT NULL RETURNING seq";

/// State of an owner's lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseState {
    /// The home is this process's
    Held,
    /// The deadline has passed, because PostgreSQL is away: nothing may be begun
    Waiting,
    /// Another server owns the home, or this one can write no more: the process has to end
    Lost,
}

/// The deadline of a lease. Cheap to clone and to ask; it is to be asked before each effect outside of the record.
#[derive(Debug, Clone, Default)]
pub struct LeaseClock(Arc<ClockState>);

#[derive(Debug, Default)]
struct ClockState {
    /// Milliseconds since the machine was started
    deadline: AtomicU64,
    is_lost: AtomicBool,
    is_handed_over: AtomicBool,
}

/// Milliseconds since the machine was started.
pub(crate) fn boot_millis() -> u64 {
    let now = clock_gettime(CLOCK);
    now.tv_sec.unsigned_abs() * 1_000 + now.tv_nsec.unsigned_abs() / 1_000_000
}

impl LeaseClock {
    /// State at this moment.
    pub fn state(&self) -> LeaseState {
        if self.0.is_lost.load(Ordering::Acquire) {
            LeaseState::Lost
        } else if self.left().is_zero() {
            LeaseState::Waiting
        } else {
            LeaseState::Held
        }
    }

    /// Time until the deadline.
    pub fn left(&self) -> Duration {
        let deadline = self.0.deadline.load(Ordering::Acquire);
        Duration::from_millis(deadline.saturating_sub(boot_millis()))
    }

    /// Counts a renewal that held, from when it was sent.
    pub(crate) fn renewed(&self, sent_at: u64, lease: Duration) {
        let counted = lease.saturating_sub(MAX_MARGIN.min(lease / 5));
        let deadline = sent_at + u64::try_from(counted.as_millis()).unwrap_or(u64::MAX);
        self.0.deadline.fetch_max(deadline, Ordering::AcqRel);
    }

    /// Notes that this process owns the home no more. There is no way back.
    pub(crate) fn lose(&self) {
        self.0.is_lost.store(true, Ordering::Release);
    }

    /// Notes that PostgreSQL knows that this process has given the home up.
    pub(crate) fn hand_over(&self) {
        self.0.is_handed_over.store(true, Ordering::Release);
    }

    /// True once this process has given the home up, so that another server may take it at once.
    pub fn is_handed_over(&self) -> bool {
        self.0.is_handed_over.load(Ordering::Acquire)
    }
}

/// Proof of ownership: the epoch under which a home was taken, and the lease that goes with it.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    pub(crate) home: String,
    pub(crate) epoch: i64,
    pub(crate) lease: Duration,
    pub(crate) clock: LeaseClock,
}

impl Claim {
    /// The lease as a value of a statement.
    pub(crate) fn lease_millis(&self) -> f64 {
        self.lease.as_secs_f64() * 1_000.0
    }

    /// Renews the lease.
    pub(crate) fn renew(&self, client: &mut LedgerClient) -> Result<(), StoreError> {
        let (sent_at, lease) = (boot_millis(), self.lease_millis());
        let reply = client.ask(
            RENEW_LEASE,
            &[(&self.home, Type::TEXT), (&self.epoch, Type::INT8), (&lease, Type::FLOAT8)],
        )?;
        match (reply.rows.is_empty(), reply.notice) {
            (true, _) => Err(self.fenced()),
            (false, Some(why)) => Err(StoreError::Away { why }),
            (false, None) => {
                self.clock.renewed(sent_at, self.lease);
                Ok(())
            }
        }
    }

    /// The error of an owner whose epoch is over.
    pub(crate) fn fenced(&self) -> StoreError {
        self.clock.lose();
        StoreError::Fenced { home: self.home.clone(), epoch: self.epoch }
    }
}

/// Keeps the lease of a home while nothing is written, and says how it stands. It ends when this value is dropped.
#[derive(Debug)]
pub struct LeaseKeeper {
    /// Closed, they end the threads
    ends: Vec<Sender<()>>,
    threads: Vec<JoinHandle<()>>,
    state: watch::Receiver<LeaseState>,
}

impl LeaseKeeper {
    /// Starts to keep the lease over a connection of its own: a renewal that gets no answer holds up no commit.
    pub fn start(client: LedgerClient, home: &OwnedHome) -> Result<Self, StoreError> {
        let claim = home.claim().clone();
        let (published, state) = watch::channel(claim.clock.state());
        let (renew_end, renew_ended) = channel();
        let (watch_end, watch_ended) = channel();
        let clock = claim.clock.clone();
        let renewing = spawn("lease-renewal", move || renew(client, &claim, &renew_ended))?;
        // A thread of its own: renewing may wait for PostgreSQL, and the deadline does not.
        let watching = spawn("lease-watch", move || publish(&clock, &published, &watch_ended))?;
        Ok(Self { ends: vec![renew_end, watch_end], threads: vec![renewing, watching], state })
    }

    /// State of the lease, and every change of it.
    pub fn state(&self) -> watch::Receiver<LeaseState> {
        self.state.clone()
    }
}

impl Drop for LeaseKeeper {
    fn drop(&mut self) {
        self.ends.clear();
        for thread in self.threads.drain(..) {
            // One that panicked has said so.
            drop(thread.join());
        }
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StoreError> {
    let started = std::thread::Builder::new().name(name.to_owned()).spawn(work);
    started
        .map_err(|error| StoreError::Corrupt(format!("could not start the thread {name}: {error}")))
}

/// Renews the lease until it is lost or nobody wants it any more. Commits renew it too, so it is only renewed once a
/// third of it is over.
fn renew(mut client: LedgerClient, claim: &Claim, ended: &Receiver<()>) {
    let (interval, fresh) = (claim.lease / 10, claim.lease / 3 * 2);
    while ended.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
        if claim.clock.left() > fresh.saturating_sub(MAX_MARGIN.min(claim.lease / 5)) {
            continue;
        }
        match claim.renew(&mut client) {
            Ok(()) => {}
            Err(error @ StoreError::Fenced { .. }) => {
                tracing::error!(%error, "lease lost");
                return;
            }
            Err(error) => tracing::warn!(%error, "lease not renewed; will retry"),
        }
    }
}

fn publish(clock: &LeaseClock, published: &watch::Sender<LeaseState>, ended: &Receiver<()>) {
    while ended.recv_timeout(WATCH_INTERVAL) == Err(RecvTimeoutError::Timeout) {
        let state = clock.state();
        published.send_if_modified(|last| std::mem::replace(last, state) != state);
    }
}

impl LedgerClient {
    /// Waits until a home can be taken, and takes it.
    pub fn wait_and_take(
        mut self,
        name: &str,
        owner: &Owner,
        give_up: &GiveUp,
    ) -> Result<OwnedHome, StoreError> {
        loop {
            match self.take(name, owner)? {
                TakeOutcome::Taken(home) => return Ok(*home),
                TakeOutcome::Occupied(client, _) => self = *client,
            }
            give_up.check("another server owns the home")?;
            self.pause(TAKE_INTERVAL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_counts_from_when_the_renewal_was_sent_and_only_moves_on() {
        let clock = LeaseClock::default();
        assert_eq!(clock.state(), LeaseState::Waiting);
        let lease = Duration::from_secs(1_000);
        clock.renewed(boot_millis() - 400_000, lease);
        assert!(clock.left() <= Duration::from_secs(599), "{:?}", clock.left());
        assert_eq!(clock.state(), LeaseState::Held);
        // An answer that comes late, to a renewal sent earlier, changes nothing.
        let before = clock.0.deadline.load(Ordering::Acquire);
        clock.renewed(boot_millis() - 900_000, lease);
        assert_eq!(clock.0.deadline.load(Ordering::Acquire), before);
        clock.lose();
        assert_eq!(clock.state(), LeaseState::Lost);
        clock.renewed(boot_millis(), lease);
        assert_eq!(clock.state(), LeaseState::Lost);
    }
}
