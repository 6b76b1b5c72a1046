//! The digest of the rows that a commit touched: by it a replica notices that a row is not what it was for the owner.
//!
//! Triggers hand every row, as it was before a change and as it is after it, to a function that adds up hashes. They are
//! temporary: they belong to one connection, and no file has them. (SQLite's own hook for this can only be built with
//! libclang, which a person who installs from source would need.) Since hashes are added, the order in which a statement
//! comes to its rows does not matter.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::Null;
use sha2::{Digest as _, Sha256};

use crate::core::error::StoreError;
use crate::core::ledger::bytes::put_value;

/// Function that the triggers call.
const FUNCTION: &str = "adjutant_touched_row";
/// Beginning of the triggers' names.
const TRIGGERS: &str = "adjutant_touched_";

/// Sum of the hashes of rows, before and after they were changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RowDigest([u8; Self::BYTES]);

impl RowDigest {
    pub(crate) const BYTES: usize = 16;

    pub(crate) const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    pub(crate) const fn bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    fn add(&mut self, hash: [u8; Self::BYTES]) {
        let sum = u128::from_le_bytes(self.0).wrapping_add(u128::from_le_bytes(hash));
        self.0 = sum.to_le_bytes();
    }
}

/// The digest of the rows that one connection has touched since it was last set. Cheap to clone; all clones are the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct TouchedRows(Arc<Mutex<Sum>>);

#[derive(Debug, Default)]
struct Sum {
    digest: RowDigest,
    /// A row on its way into its hash
    row: Vec<u8>,
}

impl TouchedRows {
    /// Begins to count what a connection touches. Other tables need [`TouchedRows::watch_tables`].
    pub(crate) fn of(connection: &Connection) -> Result<Self, StoreError> {
        let touched = Self::default();
        let sum = touched.clone();
        let add = move |row: &Context<'_>| {
            sum.locked().add(row);
            Ok(Null)
        };
        connection.create_scalar_function(FUNCTION, -1, FunctionFlags::SQLITE_UTF8, add)?;
        Self::watch_tables(connection)?;
        Ok(touched)
    }

    /// Watches the tables that there are. To be called after a migration; before it comes [`TouchedRows::unwatch`].
    pub(crate) fn watch_tables(connection: &Connection) -> Result<(), StoreError> {
        // Where a file stands in the log is no part of the state.
        let tables = "SELECT name FROM main.sqlite_schema WHERE type = 'table'
            AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> 'log_position' ORDER BY name";
        let mut triggers = Vec::new();
        for table in names(connection, tables)? {
            let columns =
                format!("SELECT name FROM pragma_table_info('{table}', 'main') ORDER BY cid");
            let columns = names(connection, &columns)?;
            let row = |mark: char, prefix: &str| {
                let values = columns.iter().map(|name| format!("{prefix}.\"{name}\""));
                let values = values.collect::<Vec<_>>().join(", ");
                format!("{FUNCTION}('{mark}{table}', {values})")
            };
            let (old, new) = (row('-', "OLD"), row('+', "NEW"));
            for (change, rows) in
                [("INSERT", new.clone()), ("UPDATE", format!("{old}, {new}")), ("DELETE", old)]
            {
                triggers.push(format!(
                    "CREATE TEMP TRIGGER IF NOT EXISTS {TRIGGERS}{table}_{change}
                        AFTER {change} ON main.\"{table}\" BEGIN SELECT {rows}; END;"
                ));
            }
        }
        let triggers = triggers.join("\n");
        Ok(connection.execute_batch(&format!("SAVEPOINT watch; {triggers} RELEASE watch"))?)
    }

    /// Stops watching the tables, so that they can be changed.
    pub(crate) fn unwatch(connection: &Connection) -> Result<(), StoreError> {
        let triggers = format!("SELECT name FROM temp.sqlite_schema WHERE name GLOB '{TRIGGERS}*'");
        let drops = names(connection, &triggers)?;
        let drops = drops.iter().map(|name| format!("DROP TRIGGER temp.\"{name}\""));
        Ok(connection.execute_batch(&drops.collect::<Vec<_>>().join(";\n"))?)
    }

    /// The digest of what was touched since it was last set.
    pub(crate) fn digest(&self) -> RowDigest {
        self.locked().digest
    }

    /// Sets the digest: to nothing for a new commit, or back because what was done since was rolled back.
    pub(crate) fn set(&self, digest: RowDigest) {
        self.locked().digest = digest;
    }

    fn locked(&self) -> MutexGuard<'_, Sum> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sum {
    /// Adds a row: whether it is from before or after the change with its table, and its values.
    fn add(&mut self, arguments: &Context<'_>) {
        self.row.clear();
        for number in 0..arguments.len() {
            put_value(&mut self.row, arguments.get_raw(number));
        }
        let hash = Sha256::digest(&self.row);
        let mut part = [0; RowDigest::BYTES];
        part.copy_from_slice(&hash[..RowDigest::BYTES]);
        self.digest.add(part);
    }
}

fn names(connection: &Connection, select: &str) -> Result<Vec<String>, StoreError> {
    let mut select = connection.prepare(select)?;
    let names = select.query_map([], |row| row.get(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched() -> (Connection, TouchedRows) {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE TABLE one (name TEXT PRIMARY KEY, number INTEGER, part REAL, bytes BLOB);
                 CREATE TABLE other (name TEXT PRIMARY KEY, number INTEGER, part REAL, bytes BLOB);
                 CREATE TABLE log_position (seq INTEGER);
                 INSERT INTO one VALUES ('a', 1, 0.5, x'00'), ('b', 2, NULL, NULL), ('c', 3, 1, x'');",
            )
            .unwrap();
        let touched = TouchedRows::of(&connection).unwrap();
        (connection, touched)
    }

    /// The digest of statements on rows of which some were changed before by others.
    fn digest_of(before: &str, statements: &str) -> RowDigest {
        let (connection, touched) = watched();
        connection.execute_batch(before).unwrap();
        touched.set(RowDigest::default());
        connection.execute_batch(statements).unwrap();
        touched.digest()
    }

    #[test]
    fn the_same_changes_of_the_same_rows_have_the_same_digest_in_any_order() {
        let nothing = RowDigest::default();
        let update = "UPDATE one SET number = number + 1";
        assert_ne!(digest_of("", update), nothing);
        assert_eq!(
            digest_of("PRAGMA reverse_unordered_selects = ON", update),
            digest_of("", update)
        );
        assert_eq!(
            digest_of("", "SELECT * FROM one; UPDATE one SET number = 1 WHERE name = 'x'"),
            nothing
        );
        // One after the other in another order.
        let [a, b] = ["DELETE FROM one WHERE name = 'a';", "DELETE FROM one WHERE name = 'b';"];
        assert_eq!(digest_of("", &format!("{a}{b}")), digest_of("", &format!("{b}{a}")));
    }

    #[test]
    fn a_row_that_differs_in_any_value_has_another_digest_whatever_is_done_to_it() {
        let changes = [
            "UPDATE one SET number = 7 WHERE name = 'a'",
            "UPDATE one SET number = 7, part = 7, bytes = x'07' WHERE name = 'a'",
            "DELETE FROM one WHERE name = 'a'",
            "DELETE FROM one",
            "INSERT INTO one VALUES ('a', 7, 0, NULL) ON CONFLICT (name) DO UPDATE SET number = excluded.number",
            "DELETE FROM one WHERE name = 'a' RETURNING number",
        ];
        let differences = [
            "number = 9",
            "number = 'x'",
            "part = NULL",
            "part = 0",
            "bytes = x'01'",
            "bytes = ''",
        ];
        for change in changes {
            let as_it_is = digest_of("", change);
            for difference in differences {
                let before = format!("UPDATE one SET {difference} WHERE name = 'a'");
                assert_ne!(digest_of(&before, change), as_it_is, "{before}; {change}");
            }
            // A row that it does not touch may be anything.
            if change != "DELETE FROM one" {
                let before = "UPDATE one SET number = 9 WHERE name = 'b'";
                assert_eq!(digest_of(before, change), as_it_is, "{change}");
            }
        }
    }

    #[test]
    fn what_is_written_and_where_makes_a_difference_and_the_place_in_the_log_none() {
        let insert = |table: &str, values: &str| {
            digest_of("", &format!("INSERT INTO {table} VALUES {values}"))
        };
        let one = insert("one", "('d', 1, 1, NULL)");
        assert_ne!(one, insert("other", "('d', 1, 1, NULL)"));
        assert_ne!(one, insert("one", "('d', 2, 1, NULL)"));
        assert_ne!(
            one,
            digest_of(
                "INSERT INTO one VALUES ('d', 1, 1, NULL)",
                "DELETE FROM one WHERE name = 'd'"
            )
        );
        assert_eq!(digest_of("", "INSERT INTO log_position VALUES (1)"), RowDigest::default());
    }

    #[test]
    fn tables_are_watched_again_after_a_migration() {
        let (connection, touched) = watched();
        let migration =
            "ALTER TABLE one ADD COLUMN more TEXT; ALTER TABLE other RENAME COLUMN part TO piece;
            CREATE TABLE third (number INTEGER PRIMARY KEY)";
        TouchedRows::unwatch(&connection).unwrap();
        connection.execute_batch(migration).unwrap();
        touched.set(RowDigest::default());
        connection.execute_batch("UPDATE one SET number = 1").unwrap();
        assert_eq!(touched.digest(), RowDigest::default());
        TouchedRows::watch_tables(&connection).unwrap();
        let mut seen = vec![touched.digest()];
        for change in [
            "INSERT INTO third VALUES (1)",
            "UPDATE one SET more = 'x'",
            "UPDATE one SET more = 'x'",
        ] {
            connection.execute_batch(change).unwrap();
            assert!(!seen.contains(&touched.digest()), "{change}");
            seen.push(touched.digest());
        }
    }

    #[test]
    fn a_file_has_nothing_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.db");
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("CREATE TABLE one (number INTEGER PRIMARY KEY)").unwrap();
        let touched = TouchedRows::of(&connection).unwrap();
        connection.execute_batch("INSERT INTO one VALUES (1)").unwrap();
        assert_eq!(connection.changes(), 1);
        assert_ne!(touched.digest(), RowDigest::default());
        let other = Connection::open(&path).unwrap();
        other.execute_batch("INSERT INTO one VALUES (2)").unwrap();
        let objects = "SELECT COUNT(*) FROM sqlite_schema";
        let count = |file: &Connection| file.query_row(objects, [], |row| row.get::<_, i64>(0));
        assert_eq!(count(&other).unwrap(), 1);
    }
}
