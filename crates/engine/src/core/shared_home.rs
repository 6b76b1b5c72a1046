//! A home in PostgreSQL that this server owns: the lease, and the machine that its run folders are on.

use store::{LeaseClock, LeaseKeeper, LeaseState};
use tokio::sync::watch;

/// Ownership of a home that several servers share. Cheap to clone.
///
/// Invariant: an effect on the outside begins only after [`SharedHome::held`]. While PostgreSQL is away another server
/// may not have taken the home, but nobody can know that.
#[derive(Debug, Clone)]
pub struct SharedHome {
    machine: String,
    lease: LeaseClock,
    state: watch::Receiver<LeaseState>,
}

/// Ownership at this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ownership {
    /// The home is this server's
    Held,
    /// The lease has run out, because PostgreSQL is away; nothing may be answered or begun
    Suspended,
    /// Another server owns the home; this process has to end
    Lost,
}

impl SharedHome {
    pub(crate) fn new(machine: String, lease: LeaseClock, keeper: &LeaseKeeper) -> Self {
        Self { machine, lease, state: keeper.state() }
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
