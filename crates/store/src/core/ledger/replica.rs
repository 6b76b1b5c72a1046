//! The check of debug builds: every store replays each of its commits into a second database, which must stay equal.
//!
//! So every test of the workspace, also one that runs the program, tests that the log makes the same state. The
//! replica reads rows without a requested order backwards, so that a statement that depends on one shows.
//! All tables are compared at commits 1, 2, 4, 8, … and when the store is closed. A difference ends the writer.

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use crate::core::chain::Chain;
use crate::core::error::StoreError;
use crate::core::ledger::compare::first_difference;
use crate::core::ledger::entry::LogEntry;
use crate::core::ledger::replay::replay;
use crate::core::ledger::row_digest::TouchedRows;

/// A second database beside the writer's, in memory.
#[derive(Debug, Default)]
pub(crate) struct ReplicaCheck {
    replica: Option<Replica>,
    commits: u64,
}

#[derive(Debug)]
struct Replica {
    connection: Connection,
    touched: TouchedRows,
    /// `PRAGMA data_version` of the writer's connection: it changes when somebody else writes to the file
    version: i64,
}

impl ReplicaCheck {
    /// Prepares for a commit, before its transaction begins. A replica that is missing is copied from the database; a
    /// database that cannot be copied now, such as one that a test locks, goes without, and so does one in which somebody
    /// else has added to the chain or the events that the writer counts in memory.
    pub(crate) fn before(&mut self, database: &Connection, chain: &Chain) {
        if self.replica.is_none() {
            self.replica = copy(database, chain).unwrap_or_default();
        }
    }

    /// Looks, inside of the transaction, whether another connection has written: a test that tampers with the file,
    /// or a shell. Then the replica is copied anew before the next commit.
    pub(crate) fn begun(&mut self, database: &Connection) {
        let version = data_version(database).ok();
        self.replica.take_if(|replica| Some(replica.version) != version);
    }

    /// Gives the replica up, because nobody knows whether a commit that failed stands.
    pub(crate) fn forget(&mut self) {
        self.replica = None;
    }

    /// Replays a commit, and compares now and then.
    pub(crate) fn committed(
        &mut self,
        database: &Connection,
        entry: &[u8],
    ) -> Result<(), StoreError> {
        let Some(replica) = &self.replica else { return Ok(()) };
        self.commits += 1;
        let seq = self.commits.cast_signed();
        let replayed = replay_commit(replica, seq, entry);
        replayed.map_err(|error| match error {
            StoreError::Diverged { .. } => error,
            other => StoreError::Diverged { seq, why: format!("{other:?}") },
        })?;
        if self.commits.is_power_of_two() {
            self.compare(database)?;
        }
        Ok(())
    }

    /// Compares all tables, unless somebody else has written to the file.
    pub(crate) fn compare(&mut self, database: &Connection) -> Result<(), StoreError> {
        if self.replica.is_none() {
            return Ok(());
        }
        // The first read fixes what the others see, so nobody can write between looking and comparing.
        database.execute_batch("BEGIN; SELECT COUNT(*) FROM sqlite_master")?;
        self.begun(database);
        let replica = self.replica.as_ref().map(|replica| &replica.connection);
        let difference = replica.map(|replica| first_difference(database, replica)).transpose();
        database.execute_batch("COMMIT")?;
        match difference?.flatten() {
            Some(why) => Err(StoreError::Diverged { seq: self.commits.cast_signed(), why }),
            None => Ok(()),
        }
    }
}

fn data_version(database: &Connection) -> Result<i64, rusqlite::Error> {
    database.query_row("PRAGMA data_version", [], |row| row.get(0))
}

fn replay_commit(replica: &Replica, seq: i64, entry: &[u8]) -> Result<(), StoreError> {
    let Replica { connection, touched, .. } = replica;
    connection.execute_batch("BEGIN")?;
    replay(connection, touched, seq, &LogEntry::decode(entry)?)?;
    Ok(connection.execute_batch("COMMIT")?)
}

fn copy(database: &Connection, chain: &Chain) -> Result<Option<Replica>, StoreError> {
    let version = data_version(database)?;
    let mut connection = Connection::open_in_memory()?;
    if Backup::new(database, &mut connection)?.step(-1)? != StepResult::Done {
        return Ok(None);
    }
    let copied = Chain::load(&connection)?;
    if (copied.audit, copied.hash, copied.last_event())
        != (chain.audit, chain.hash, chain.last_event())
    {
        return Ok(None);
    }
    connection.set_prepared_statement_cache_capacity(256);
    connection.pragma_update(None, "reverse_unordered_selects", "ON")?;
    let touched = TouchedRows::of(&connection)?;
    Ok(Some(Replica { connection, touched, version }))
}

#[cfg(test)]
mod tests {
    use rusqlite::params;

    use super::*;
    use crate::core::ledger::write_log::WriteLog;
    use crate::core::tx::Tx;

    /// A database with a replica, and the name of a session that both have.
    fn checked() -> (Connection, ReplicaCheck) {
        let database = Connection::open_in_memory().unwrap();
        crate::core::migrate::migrate(&database).unwrap();
        write(&database, "INSERT INTO slack_channel (channel, seen) VALUES ('C1', '1')");
        let mut check = ReplicaCheck::default();
        check.before(&database, &Chain::default());
        (database, check)
    }

    fn write(database: &Connection, sql: &str) -> Vec<u8> {
        let mut log = WriteLog::of(TouchedRows::of(database).unwrap());
        let mut tx = Tx::recording(database, Chain::default(), Some(&mut log));
        tx.execute(sql, params![]).unwrap();
        log.entry(0, &[b'0'; 64], 0)
    }

    #[test]
    fn a_commit_is_replayed() {
        let (database, mut check) = checked();
        for seen in 2..20 {
            let entry = write(&database, &format!("UPDATE slack_channel SET seen = '{seen}'"));
            check.committed(&database, &entry).unwrap();
        }
        check.compare(&database).unwrap();
    }

    #[test]
    fn what_another_connection_writes_is_no_difference() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.db");
        let open = || crate::core::tx::connect(&path, std::time::Duration::from_secs(5)).unwrap();
        let (database, other) = (open(), open());
        crate::core::migrate::migrate(&database).unwrap();
        let mut check = ReplicaCheck::default();
        check.before(&database, &Chain::default());
        write(&other, "INSERT INTO slack_channel (channel, seen) VALUES ('C1', '1')");
        check.compare(&database).unwrap();
        assert!(check.replica.is_none(), "it is copied anew before the next commit");
    }

    #[test]
    fn a_row_that_only_one_has_is_noticed_by_the_next_write_to_it() {
        let (database, mut check) = checked();
        let replica = &check.replica.as_ref().unwrap().connection;
        replica.execute("DELETE FROM slack_channel", []).unwrap();
        let entry = write(&database, "UPDATE slack_channel SET seen = '2' WHERE channel = 'C1'");
        let error = check.committed(&database, &entry).unwrap_err();
        assert!(error.to_string().contains("changed 0 rows instead of 1"), "{error}");
    }

    #[test]
    fn a_row_with_another_value_is_noticed_by_the_next_write_to_it_and_by_no_other() {
        let (database, mut check) = checked();
        let add = "INSERT INTO slack_channel (channel, seen) VALUES ('C2', '1')";
        check.committed(&database, &write(&database, add)).unwrap();
        let replica = &check.replica.as_ref().unwrap().connection;
        replica.execute("UPDATE slack_channel SET seen = '9' WHERE channel = 'C1'", []).unwrap();
        // Not the commit at which all is compared.
        check.commits = 4;
        let other = "UPDATE slack_channel SET seen = '2' WHERE channel = 'C2'";
        check.committed(&database, &write(&database, other)).unwrap();
        let entry = write(&database, "UPDATE slack_channel SET seen = '2' WHERE channel = 'C1'");
        let error = check.committed(&database, &entry).unwrap_err();
        assert!(error.to_string().contains("entry 6: a row that it touches"), "{error}");
    }

    #[test]
    fn a_row_with_another_value_is_noticed_by_the_comparison() {
        let (database, mut check) = checked();
        let replica = &check.replica.as_ref().unwrap().connection;
        replica.execute("UPDATE slack_channel SET seen = '9'", []).unwrap();
        let error = check.compare(&database).unwrap_err();
        assert!(matches!(error, StoreError::Diverged { .. }), "{error:?}");
        assert!(error.to_string().contains("slack_channel"), "{error}");
    }

    #[test]
    fn a_statement_that_depends_on_an_undefined_order_is_noticed() {
        let (database, mut check) = checked();
        let add = "INSERT INTO slack_channel (channel, seen) VALUES ('C2', '1'), ('C3', '1')";
        check.committed(&database, &write(&database, add)).unwrap();
        let any = "DELETE FROM slack_channel WHERE channel IN
                    (SELECT channel FROM slack_channel WHERE seen = '1' LIMIT 1)";
        check.committed(&database, &write(&database, any)).unwrap_err();
    }
}
