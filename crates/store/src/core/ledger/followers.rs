//! Servers that follow a home, as each of them says: for people who ask how far behind they are. Nothing is decided by it.

use std::time::Duration;

use tokio_postgres::types::Type;

use crate::core::error::StoreError;
use crate::core::ledger::client::LedgerClient;
use crate::core::ledger::link::get;

const TABLE: &str = "CREATE TABLE IF NOT EXISTS adjutant.follower (
    home    TEXT NOT NULL,
    -- The machine of the server, which stays the same after a restart.
    machine TEXT NOT NULL,
    url     TEXT NOT NULL,
    version TEXT NOT NULL,
    -- The last commit of its file, and how much it lacked at that moment.
    seq     BIGINT NOT NULL,
    missing BIGINT NOT NULL,
    late_ms BIGINT NOT NULL,
    seen_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (home, machine)
) WITH (fillfactor = 50)";

/// Time since the oldest commit that is missing after entry `$seq`, in milliseconds.
macro_rules! late_ms {
    ($home:literal, $seq:literal) => {
        concat!(
            "COALESCE((SELECT GREATEST(0, EXTRACT(EPOCH FROM clock_timestamp() - log.at) * 1000)::BIGINT",
            " FROM adjutant.log WHERE log.home = ",
            $home,
            " AND log.seq = ",
            $seq,
            " + 1), 0)"
        )
    };
}

const NOTE: &str = concat!(
    "INSERT INTO adjutant.follower (home, machine, url, version, seq, missing, late_ms, seen_at)
     SELECT home.id, $2, $3, $4, $5, GREATEST(0, home.seq - $5), ",
    late_ms!("home.id", "$5"),
    ", clock_timestamp() FROM adjutant.home WHERE home.id = $1
     ON CONFLICT (home, machine) DO UPDATE SET url = excluded.url, version = excluded.version,
        seq = excluded.seq, missing = excluded.missing, late_ms = excluded.late_ms,
        seen_at = excluded.seen_at"
);

/// One that was not heard of for long lacks what has come since; one that is silent for an hour is gone.
const LIST: &str = concat!(
    "SELECT machine, url, version,
        CASE WHEN is_fresh THEN missing ELSE GREATEST(0, last - seq) END,
        CASE WHEN is_fresh THEN late_ms ELSE now_late_ms END, age
     FROM (SELECT follower.*, home.seq AS last,
            seen_at > clock_timestamp() - INTERVAL '15 seconds' AS is_fresh, ",
    late_ms!("home.id", "follower.seq"),
    " AS now_late_ms,
            GREATEST(0, EXTRACT(EPOCH FROM clock_timestamp() - seen_at) * 1000)::BIGINT AS age
           FROM adjutant.follower JOIN adjutant.home ON home.id = follower.home
          WHERE follower.home = $1 AND seen_at > clock_timestamp() - INTERVAL '1 hour') AS known
    ORDER BY url, machine"
);

/// Note of a follower about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowerNote {
    /// Id of its machine
    pub machine: String,
    /// Address under which other servers reach it
    pub url: String,
    /// Version of the program
    pub version: String,
    /// The last commit of its file
    pub seq: i64,
}

/// A server that follows, as the others see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowerRow {
    /// Id of its machine
    pub machine: String,
    /// Address under which other servers reach it
    pub url: String,
    /// Version of the program
    pub version: String,
    /// Commits that its file lacks
    pub missing: i64,
    /// Time since the oldest of them
    pub late: Duration,
    /// Time since it was heard of
    pub age: Duration,
}

impl LedgerClient {
    fn has_follower_table(&mut self) -> Result<bool, StoreError> {
        let reply = self.ask("SELECT to_regclass('adjutant.follower') IS NOT NULL", &[])?;
        reply.rows.first().map_or(Ok(false), |row| get(row, 0))
    }

    /// Makes the table of followers where there is none, and removes those that are long gone.
    pub fn make_follower_table(&mut self) -> Result<(), StoreError> {
        if !self.has_follower_table()? {
            self.ask(TABLE, &[])?;
        }
        let old =
            "DELETE FROM adjutant.follower WHERE seen_at < clock_timestamp() - INTERVAL '1 day'";
        self.ask(old, &[])?;
        Ok(())
    }

    /// Notes that a server follows a home, and how far it is.
    pub fn note_follower(&mut self, home: &str, note: &FollowerNote) -> Result<(), StoreError> {
        let FollowerNote { machine, url, version, seq } = note;
        self.ask(
            NOTE,
            &[
                (&home, Type::TEXT),
                (machine, Type::TEXT),
                (url, Type::TEXT),
                (version, Type::TEXT),
                (seq, Type::INT8),
            ],
        )?;
        Ok(())
    }

    /// Notes that a server follows a home no longer.
    pub fn forget_follower(&mut self, home: &str, machine: &str) -> Result<(), StoreError> {
        let forget = "DELETE FROM adjutant.follower WHERE home = $1 AND machine = $2";
        self.ask(forget, &[(&home, Type::TEXT), (&machine, Type::TEXT)])?;
        Ok(())
    }

    /// The servers that follow a home.
    pub fn followers(&mut self, home: &str) -> Result<Vec<FollowerRow>, StoreError> {
        if !self.has_follower_table()? {
            return Ok(Vec::new());
        }
        let reply = self.ask(LIST, &[(&home, Type::TEXT)])?;
        let read = |row| {
            Ok(FollowerRow {
                machine: get(row, 0)?,
                url: get(row, 1)?,
                version: get(row, 2)?,
                missing: get(row, 3)?,
                late: millis(get(row, 4)?),
                age: millis(get(row, 5)?),
            })
        };
        reply.rows.iter().map(read).collect()
    }
}

fn millis(count: i64) -> Duration {
    Duration::from_millis(count.max(0).unsigned_abs())
}
