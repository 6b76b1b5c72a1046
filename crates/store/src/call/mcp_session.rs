//! Sessions of the older protocol era, which outlive the server.

use model::Timestamp;
use rusqlite::params;

use crate::core::error::StoreError;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// A session of the older protocol era.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpSession {
    /// Its id
    pub id: String,
    /// Owner: an agent's id, or `operator`
    pub principal: String,
    /// The client's opening words, as JSON
    pub opening: String,
}

impl Tx<'_> {
    /// Keeps a session.
    pub fn mcp_session_put(
        &mut self,
        session: &McpSession,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO mcp_session (id, principal, opening, created_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (id) DO UPDATE SET opening = excluded.opening",
            params![session.id, session.principal, session.opening, now.as_millis()],
        )?;
        Ok(())
    }

    /// The session of that id.
    pub fn mcp_session_get(&self, id: &str) -> Result<Option<McpSession>, StoreError> {
        self.one(
            "SELECT id, principal, opening FROM mcp_session WHERE id = $1",
            params![id],
            |row| {
                let mut cells = RowReader::of(row);
                Ok(McpSession { id: cells.get()?, principal: cells.get()?, opening: cells.get()? })
            },
        )
    }

    /// Forgets a session and what it listened to.
    pub fn mcp_session_delete(&mut self, id: &str) -> Result<(), StoreError> {
        self.execute("DELETE FROM mcp_subscription WHERE session_id = $1", params![id])?;
        self.execute("DELETE FROM mcp_session WHERE id = $1", params![id])?;
        Ok(())
    }

    /// Deletes every session of a principal whose token is void.
    pub fn mcp_session_delete_of(&mut self, principal: &str) -> Result<(), StoreError> {
        self.execute(
            "DELETE FROM mcp_subscription WHERE session_id IN
             (SELECT id FROM mcp_session WHERE principal = $1)",
            params![principal],
        )?;
        self.execute("DELETE FROM mcp_session WHERE principal = $1", params![principal])?;
        Ok(())
    }

    /// Forgets every session that was opened before a time.
    pub fn mcp_session_prune(&mut self, before: Timestamp) -> Result<(), StoreError> {
        self.execute(
            "DELETE FROM mcp_subscription WHERE session_id IN
             (SELECT id FROM mcp_session WHERE created_at < $1)",
            params![before.as_millis()],
        )?;
        self.execute("DELETE FROM mcp_session WHERE created_at < $1", params![before.as_millis()])?;
        Ok(())
    }

    /// The ids of every session and whose each is, the one opened first coming first.
    pub fn mcp_session_owners(&self) -> Result<Vec<(String, String)>, StoreError> {
        self.all("SELECT id, principal FROM mcp_session ORDER BY created_at, id", [], |row| {
            let mut cells = RowReader::of(row);
            Ok((cells.get()?, cells.get()?))
        })
    }

    /// The ids of sessions that were opened before a time.
    pub fn mcp_session_outdated(
        &self,
        before: Timestamp,
        limit: u32,
    ) -> Result<Vec<String>, StoreError> {
        self.all(
            "SELECT id FROM mcp_session WHERE created_at < $1 ORDER BY created_at LIMIT $2",
            params![before.as_millis(), limit],
            |row| RowReader::of(row).get(),
        )
    }

    /// Notes that a session listens to a resource.
    pub fn mcp_subscribe(&mut self, session: &str, uri: &str) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO mcp_subscription (session_id, uri) VALUES ($1, $2)
             ON CONFLICT (session_id, uri) DO NOTHING",
            params![session, uri],
        )?;
        Ok(())
    }

    /// Notes that a session listens to a resource no more.
    pub fn mcp_unsubscribe(&mut self, session: &str, uri: &str) -> Result<(), StoreError> {
        self.execute(
            "DELETE FROM mcp_subscription WHERE session_id = $1 AND uri = $2",
            params![session, uri],
        )?;
        Ok(())
    }

    /// Lists the subscriptions of a session.
    pub fn mcp_subscriptions(&self, session: &str) -> Result<Vec<String>, StoreError> {
        self.all(
            "SELECT uri FROM mcp_subscription WHERE session_id = $1 ORDER BY uri",
            params![session],
            |row| RowReader::of(row).get(),
        )
    }
}
