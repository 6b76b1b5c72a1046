//! Sessions and their iterations.

use model::Timestamp;
use rusqlite::params;

use crate::error::StoreError;
use crate::row::Cells;
use crate::tx::Tx;

/// A named run of the loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its name
    pub name: String,
    /// Which iteration it is in
    pub iteration: u32,
    /// When it was declared done
    pub completed_at: Option<Timestamp>,
}

/// One round of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Iteration {
    /// Its number
    pub number: u32,
    /// When it began
    pub started_at: Timestamp,
    /// What came of it
    pub summary: Option<String>,
}

impl Tx<'_> {
    /// The session of that name, if it has been used.
    pub fn session_get(&self, name: &str) -> Result<Option<Session>, StoreError> {
        let sql = "SELECT name, iteration, completed_at FROM session WHERE name = $1";
        self.one(sql, params![name], |row| {
            let mut cells = Cells::of(row);
            Ok(Session {
                name: cells.get()?,
                iteration: cells.count()?,
                completed_at: cells.time_opt()?,
            })
        })
    }

    /// Makes a session if it is not there yet.
    pub fn session_ensure(&mut self, name: &str, now: Timestamp) -> Result<Session, StoreError> {
        self.execute(
            "INSERT INTO session (name, iteration, created_at) VALUES ($1, 0, $2)
             ON CONFLICT (name) DO NOTHING",
            params![name, now.as_millis()],
        )?;
        self.session_get(name)?
            .ok_or_else(|| StoreError::Corrupt(format!("session `{name}` is gone")))
    }

    /// Declares a session done.
    pub fn session_complete(&mut self, name: &str, now: Timestamp) -> Result<(), StoreError> {
        self.execute(
            "UPDATE session SET completed_at = COALESCE(completed_at, $2) WHERE name = $1",
            params![name, now.as_millis()],
        )?;
        Ok(())
    }

    /// Opens a completed session again, because there is new work in it.
    pub fn session_reopen(&mut self, name: &str) -> Result<(), StoreError> {
        self.execute("UPDATE session SET completed_at = NULL WHERE name = $1", params![name])?;
        Ok(())
    }

    /// Sums up an iteration; the last word counts.
    pub fn iteration_summarise(
        &mut self,
        session: &str,
        number: u32,
        summary: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO iteration (session, number, started_at, ended_at, summary)
             VALUES ($1, $2, $3, $3, $4)
             ON CONFLICT (session, number)
             DO UPDATE SET summary = excluded.summary, ended_at = excluded.ended_at",
            params![session, number, now.as_millis(), summary],
        )?;
        Ok(())
    }

    /// The iterations of a session, in order.
    pub fn iteration_list(&self, session: &str) -> Result<Vec<Iteration>, StoreError> {
        self.all(
            "SELECT number, started_at, summary FROM iteration WHERE session = $1 ORDER BY number",
            params![session],
            |row| {
                let mut cells = Cells::of(row);
                Ok(Iteration {
                    number: cells.count()?,
                    started_at: cells.time()?,
                    summary: cells.get()?,
                })
            },
        )
    }
}
