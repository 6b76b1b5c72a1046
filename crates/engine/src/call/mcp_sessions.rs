//! MCP sessions and their subscriptions in the record, so that they outlive the server.

use model::Timestamp;
use serde::de::DeserializeOwned;
use store::McpSession;

use crate::call::identity::Principal;
use crate::call::service::Calls;
use crate::core::durable;
use crate::core::error::ToolError;

/// Decodes the owner of a session.
fn decode_owner(text: &str, id: &str) -> Result<Principal, ToolError> {
    if text == Principal::Operator.to_string() {
        return Ok(Principal::Operator);
    }
    let agent = text.parse().map_err(|error| durable::damaged(row_of(id), "owner", error));
    Ok(Principal::Agent(agent.map_err(renewable)?))
}

fn row_of(id: &str) -> String {
    format!("MCP session `{id}`")
}

/// Adds that a client need not wait until the row is repaired.
fn renewable(error: ToolError) -> ToolError {
    error.hint("initialize a new session")
}

impl Calls {
    fn session(&self, id: &str) -> Result<Option<McpSession>, ToolError> {
        self.store.read(|tx| Ok(tx.mcp_session_get(id)?))
    }

    /// Owner of an MCP session; `None` where the session does not exist.
    pub fn mcp_session_owner(&self, id: &str) -> Result<Option<Principal>, ToolError> {
        self.session(id)?.map(|session| decode_owner(&session.principal, id)).transpose()
    }

    /// Opening words of an MCP session, decoded.
    pub fn mcp_session_opening<T: DeserializeOwned>(
        &self,
        id: &str,
    ) -> Result<Option<T>, ToolError> {
        let decode = |session: McpSession| {
            durable::decode(&session.opening, row_of(id), "opening").map_err(renewable)
        };
        self.session(id)?.map(decode).transpose()
    }

    /// Every MCP session with its owner, the one opened first first. One whose owner cannot be read is logged and left
    /// out, so that it does not keep the others from their clients; its own client gets the error.
    pub fn mcp_sessions(&self) -> Result<Vec<(String, Principal)>, ToolError> {
        let all = self.store.read(|tx| tx.mcp_session_owners().map_err(ToolError::from))?;
        let mut sessions = Vec::new();
        for (id, owner) in all {
            match decode_owner(&owner, &id) {
                Ok(owner) => sessions.push((id, owner)),
                Err(error) => {
                    tracing::error!(%error, "skipped an MCP session of an earlier server");
                }
            }
        }
        Ok(sessions)
    }

    /// Records an MCP session with its opening words.
    pub async fn mcp_session_save(
        &self,
        id: &str,
        owner: Principal,
        opening: String,
    ) -> Result<(), ToolError> {
        let session = McpSession { id: id.to_owned(), principal: owner.to_string(), opening };
        let now = self.now();
        self.store.write(move |tx| Ok(tx.mcp_session_put(&session, now)?)).await
    }

    /// Deletes MCP sessions with their subscriptions.
    pub async fn mcp_sessions_delete(&self, ids: Vec<String>) -> Result<(), ToolError> {
        let delete = move |tx: &mut store::Tx<'_>| {
            ids.iter().try_for_each(|id| tx.mcp_session_delete(id)).map_err(ToolError::from)
        };
        self.store.write(delete).await
    }

    /// Deletes the MCP sessions that were opened before a time.
    pub async fn mcp_sessions_prune(&self, before: Timestamp) -> Result<(), ToolError> {
        self.store.write(move |tx| Ok(tx.mcp_session_prune(before)?)).await
    }

    /// MCP sessions that were opened before a time, oldest first.
    pub fn mcp_sessions_outdated(
        &self,
        before: Timestamp,
        limit: u32,
    ) -> Result<Vec<String>, ToolError> {
        self.store.read(|tx| Ok(tx.mcp_session_outdated(before, limit)?))
    }

    /// Resources that an MCP session is subscribed to.
    pub fn mcp_subscriptions(&self, session: &str) -> Result<Vec<String>, ToolError> {
        self.store.read(|tx| Ok(tx.mcp_subscriptions(session)?))
    }

    /// Records that an MCP session subscribes to a resource.
    pub async fn mcp_subscribe(&self, session: String, uri: String) -> Result<(), ToolError> {
        self.store.write(move |tx| Ok(tx.mcp_subscribe(&session, &uri)?)).await
    }

    /// Records that an MCP session no longer subscribes to a resource.
    pub async fn mcp_unsubscribe(&self, session: String, uri: String) -> Result<(), ToolError> {
        self.store.write(move |tx| Ok(tx.mcp_unsubscribe(&session, &uri)?)).await
    }
}
