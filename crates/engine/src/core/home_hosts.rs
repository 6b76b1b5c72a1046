//! A host's place among those that serve the homes of one PostgreSQL. Everything blocks, and runs outside of a runtime.

use std::time::Duration;

use model::placement::{HostNote, HostRow, PlacementChange, Placements};
use store::LedgerClient;
use tokio::time::Instant;

use crate::core::home_address::HomeAddress;
use crate::core::record_file::RecordError;

/// Time limit for each statement: a turn that takes longer has no use.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(3);

/// Connection of a host to the PostgreSQL of its homes.
#[derive(Debug)]
pub struct HomeHosts {
    client: LedgerClient,
    /// True once the tables are known to be there
    has_tables: bool,
    /// Until then other hosts that seem to be gone may only have been cut off as this one was
    quiet_until: Option<Instant>,
}

/// Note and wants of a host at a moment.
#[derive(Debug, Clone)]
pub struct HostTurn {
    /// Its note about itself
    pub note: HostNote,
    /// Age from which another host counts as gone
    pub limit: Duration,
    /// Changes of placements that it makes
    pub changes: Vec<PlacementChange>,
}

impl HomeHosts {
    /// A host of this PostgreSQL. Nothing is connected yet.
    pub fn new(address: &HomeAddress) -> Result<Self, RecordError> {
        let client = address.client_within(STATEMENT_TIMEOUT)?;
        Ok(Self { client, has_tables: false, quiet_until: None })
    }

    /// The live host that says it is at this address too, if there is one.
    pub fn namesake(&mut self, turn: &HostTurn) -> Result<Option<HostNote>, RecordError> {
        self.make_tables()?;
        let is_other = |row: &HostRow| {
            row.age < turn.limit && row.note.id != turn.note.id && row.note.url == turn.note.url
        };
        Ok(self.client.hosts()?.into_iter().find(is_other).map(|row| row.note))
    }

    /// Notes that the host is there, makes its changes, takes its share of the homes without a host, and reads how all of
    /// them stand.
    pub fn turn(&mut self, turn: &HostTurn) -> Result<Placements, RecordError> {
        self.make_tables()?;
        let HostTurn { note, limit, changes } = turn;
        let silence = self.client.note_host(note)?;
        if silence.is_none_or(|silence| silence >= *limit) {
            // After an outage of PostgreSQL the first host to come back would find all others gone; and of hosts that
            // start together the first would take everything.
            self.quiet_until = Some(Instant::now() + *limit);
        }
        for change in changes {
            self.client.change_placement(&note.id, change)?;
        }
        let is_quiet = self.quiet_until.is_some_and(|until| Instant::now() < until);
        if !note.leaving && !is_quiet {
            self.client.claim_homes(&note.id, *limit)?;
        }
        let (hosts, homes) = (self.client.hosts()?, self.client.placed_homes()?);
        Ok(Placements { hosts, homes, limit: *limit })
    }

    /// Removes the host: the others may take its homes at once.
    pub fn leave(&mut self, id: &str) -> Result<(), RecordError> {
        Ok(self.client.remove_host(id)?)
    }

    fn make_tables(&mut self) -> Result<(), RecordError> {
        if !self.has_tables {
            self.client.make_host_tables()?;
            self.has_tables = true;
        }
        Ok(())
    }
}
