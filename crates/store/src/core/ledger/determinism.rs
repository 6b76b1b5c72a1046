//! Refuses statements whose effect a replay could not repeat: those that ask for chance, the clock or a `rowid`.

use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

/// Functions of SQLite that answer differently from one database or moment to the next.
const UNREPEATABLE: [&str; 16] = [
    "changes",
    "current_date",
    "current_time",
    "current_timestamp",
    "date",
    "datetime",
    "julianday",
    "last_insert_rowid",
    "random",
    "randomblob",
    "sqlite_source_id",
    "sqlite_version",
    "strftime",
    "time",
    "total_changes",
    "unixepoch",
];

/// Makes a connection refuse such statements when it prepares them.
pub(crate) fn refuse_unrepeatable(connection: &mut Connection) -> Result<(), rusqlite::Error> {
    connection.authorizer(Some(|context: AuthContext<'_>| match context.action {
        AuthAction::Function { function_name }
            if UNREPEATABLE.iter().any(|name| function_name.eq_ignore_ascii_case(name)) =>
        {
            Authorization::Deny
        }
        // A `rowid` that is no column changes when the database is copied; SQLite names it like this.
        AuthAction::Read { column_name: "ROWID", .. } => Authorization::Deny,
        _ => Authorization::Allow,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_replay_could_not_repeat_is_refused() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE TABLE named (name TEXT PRIMARY KEY, at INTEGER);
                 CREATE TABLE numbered (number INTEGER PRIMARY KEY, at TEXT);",
            )
            .unwrap();
        refuse_unrepeatable(&mut connection).unwrap();
        for sql in [
            "INSERT INTO named VALUES ('a', random())",
            "INSERT INTO named VALUES (hex(randomblob(4)), 1)",
            "INSERT INTO named VALUES (CURRENT_TIMESTAMP, 1)",
            "UPDATE named SET at = unixepoch('now')",
            "UPDATE named SET name = DATETIME('now')",
            "DELETE FROM named WHERE rowid = 1",
            "DELETE FROM named WHERE name IN (SELECT name FROM named ORDER BY rowid LIMIT 1)",
            "INSERT INTO numbered VALUES (last_insert_rowid(), 1)",
        ] {
            assert!(connection.prepare(sql).is_err(), "{sql}");
        }
        for sql in [
            "INSERT INTO named VALUES ('a', 1) ON CONFLICT (name) DO UPDATE SET at = excluded.at",
            "INSERT INTO numbered VALUES (1, 'a') RETURNING number",
            "UPDATE numbered SET at = lower(at) WHERE rowid = 1",
            "DELETE FROM named WHERE name IN (SELECT name FROM named ORDER BY name LIMIT 1)",
        ] {
            connection.execute_batch(sql).unwrap();
        }
    }
}
