//! Files that agents have reserved, by patterns, each until a time.

use model::{AgentId, ReservationId, Timestamp};
use rusqlite::{Row, params};

use crate::core::error::StoreError;
use crate::core::page::Page;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// A reservation to be.
#[derive(Debug, Clone)]
pub struct NewReservation {
    /// Its id, if it is new
    pub id: ReservationId,
    /// Owner
    pub agent: AgentId,
    /// Pattern of reserved files
    pub pattern: String,
    /// Reason
    pub reason: Option<String>,
    /// Until when
    pub expires_at: Timestamp,
}

/// Files that an agent edits and others leave alone, for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    /// Its place among all reservations
    pub number: i64,
    /// Its id
    pub id: ReservationId,
    /// Owner
    pub agent: AgentId,
    /// In which role that agent works
    pub role: String,
    /// Pattern of reserved files
    pub pattern: String,
    /// Reason
    pub reason: Option<String>,
    /// Since when
    pub created_at: Timestamp,
    /// Until when
    pub expires_at: Timestamp,
}

const SELECT: &str = "SELECT reservation.number, reservation.id, reservation.agent_id, agent.role, \
     reservation.pattern, reservation.reason, reservation.created_at, reservation.expires_at \
     FROM reservation JOIN agent ON agent.id = reservation.agent_id";

fn read(row: &Row<'_>) -> Result<Reservation, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(Reservation {
        number: cells.get()?,
        id: cells.parse()?,
        agent: cells.parse()?,
        role: cells.get()?,
        pattern: cells.get()?,
        reason: cells.get()?,
        created_at: cells.time()?,
        expires_at: cells.time()?,
    })
}

impl Tx<'_> {
    /// Reserves files, or renews what the agent has under the same pattern: the reason then stays where
    /// none is given. Answers with the id that counts.
    pub fn reservation_put(
        &mut self,
        new: &NewReservation,
        now: Timestamp,
    ) -> Result<ReservationId, StoreError> {
        let agent = new.agent.to_string();
        let renewed = self.execute_returning(
            "UPDATE reservation SET expires_at = $3, reason = COALESCE($4, reason)
             WHERE agent_id = $1 AND pattern = $2 RETURNING id",
            params![agent, new.pattern, new.expires_at.as_millis(), new.reason],
            |row| RowReader::of(row).parse(),
        )?;
        if let Some(id) = renewed {
            return Ok(id);
        }
        self.execute(
            "INSERT INTO reservation (id, agent_id, pattern, reason, created_at, expires_at)
             VALUES ($1, $2, $3, $4, $5, $6)",
            params![
                new.id.to_string(),
                agent,
                new.pattern,
                new.reason,
                now.as_millis(),
                new.expires_at.as_millis()
            ],
        )?;
        Ok(new.id)
    }

    /// The reservation of that id.
    pub fn reservation_get(&self, id: ReservationId) -> Result<Option<Reservation>, StoreError> {
        self.one(&format!("{SELECT} WHERE reservation.id = $1"), params![id.to_string()], read)
    }

    /// Lists an agent's unreleased reservations in order, including expired ones that were not
    /// noticed yet.
    pub fn reservations_of(&self, agent: AgentId) -> Result<Vec<Reservation>, StoreError> {
        self.all(
            &format!("{SELECT} WHERE reservation.agent_id = $1 ORDER BY reservation.number"),
            params![agent.to_string()],
            read,
        )
    }

    /// A page of what holds at a time, in order.
    pub fn reservation_page(
        &self,
        now: Timestamp,
        after: i64,
        limit: u32,
    ) -> Result<Page<Reservation>, StoreError> {
        let rows = self.all(
            &format!(
                "{SELECT} WHERE reservation.number > $1 AND reservation.expires_at > $2
                 ORDER BY reservation.number LIMIT $3"
            ),
            params![after, now.as_millis(), i64::from(limit) + 1],
            read,
        )?;
        Ok(Page::cut(rows, limit, |reservation| reservation.number))
    }

    /// Forgets what has run out by then.
    pub fn reservations_sweep(&mut self, now: Timestamp) -> Result<usize, StoreError> {
        self.execute("DELETE FROM reservation WHERE expires_at <= $1", params![now.as_millis()])
    }

    /// Releases one; false if it is gone already.
    pub fn reservation_release(&mut self, id: ReservationId) -> Result<bool, StoreError> {
        let gone =
            self.execute("DELETE FROM reservation WHERE id = $1", params![id.to_string()])?;
        Ok(gone > 0)
    }

    /// Releases all that an agent has, and says how many that were.
    pub fn reservations_release_all(&mut self, agent: AgentId) -> Result<usize, StoreError> {
        self.execute("DELETE FROM reservation WHERE agent_id = $1", params![agent.to_string()])
    }
}
