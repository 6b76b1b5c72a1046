//! Log entries: the writes of one commit, the digest of the rows that they touched, and where the chain and the events
//! stand after it.

use rusqlite::types::ValueRef;

use crate::core::error::StoreError;
use crate::core::ledger::bytes::{ByteReader, damaged};
use crate::core::ledger::row_digest::RowDigest;

/// Version of the form of an entry; its first byte.
pub(crate) const ENTRY_VERSION: u8 = 2;
/// Version whose entries have no digest of rows.
const VERSION_WITHOUT_DIGEST: u8 = 1;

/// The writes of one commit, in their order.
#[derive(Debug)]
pub(crate) struct LogEntry<'e> {
    pub(crate) writes: Vec<LoggedWrite<'e>>,
    /// Number of the last audit row
    pub(crate) audit: i64,
    /// Hash of the last audit row
    pub(crate) head: &'e [u8],
    /// Number of the last event
    pub(crate) event: i64,
    /// Digest of the rows that the writes touched; entries of older programs have none
    pub(crate) digest: Option<RowDigest>,
}

/// A statement that wrote.
#[derive(Debug)]
pub(crate) struct LoggedWrite<'e> {
    pub(crate) sql: &'e str,
    pub(crate) values: Vec<ValueRef<'e>>,
    /// Rows that it changed where it was first run
    pub(crate) changed: u64,
}

impl<'e> LogEntry<'e> {
    /// Reads an entry, which may be damaged or of a newer program.
    pub(crate) fn decode(bytes: &'e [u8]) -> Result<Self, StoreError> {
        let mut reader = ByteReader::of(bytes);
        let version = reader.byte()?;
        match version {
            VERSION_WITHOUT_DIGEST..=ENTRY_VERSION => {}
            0 => return Err(damaged("it has version 0")),
            found => return Err(StoreError::NewerLog { found, known: ENTRY_VERSION }),
        }
        let mut statements = Vec::new();
        for _ in 0..reader.count()? {
            statements.push(reader.text()?);
        }
        let mut writes = Vec::new();
        for _ in 0..reader.count()? {
            let sql = *statements
                .get(reader.count()?)
                .ok_or_else(|| damaged("it names a statement that it does not have"))?;
            let changed = reader.number()?;
            let mut values = Vec::new();
            for _ in 0..reader.count()? {
                values.push(reader.value()?);
            }
            writes.push(LoggedWrite { sql, values, changed });
        }
        let (audit, head, event) = (reader.position()?, reader.take(64)?, reader.position()?);
        let digest = match version {
            VERSION_WITHOUT_DIGEST => None,
            _ => Some(RowDigest::from_bytes(reader.array()?)),
        };
        if !reader.is_empty() {
            return Err(damaged("something follows it"));
        }
        Ok(Self { writes, audit, head, event, digest })
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::params;

    use super::*;
    use crate::core::ledger::write_log::WriteLog;

    fn sample() -> WriteLog {
        let mut log = WriteLog::default();
        log.note("INSERT INTO t VALUES ($1, $2)", params!["text", 7], 1).unwrap();
        log.note("DELETE FROM t", &[], 2).unwrap();
        log
    }

    #[test]
    fn an_entry_is_read_as_it_was_written() {
        let mut log = sample();
        log.note("INSERT INTO t VALUES ($1, $2)", params![None::<i64>, 0.5], 1).unwrap();
        let bytes = log.entry(12, &[b'a'; 64], 34);
        let entry = LogEntry::decode(&bytes).unwrap();
        let statements: Vec<_> = entry.writes.iter().map(|write| write.sql).collect();
        let insert = "INSERT INTO t VALUES ($1, $2)";
        assert_eq!(statements, [insert, "DELETE FROM t", insert]);
        assert_eq!(entry.writes[0].values, [ValueRef::Text(b"text"), ValueRef::Integer(7)]);
        assert_eq!(entry.writes[2].values, [ValueRef::Null, ValueRef::Real(0.5)]);
        assert_eq!(entry.writes.iter().map(|write| write.changed).collect::<Vec<_>>(), [1, 2, 1]);
        assert_eq!((entry.audit, entry.head, entry.event), (12, &[b'a'; 64][..], 34));
        let text = String::from_utf8_lossy(&bytes);
        assert_eq!(text.matches(insert).count(), 1, "a text stands once");
    }

    #[test]
    fn what_was_rolled_back_leaves_no_note() {
        let mut log = sample();
        let before = log.entry(1, &[b'a'; 64], 1);
        let mark = log.mark();
        log.note("DELETE FROM t", &[], 0).unwrap();
        log.note("UPDATE t SET a = $1", params!["b"], 3).unwrap();
        log.rewind(mark);
        assert_eq!(log.entry(1, &[b'a'; 64], 1), before);
        log.note("UPDATE t SET a = $1", params!["b"], 3).unwrap();
        let bytes = log.entry(1, &[b'a'; 64], 1);
        assert_eq!(LogEntry::decode(&bytes).unwrap().writes[2].sql, "UPDATE t SET a = $1");
    }

    #[test]
    fn what_is_damaged_is_refused() {
        let whole = sample().entry(1, &[b'a'; 64], 1);
        for length in 0..whole.len() {
            LogEntry::decode(&whole[..length]).unwrap_err();
        }
        let mut longer = whole.clone();
        longer.push(0);
        LogEntry::decode(&longer).unwrap_err();
        let mut newer = whole;
        newer[0] = ENTRY_VERSION + 1;
        let error = LogEntry::decode(&newer).unwrap_err();
        assert!(
            error.to_string().contains("version 3, this Adjutant knows only up to 2"),
            "{error}"
        );
        assert!(!error.is_damage(), "the file is not the cause: {error:?}");
        newer[0] = 0;
        assert!(LogEntry::decode(&newer).unwrap_err().is_damage());
    }

    #[test]
    fn an_entry_of_an_older_program_is_read_without_a_digest() {
        let newer = sample().entry(12, &[b'a'; 64], 34);
        assert_eq!(LogEntry::decode(&newer).unwrap().digest, Some(RowDigest::default()));
        let mut older = newer[..newer.len() - RowDigest::BYTES].to_vec();
        older[0] = VERSION_WITHOUT_DIGEST;
        let entry = LogEntry::decode(&older).unwrap();
        assert_eq!((entry.audit, entry.event, entry.digest), (12, 34, None));
        older.push(0);
        LogEntry::decode(&older).unwrap_err();
    }
}
