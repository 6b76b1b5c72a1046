//! Hosts that serve many homes of one PostgreSQL, and which of them is to own which home.
//!
//! A placement says which host is to own a home, and never who owns it: that is the lease's word alone. So whatever is
//! decided here on an old view costs a move, and nothing else. Every change is one statement that holds only while the
//! row is what the host believed.

use std::time::Duration;

use model::placement::{HostNote, HostRow, PlacedHome, PlacementChange};
use tokio_postgres::types::Type;

use crate::core::error::StoreError;
use crate::core::ledger::client::{LedgerClient, TABLES_LOCK};
use crate::core::ledger::link::get;

const TABLES: &str = "CREATE TABLE IF NOT EXISTS adjutant.server (
    id      TEXT PRIMARY KEY,
    url     TEXT NOT NULL,
    version TEXT NOT NULL,
    -- By this database's clock.
    seen_at TIMESTAMPTZ NOT NULL,
    -- It ends, and takes no further home.
    leaving BOOLEAN NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE IF NOT EXISTS adjutant.placement (
    home   TEXT PRIMARY KEY REFERENCES adjutant.home (id) ON DELETE CASCADE,
    -- The host that is to own the home.
    server TEXT NOT NULL,
    -- The host that prepares to take it over, and whether it has the whole log.
    next   TEXT,
    ready  BOOLEAN NOT NULL DEFAULT FALSE
) WITH (fillfactor = 50);";

const NOTE_HOST: &str = "WITH before AS (
        SELECT EXTRACT(EPOCH FROM clock_timestamp() - seen_at) * 1000 AS age
          FROM adjutant.server WHERE id = $1)
    INSERT INTO adjutant.server (id, url, version, seen_at, leaving)
    VALUES ($1, $2, $3, clock_timestamp(), $4)
    ON CONFLICT (id) DO UPDATE
       SET url = $2, version = $3, seen_at = clock_timestamp(), leaving = $4
    RETURNING (SELECT age::BIGINT FROM before)";

/// Takes homes that no host is to own, or only one that is gone: as many as this host lacks of a fair share. Two hosts
/// that look at once begin with different homes; a row that the other has changed meanwhile is left to it.
const CLAIM_HOMES: &str = "WITH seen AS (
        SELECT id, leaving FROM adjutant.server
         WHERE seen_at > clock_timestamp() - $2 * INTERVAL '1 millisecond'),
    share AS (
        SELECT CEIL((SELECT COUNT(*) FROM adjutant.home)::NUMERIC
                    / GREATEST(1, (SELECT COUNT(*) FROM seen WHERE NOT leaving)))
               - (SELECT COUNT(*) FROM adjutant.placement WHERE server = $1) AS missing),
    free AS (
        SELECT home.id FROM adjutant.home LEFT JOIN adjutant.placement ON placement.home = home.id
         WHERE NOT EXISTS (SELECT 1 FROM seen WHERE seen.id = placement.server)
         ORDER BY md5(home.id || $1)
         LIMIT (SELECT GREATEST(0, missing)::BIGINT FROM share))
    INSERT INTO adjutant.placement (home, server) SELECT id, $1 FROM free
    ON CONFLICT (home) DO UPDATE SET server = $1, next = NULL, ready = FALSE
     WHERE NOT EXISTS (SELECT 1 FROM seen WHERE seen.id = placement.server)";

const SELECT_HOSTS: &str = "SELECT id, url, version, leaving,
        GREATEST(0, EXTRACT(EPOCH FROM clock_timestamp() - seen_at) * 1000)::BIGINT
     FROM adjutant.server ORDER BY id";

const SELECT_PLACED: &str = "SELECT home.id, home.name, home.epoch, home.owner_url,
        home.owner IS NOT NULL AND home.expires_at > clock_timestamp(),
        home.queued, home.running, placement.server, placement.next, COALESCE(placement.ready, FALSE)
     FROM adjutant.home LEFT JOIN adjutant.placement ON placement.home = home.id
    ORDER BY home.name";

impl LedgerClient {
    /// Makes the tables of hosts where there are none.
    pub fn make_host_tables(&mut self) -> Result<(), StoreError> {
        self.make_tables()?;
        if self.has_host_tables()? {
            return Ok(());
        }
        let script =
            format!("BEGIN; SELECT pg_advisory_xact_lock({TABLES_LOCK}); {TABLES} COMMIT;");
        self.run_script(&script)
    }

    /// True if a host has ever served homes of this PostgreSQL.
    pub fn has_host_tables(&mut self) -> Result<bool, StoreError> {
        let reply = self.ask("SELECT to_regclass('adjutant.placement') IS NOT NULL", &[])?;
        reply.rows.first().map_or(Ok(false), |row| get(row, 0))
    }

    /// Notes that a host is there, and returns for how long it had not said so; none for a host that is new.
    pub fn note_host(&mut self, note: &HostNote) -> Result<Option<Duration>, StoreError> {
        let HostNote { id, url, version, leaving } = note;
        let reply = self.ask(
            NOTE_HOST,
            &[(id, Type::TEXT), (url, Type::TEXT), (version, Type::TEXT), (leaving, Type::BOOL)],
        )?;
        let age: Option<i64> = reply.rows.first().map_or(Ok(None), |row| get(row, 0))?;
        Ok(age.map(millis))
    }

    /// Takes as many homes as a host lacks of a fair share, of those without a host that was heard of for that long.
    pub fn claim_homes(&mut self, host: &str, limit: Duration) -> Result<(), StoreError> {
        let limit = limit.as_secs_f64() * 1_000.0;
        self.ask(CLAIM_HOMES, &[(&host, Type::TEXT), (&limit, Type::FLOAT8)])?;
        Ok(())
    }

    /// Makes a change of a placement for a host; nothing happens where the row is another host's by now.
    pub fn change_placement(
        &mut self,
        host: &str,
        change: &PlacementChange,
    ) -> Result<(), StoreError> {
        let host = (&host as _, Type::TEXT);
        match change {
            PlacementChange::Offer { home, to } => self.ask(
                "UPDATE adjutant.placement SET next = $3, ready = FALSE
                  WHERE server = $1 AND home = $2 AND next IS NULL",
                &[host, (home, Type::TEXT), (to, Type::TEXT)],
            )?,
            PlacementChange::Withdraw { home } => self.ask(
                "UPDATE adjutant.placement SET next = NULL, ready = FALSE
                  WHERE server = $1 AND home = $2",
                &[host, (home, Type::TEXT)],
            )?,
            PlacementChange::Ready { home } => self.ask(
                "UPDATE adjutant.placement SET ready = TRUE WHERE next = $1 AND home = $2",
                &[host, (home, Type::TEXT)],
            )?,
            PlacementChange::Pass { home } => self.ask(
                "UPDATE adjutant.placement SET server = next, next = NULL, ready = FALSE
                  WHERE server = $1 AND home = $2 AND next IS NOT NULL AND ready",
                &[host, (home, Type::TEXT)],
            )?,
        };
        Ok(())
    }

    /// Removes a host and what it was to own: the others may take its homes.
    pub fn remove_host(&mut self, host: &str) -> Result<(), StoreError> {
        let host = [(&host as _, Type::TEXT)];
        self.ask("DELETE FROM adjutant.server WHERE id = $1", &host)?;
        self.ask("DELETE FROM adjutant.placement WHERE server = $1", &host)?;
        Ok(())
    }

    /// All hosts that were ever noted and not removed.
    pub fn hosts(&mut self) -> Result<Vec<HostRow>, StoreError> {
        let reply = self.ask(SELECT_HOSTS, &[])?;
        let read = |row| {
            let note = HostNote {
                id: get(row, 0)?,
                url: get(row, 1)?,
                version: get(row, 2)?,
                leaving: get(row, 3)?,
            };
            Ok(HostRow { note, age: millis(get(row, 4)?) })
        };
        reply.rows.iter().map(read).collect()
    }

    /// All homes by name, with their hosts.
    pub fn placed_homes(&mut self) -> Result<Vec<PlacedHome>, StoreError> {
        let reply = self.ask(SELECT_PLACED, &[])?;
        let read = |row| {
            let (is_owned, queued, running): (bool, i32, i32) =
                (get(row, 4)?, get(row, 5)?, get(row, 6)?);
            let owner_url: Option<String> = get(row, 3)?;
            Ok(PlacedHome {
                id: get(row, 0)?,
                name: get(row, 1)?,
                epoch: get(row, 2)?,
                owner_url: owner_url.filter(|_| is_owned),
                is_busy: queued > 0 || running > 0,
                host: get(row, 7)?,
                next: get(row, 8)?,
                is_ready: get(row, 9)?,
            })
        };
        reply.rows.iter().map(read).collect()
    }
}

fn millis(count: i64) -> Duration {
    Duration::from_millis(count.max(0).unsigned_abs())
}
