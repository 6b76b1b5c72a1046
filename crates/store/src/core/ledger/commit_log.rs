//! The writer's side of the ledger: what it notes of a commit, and where the notes go before and after.

use rusqlite::Connection;

use crate::core::chain::Chain;
use crate::core::error::StoreError;
use crate::core::ledger::determinism::refuse_unrepeatable;
use crate::core::ledger::follow::move_position;
use crate::core::ledger::owned::{
    AgentCounts, CommitStep, EntryKind, FULL_ENTRY_BYTES, NewEntry, OwnedHome,
};
#[cfg(debug_assertions)]
use crate::core::ledger::replica::ReplicaCheck;
use crate::core::ledger::row_digest::TouchedRows;
use crate::core::ledger::write_log::{Mark, WriteLog};

/// Notes of the commit under way, and those who need them: a home in PostgreSQL, and the replica of a debug build.
/// On one machine nobody does, and there are no notes.
#[derive(Debug)]
pub(crate) struct CommitLog {
    notes: Option<WriteLog>,
    home: Option<OwnedHome>,
    /// Failure after which nothing is written any more
    end: Option<StoreError>,
    #[cfg(debug_assertions)]
    replica: ReplicaCheck,
}

impl CommitLog {
    /// Takes notes of what a connection writes, if somebody needs them.
    pub(crate) fn new(
        connection: &mut Connection,
        home: Option<OwnedHome>,
    ) -> Result<Self, StoreError> {
        let is_replayed = home.is_some() || cfg!(debug_assertions);
        let notes = if is_replayed {
            refuse_unrepeatable(connection)?;
            Some(WriteLog::of(TouchedRows::of(connection)?))
        } else {
            None
        };
        Ok(Self {
            notes,
            home,
            end: None,
            #[cfg(debug_assertions)]
            replica: ReplicaCheck::default(),
        })
    }

    /// Prepares for a commit, before its transaction begins. Fails if nothing is written any more.
    #[cfg_attr(not(debug_assertions), expect(unused_variables, reason = "the replica looks at it"))]
    pub(crate) fn before(
        &mut self,
        connection: &Connection,
        chain: &Chain,
    ) -> Result<(), StoreError> {
        if let Some(end) = &self.end {
            return Err(end.again());
        }
        #[cfg(debug_assertions)]
        self.replica.before(connection, chain);
        Ok(())
    }

    /// Begins the notes of a transaction.
    #[cfg_attr(not(debug_assertions), expect(unused_variables, reason = "the replica looks at it"))]
    pub(crate) fn begin(&mut self, connection: &Connection) {
        #[cfg(debug_assertions)]
        self.replica.begun(connection);
        if let Some(notes) = &mut self.notes {
            notes.clear();
        }
    }

    /// The notes, for a transaction that writes.
    pub(crate) const fn notes(&mut self) -> Option<&mut WriteLog> {
        self.notes.as_mut()
    }

    /// Length of the notes, for [`CommitLog::rewind`].
    pub(crate) fn mark(&self) -> Option<Mark> {
        self.notes.as_ref().map(WriteLog::mark)
    }

    /// Drops what was noted since, because it was rolled back.
    pub(crate) fn rewind(&mut self, mark: Option<Mark>) {
        if let (Some(notes), Some(mark)) = (&mut self.notes, mark) {
            notes.rewind(mark);
        }
    }

    /// True if the entry of this commit has room for no further operation.
    pub(crate) fn is_full(&self) -> bool {
        let is_full = |notes: &WriteLog| notes.bytes() > FULL_ENTRY_BYTES;
        self.home.is_some() && self.notes.as_ref().is_some_and(is_full)
    }

    /// Appends the commit to the log of the home, if there is one and something was written. From then on it counts,
    /// and the transaction has to be committed.
    pub(crate) fn append(
        &mut self,
        connection: &Connection,
        chain: &Chain,
    ) -> Result<(), StoreError> {
        let (Some(home), Some(notes)) = (&mut self.home, &self.notes) else { return Ok(()) };
        if notes.is_empty() {
            return Ok(());
        }
        let entry = NewEntry {
            kind: EntryKind::Writes,
            body: &entry_of(notes, chain),
            audit: chain.audit,
            head: &String::from_utf8_lossy(&chain.hash),
            event: chain.last_event(),
            agents: agent_counts(connection)?,
        };
        match home.append(&entry) {
            Ok(seq) => move_position(connection, seq).map_err(|error| self.not_committed(error)),
            // Nothing was sent.
            Err(error @ StoreError::TooLarge { .. }) => Err(error),
            Err(error) => Err(self.end_with(error)),
        }
    }

    /// Notes that a transaction could not be committed. Where the log has it, this database lacks what others have.
    pub(crate) fn not_committed(&mut self, error: StoreError) -> StoreError {
        let is_in_log =
            self.home.is_some() && self.notes.as_ref().is_some_and(|log| !log.is_empty());
        if !is_in_log {
            return error;
        }
        self.end_with(StoreError::NotKept { why: error.to_string() })
    }

    /// Ends all writing: this server is no longer the one that knows the state. Another one may take the home at once.
    fn end_with(&mut self, error: StoreError) -> StoreError {
        tracing::error!(%error, "nothing is written any more");
        self.end = Some(error.again());
        if let Some(home) = self.home.take()
            && !matches!(error, StoreError::Fenced { .. } | StoreError::Away { .. })
            && let Err(error) = home.release()
        {
            tracing::warn!(%error, "failed to hand the home over");
        }
        error
    }

    /// Takes note of a commit that held, and replays it into the replica of a debug build.
    #[cfg_attr(not(debug_assertions), expect(unused_variables, reason = "the replica looks at it"))]
    pub(crate) fn committed(&mut self, connection: &Connection, chain: &Chain) {
        if let (Some(home), Some(notes)) = (&self.home, &self.notes)
            && !notes.is_empty()
        {
            home.at(CommitStep::Committed);
        }
        #[cfg(debug_assertions)]
        if let Some(notes) = &self.notes {
            let replayed = self.replica.committed(connection, &entry_of(notes, chain));
            expect_equal(replayed);
        }
    }

    /// Notes that a commit failed, so that nobody knows what stands.
    #[cfg_attr(
        not(debug_assertions),
        expect(clippy::unused_self, reason = "the replica is given up")
    )]
    pub(crate) fn failed(&mut self) {
        #[cfg(debug_assertions)]
        self.replica.forget();
    }

    /// Hands the home over, so that another server need not wait until the lease runs out.
    #[cfg_attr(not(debug_assertions), expect(unused_variables, reason = "the replica looks at it"))]
    pub(crate) fn close(mut self, connection: &Connection) {
        // Once nothing is written any more the home was given up, or another server has it.
        if let Some(home) = self.home.take().filter(|_| self.end.is_none())
            && let Err(error) = home.release()
        {
            tracing::warn!(%error, "failed to hand the home over");
        }
        #[cfg(debug_assertions)]
        {
            let compared = self.replica.compare(connection);
            expect_equal(compared);
        }
    }
}

/// Counts the live agents of a state.
pub(crate) fn agent_counts(connection: &Connection) -> Result<AgentCounts, StoreError> {
    let count = "SELECT COALESCE(SUM(state = 'queued'), 0),
            COALESCE(SUM(state IN ('starting', 'running')), 0)
         FROM agent WHERE ended_at IS NULL";
    let mut counting = connection.prepare_cached(count)?;
    Ok(counting
        .query_row([], |row| Ok(AgentCounts { queued: row.get(0)?, running: row.get(1)? }))?)
}

fn entry_of(notes: &WriteLog, chain: &Chain) -> Vec<u8> {
    notes.entry(chain.audit, &chain.hash, chain.last_event())
}

/// Ends the writer of a debug build whose replica differs. A database that cannot be read, such as one that a test
/// damages, is not a difference.
#[cfg(debug_assertions)]
fn expect_equal(checked: Result<(), StoreError>) {
    if let Err(error) = checked {
        assert!(!matches!(error, StoreError::Diverged { .. }), "{error}");
        tracing::warn!(%error, "replica not compared");
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use testkit::postgres::Postgres;

    use super::*;
    use crate::core::guard::FileGuard;
    use crate::core::ledger::address::LedgerAddress;
    use crate::core::ledger::client::LedgerClient;
    use crate::core::ledger::follow::bring_up_to_date;
    use crate::core::ledger::owned::{Owner, TakeOutcome};
    use crate::core::ledger::snapshot::NewHome;
    use crate::core::writer::{Writer, WriterState};

    const HOME: &str = "hm_1";

    #[test]
    fn what_finds_no_room_before_it_is_appended_is_refused_and_writing_goes_on() {
        let (postgres, dir) = (Postgres::start(&[]).unwrap(), tempfile::tempdir().unwrap());
        let address = LedgerAddress::parse(&postgres.address()).unwrap();
        let (mut client, file) = (LedgerClient::new(address).unwrap(), dir.path().join("a.db"));
        client.make_tables().unwrap();
        let new = NewHome { id: HOME, name: "shop", from: None, scratch: dir.path() };
        client.create_home(&new, |_| Ok(())).unwrap();
        client.restore(HOME, &file).unwrap();
        let (id, lease) = ("a".to_owned(), Duration::from_secs(300));
        let owner = Owner { id, url: "http://a".to_owned(), lease };
        let TakeOutcome::Taken(home) = client.take("shop", &owner).unwrap() else { panic!() };
        let (connection, home) = bring_up_to_date(&file, *home).unwrap();
        // As a disk with room for a few pages more.
        let pages: i64 =
            connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        connection.pragma_update(None, "max_page_count", pages + 16).unwrap();
        let guard = FileGuard::new(std::iter::once(file.as_path())).unwrap();
        let writer = Writer::start(connection, guard, Some(home)).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let put = |name: &'static str, length: usize| {
            let value = "x".repeat(length);
            runtime.block_on(writer.write(move |tx| tx.home_value_put(name, &value)))
        };
        let seq = || postgres.sql("SELECT seq FROM adjutant.home").unwrap();
        put("small", 10).unwrap();
        assert_eq!(seq(), "1");
        let error = put("large", 1 << 20).unwrap_err();
        assert!(matches!(error, StoreError::Full(_)), "{error:?}");
        assert_eq!(seq(), "1");
        assert_ne!(writer.state(), WriterState::Stopped);
        put("small", 11).unwrap();
        assert_eq!(seq(), "2");
        let large = "SELECT COUNT(*) FROM home_value WHERE name = 'large'";
        let other = Connection::open(&file).unwrap();
        assert_eq!(other.query_row(large, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
        runtime.block_on(writer.close());
    }
}
