//! Sessions of the older era: whose they are, kept in the record so that they outlive the server.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use engine::store::{McpSession, StoreError};
use engine::{Engine, Principal, ToolError};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{
    SessionManager as _, SessionState, SessionStore, SessionStoreError,
};

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::server::Shared;

/// Longer than any call waits. A session that was idle for longer leaves the memory, and comes back
/// from the record when its client does.
const KEEP_ALIVE: Duration = Duration::from_secs(4 * 60 * 60);
/// Beyond so many owners, those whose sessions are not in memory are left to the record.
const REMEMBERED: usize = 10_000;
/// A session that was opened so long ago is forgotten when a server starts; its client opens another.
const OUTDATED: i64 = 30 * 24 * 60 * 60;

tokio::task_local! {
    /// Who asks, while `rmcp` handles the request: it tells nobody whom a new session belongs to.
    pub(crate) static OPENER: Principal;
}

/// Who owns which session.
pub(crate) struct Sessions {
    engine: Engine,
    manager: Arc<LocalSessionManager>,
    owners: RwLock<HashMap<String, Owned>>,
    /// One at a time brings a session back
    restoring: Semaphore,
}

/// What is known of a session.
struct Owned {
    by: Principal,
    standing: Standing,
}

/// Whether a request has come through since the session came into memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Settled,
    Unsettled,
}

/// A request that may bring a session back, alone.
pub(crate) struct Settling<'a> {
    sessions: &'a Sessions,
    id: String,
    _alone: Option<SemaphorePermit<'a>>,
}

impl Settling<'_> {
    /// Notes that the session is there, so that others need not wait for each other.
    pub(crate) fn done(self) {
        self.sessions.note(&self.id, Standing::Settled);
    }
}

impl Sessions {
    pub(crate) fn new(engine: Engine) -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(KEEP_ALIVE);
        let (manager, restoring) = (Arc::new(manager), Semaphore::new(1));
        Self { engine, manager, owners: RwLock::default(), restoring }
    }

    /// Forgets what nobody comes back to.
    pub(crate) async fn prune(&self) {
        let before = self.engine.now().after_seconds(-OUTDATED);
        let pruned = self.engine.store().write(move |tx| tx.mcp_session_prune(before)).await;
        if let Err(error) = pruned {
            let error: StoreError = error;
            tracing::warn!(%error, "old sessions were not forgotten");
        }
    }

    pub(crate) fn manager(&self) -> Arc<LocalSessionManager> {
        Arc::clone(&self.manager)
    }

    /// Whose session this is, if there is one.
    pub(crate) fn owner(&self, id: &str) -> Result<Option<Principal>, ToolError> {
        let owners = self.owners.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = owners.get(id) {
            return Ok(Some(known.by));
        }
        drop(owners);
        let session = self.engine.store().read(|tx| tx.mcp_session_get(id))?;
        let owner = session.and_then(|session| principal(&session.principal));
        if let Some(owner) = owner {
            self.remember(id, owner);
        }
        Ok(owner)
    }

    fn remember(&self, id: &str, owner: Principal) {
        let mut owners = self.owners.write().unwrap_or_else(PoisonError::into_inner);
        if owners.len() >= REMEMBERED
            && let Ok(live) = self.manager.sessions.try_read()
        {
            // Those in memory stay, so that they can be ended with their owner.
            owners.retain(|id, _| live.contains_key(id.as_str()));
        }
        owners.insert(id.to_owned(), Owned { by: owner, standing: Standing::Unsettled });
    }

    /// Lets a request of a session pass; alone, if it may have to bring the session back.
    ///
    /// `rmcp` shows a session that comes back from the record before it has heard its opening words,
    /// and whoever is quicker than those ends it.
    pub(crate) async fn settle(&self, id: &str) -> Option<Settling<'_>> {
        if self.is_settled(id).await {
            return None;
        }
        let alone = self.restoring.acquire().await.ok();
        if self.is_settled(id).await {
            return None;
        }
        self.note(id, Standing::Unsettled);
        Some(Settling { sessions: self, id: id.to_owned(), _alone: alone })
    }

    async fn is_settled(&self, id: &str) -> bool {
        // In this order: what is being brought back is in memory first and settled last.
        let live = self.manager.sessions.read().await.contains_key(id);
        let owners = self.owners.read().unwrap_or_else(PoisonError::into_inner);
        live && owners.get(id).is_some_and(|session| session.standing == Standing::Settled)
    }

    fn note(&self, id: &str, standing: Standing) {
        let mut owners = self.owners.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = owners.get_mut(id) {
            session.standing = standing;
        }
    }

    fn forget(&self, id: &str) {
        self.owners.write().unwrap_or_else(PoisonError::into_inner).remove(id);
    }

    /// Ends the sessions of somebody whose token is void.
    pub(crate) async fn end_of(&self, owner: Principal) {
        let ended: Vec<String> = {
            let mut owners = self.owners.write().unwrap_or_else(PoisonError::into_inner);
            owners.extract_if(|_, session| session.by == owner).map(|(id, _)| id).collect()
        };
        for id in ended {
            if let Err(error) = self.manager.close_session(&id.as_str().into()).await {
                tracing::warn!(%error, "a session did not close");
            }
        }
    }
}

/// Reads a principal as the record has it.
fn principal(text: &str) -> Option<Principal> {
    if text == Principal::Operator.to_string() {
        return Some(Principal::Operator);
    }
    text.parse().ok().map(Principal::Agent)
}

/// The record, as `rmcp` keeps sessions in it.
pub(crate) struct SessionRecord(pub(crate) Arc<Shared>);

#[async_trait]
impl SessionStore for SessionRecord {
    async fn load(&self, id: &str) -> Result<Option<SessionState>, SessionStoreError> {
        let session = self.0.app.engine.store().read(|tx| tx.mcp_session_get(id))?;
        Ok(session.map(|session| serde_json::from_str(&session.opening)).transpose()?)
    }

    async fn store(&self, id: &str, state: &SessionState) -> Result<(), SessionStoreError> {
        let owner = OPENER.try_with(|owner| *owner)?;
        let session = McpSession {
            id: id.to_owned(),
            principal: owner.to_string(),
            opening: serde_json::to_string(state)?,
        };
        let engine = &self.0.app.engine;
        let now = engine.now();
        engine.store().write(move |tx| tx.mcp_session_put(&session, now)).await?;
        self.0.sessions.remember(id, owner);
        Ok(())
    }

    async fn delete(&self, id: &str) -> Result<(), SessionStoreError> {
        self.0.sessions.forget(id);
        self.0.subscriptions.end_session(id);
        let id = id.to_owned();
        let store = self.0.app.engine.store();
        store
            .write(move |tx| tx.mcp_session_delete(&id))
            .await
            .map_err(|error: StoreError| error.into())
    }
}
