//! Webhooks: their cursors and their state.

use model::Timestamp;
use rusqlite::{Row, params};

use crate::core::error::StoreError;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// Endpoint that receives events, as the record has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    /// Its name in the configuration
    pub name: String,
    /// Every event up to this number has been looked at
    pub seen: i64,
    /// Since when it is told
    pub created_at: Timestamp,
    /// When a message was last taken
    pub last_ok_at: Option<Timestamp>,
    /// When a message last was not
    pub last_failed_at: Option<Timestamp>,
    /// HTTP status of the last attempt
    pub last_status: Option<u32>,
    /// Error of the last attempt
    pub last_error: Option<String>,
    /// Since when nothing is sent to it
    pub disabled_at: Option<Timestamp>,
    /// Why
    pub disabled_why: Option<String>,
    /// Hash of the address that this is about
    pub disabled_for: Option<String>,
    /// Since when the configuration does not name it
    pub gone_at: Option<Timestamp>,
}

/// Outcome of an attempt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeliveryAttempt {
    /// The status that it was answered with
    pub status: Option<u16>,
    /// Error, if it failed
    pub error: Option<String>,
}

const COLUMNS: &str = "name, seen, created_at, last_ok_at, last_failed_at, last_status, last_error, \
     disabled_at, disabled_why, disabled_for, gone_at";

fn read(row: &Row<'_>) -> Result<Webhook, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(Webhook {
        name: cells.get()?,
        seen: cells.get()?,
        created_at: cells.time()?,
        last_ok_at: cells.time_opt()?,
        last_failed_at: cells.time_opt()?,
        last_status: cells.get()?,
        last_error: cells.get()?,
        disabled_at: cells.time_opt()?,
        disabled_why: cells.get()?,
        disabled_for: cells.get()?,
        gone_at: cells.time_opt()?,
    })
}

impl Tx<'_> {
    /// Every webhook that was ever configured and is not deleted. Their number is that of the configuration.
    pub fn webhooks(&self) -> Result<Vec<Webhook>, StoreError> {
        self.all(&format!("SELECT {COLUMNS} FROM webhook ORDER BY name"), [], read)
    }

    /// The webhook of that name.
    pub fn webhook_get(&self, name: &str) -> Result<Option<Webhook>, StoreError> {
        self.one(&format!("SELECT {COLUMNS} FROM webhook WHERE name = $1"), params![name], read)
    }

    /// Sends an endpoint the events from now on: a new one, or one that the configuration names again.
    pub fn webhook_begin(&mut self, name: &str, now: Timestamp) -> Result<(), StoreError> {
        let seen = self.last_event()?;
        self.execute(
            "INSERT INTO webhook (name, seen, created_at) VALUES ($1, $2, $3)
             ON CONFLICT (name) DO UPDATE SET seen = excluded.seen, created_at = excluded.created_at,
                gone_at = NULL",
            params![name, seen, now.as_millis()],
        )?;
        Ok(())
    }

    /// Leaves out everything that has happened until now.
    pub fn webhook_skip(&mut self, name: &str) -> Result<(), StoreError> {
        let seen = self.last_event()?;
        self.webhook_seen(name, seen)
    }

    /// The number of the last event, also of one that shares this commit.
    fn last_event(&self) -> Result<i64, StoreError> {
        self.number("SELECT COALESCE(MAX(number), 0) FROM event", [])
    }

    /// Notes how far the events have been looked at.
    pub fn webhook_seen(&mut self, name: &str, seen: i64) -> Result<(), StoreError> {
        self.execute("UPDATE webhook SET seen = $2 WHERE name = $1", params![name, seen])?;
        Ok(())
    }

    /// Notes that the configuration does not name it any more.
    pub fn webhook_gone(&mut self, name: &str, now: Timestamp) -> Result<(), StoreError> {
        self.execute(
            "UPDATE webhook SET gone_at = $2 WHERE name = $1 AND gone_at IS NULL",
            params![name, now.as_millis()],
        )?;
        Ok(())
    }

    /// Forgets a webhook and its messages.
    pub fn webhook_forget(&mut self, name: &str) -> Result<(), StoreError> {
        self.execute("DELETE FROM delivery WHERE webhook = $1", params![name])?;
        self.execute("DELETE FROM webhook WHERE name = $1", params![name])?;
        Ok(())
    }

    /// Notes that nothing is sent to it, why, and the hash of the address that this is about. False if it was so.
    pub fn webhook_disable(
        &mut self,
        name: &str,
        why: &str,
        about: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let changed = self.execute(
            "UPDATE webhook SET disabled_at = $2, disabled_why = $3, disabled_for = $4
             WHERE name = $1 AND disabled_at IS NULL",
            params![name, now.as_millis(), why, about],
        )?;
        Ok(changed > 0)
    }

    /// Notes that it is sent messages again. False if it was so.
    pub fn webhook_enable(&mut self, name: &str, now: Timestamp) -> Result<bool, StoreError> {
        // How long nothing was taken is counted anew.
        let changed = self.execute(
            "UPDATE webhook SET disabled_at = NULL, disabled_why = NULL, disabled_for = NULL,
                created_at = $2
             WHERE name = $1 AND disabled_at IS NOT NULL",
            params![name, now.as_millis()],
        )?;
        Ok(changed > 0)
    }

    /// Notes what came of the last try.
    pub fn webhook_attempted(
        &mut self,
        name: &str,
        tried: &DeliveryAttempt,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let is_ok = tried.error.is_none();
        self.execute(
            "UPDATE webhook SET last_status = $2, last_error = $3,
                last_ok_at = COALESCE($4, last_ok_at), last_failed_at = COALESCE($5, last_failed_at)
             WHERE name = $1",
            params![
                name,
                tried.status,
                tried.error,
                is_ok.then(|| now.as_millis()),
                (!is_ok).then(|| now.as_millis())
            ],
        )?;
        Ok(())
    }
}
