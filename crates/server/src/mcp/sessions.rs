//! Sessions of older protocol versions: their owners, stored in the record so that they outlive the server.
//!
//! A principal has a bounded number of idle ones. A session that is to be closed is marked at once, under the
//! same lock under which requests enter, and closed a moment later by [`keep_house`].

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use async_trait::async_trait;
use engine::{Engine, Principal, ToolError};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{
    SessionManager as _, SessionState, SessionStore, SessionStoreError,
};
use tokio::sync::{Semaphore, SemaphorePermit, mpsc};
use tokio::time::{Instant, interval_at};

use crate::shared::Shared;

/// Longer than any call waits. A session that was idle for longer leaves the memory, and comes back
/// from the record when its client does.
const KEEP_ALIVE: Duration = Duration::from_secs(4 * 60 * 60);
/// Sessions that one principal may have without an open request. Beyond that the one that was idle for
/// longest is closed.
const MAX_IDLE_PER_PRINCIPAL: usize = 32;
/// A session that was opened so long ago, in seconds, and is not in use is forgotten.
const OUTDATED: i64 = 30 * 24 * 60 * 60;
/// Interval between two looks for outdated sessions.
const PRUNE_INTERVAL: Duration = Duration::from_secs(10 * 60);
/// Outdated sessions that are closed in one turn.
const PRUNE_BATCH: u32 = 1000;

tokio::task_local! {
    /// Principal of the request that `rmcp` handles, to assign new sessions.
    pub(crate) static OPENER: Principal;
}

/// Owners of sessions, and the sessions in use.
pub(crate) struct Sessions {
    engine: Engine,
    manager: Arc<LocalSessionManager>,
    registry: RwLock<Registry>,
    /// Takes the ids of sessions that are to be closed to [`keep_house`]
    closing: mpsc::UnboundedSender<String>,
    to_close: Mutex<Option<mpsc::UnboundedReceiver<String>>>,
    /// One at a time brings a session back
    restoring: Semaphore,
}

/// Every session that is known, by its id and by its owner.
#[derive(Default)]
struct Registry {
    sessions: HashMap<String, Owned>,
    of: HashMap<Principal, HashSet<String>>,
    /// Grows with each session that becomes idle, so that idleness has an order without a clock
    ticks: i64,
}

/// A session with its owner.
struct Owned {
    by: Principal,
    settle_state: SettleState,
    /// Requests and streams that are open
    open: usize,
    /// When it became idle, in ticks
    idle_since: i64,
    /// Set once it is to be closed: nobody gets in any more
    is_closing: bool,
}

/// Use of a session since it was loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SettleState {
    Settled,
    Unsettled,
}

impl Registry {
    fn insert(&mut self, id: &str, by: Principal, idle_since: i64) {
        if self.sessions.contains_key(id) {
            return;
        }
        let settle_state = SettleState::Unsettled;
        let owned = Owned { by, settle_state, open: 0, idle_since, is_closing: false };
        self.sessions.insert(id.to_owned(), owned);
        self.of.entry(by).or_default().insert(id.to_owned());
    }

    fn remove(&mut self, id: &str) {
        let Some(owned) = self.sessions.remove(id) else { return };
        if let Some(ids) = self.of.get_mut(&owned.by) {
            ids.remove(id);
            if ids.is_empty() {
                self.of.remove(&owned.by);
            }
        }
    }

    fn tick(&mut self) -> i64 {
        self.ticks = self.ticks.saturating_add(1);
        self.ticks
    }

    /// Marks the sessions of an owner that are idle beyond the limit, the longest idle first, and
    /// returns them. One with an open request is never among them.
    fn surplus(&mut self, owner: Principal) -> Vec<String> {
        let Some(ids) = self.of.get(&owner) else { return Vec::new() };
        let idle = ids.iter().filter_map(|id| {
            let session = self.sessions.get(id)?;
            (session.open == 0 && !session.is_closing).then_some((session.idle_since, id))
        });
        let mut idle: Vec<(i64, &String)> = idle.collect();
        let surplus = idle.len().saturating_sub(MAX_IDLE_PER_PRINCIPAL);
        if surplus == 0 {
            return Vec::new();
        }
        idle.sort_unstable();
        let ids: Vec<String> = idle.into_iter().take(surplus).map(|(_, id)| id.clone()).collect();
        for id in &ids {
            if let Some(session) = self.sessions.get_mut(id) {
                session.is_closing = true;
            }
        }
        ids
    }
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
        self.sessions.note(&self.id, SettleState::Settled);
    }
}

/// A request or a stream of a session; as long as it lives the session is not idle.
pub(crate) struct OpenRequest {
    shared: Arc<Shared>,
    pub(crate) id: String,
}

impl OpenRequest {
    /// Enters a session, if there is such a one and it is the caller's.
    pub(crate) fn enter(
        shared: &Arc<Shared>,
        id: &str,
        caller: Principal,
    ) -> Result<Option<Self>, ToolError> {
        let sessions = &shared.sessions;
        if sessions.owner(id)? != Some(caller) {
            return Ok(None);
        }
        let mut registry = sessions.write();
        let session = registry.sessions.get_mut(id).filter(|session| !session.is_closing);
        Ok(session.map(|session| {
            session.open += 1;
            Self { shared: Arc::clone(shared), id: id.to_owned() }
        }))
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        let sessions = &self.shared.sessions;
        let mut registry = sessions.write();
        let now = registry.tick();
        let Some(session) = registry.sessions.get_mut(&self.id) else { return };
        session.open = session.open.saturating_sub(1);
        if session.open == 0 {
            session.idle_since = now;
            let owner = session.by;
            sessions.close_later(registry.surplus(owner));
        }
    }
}

impl Sessions {
    pub(crate) fn new(engine: Engine) -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(KEEP_ALIVE);
        let (manager, restoring) = (Arc::new(manager), Semaphore::new(1));
        let (closing, to_close) = mpsc::unbounded_channel();
        let to_close = Mutex::new(Some(to_close));
        Self { engine, manager, registry: RwLock::default(), closing, to_close, restoring }
    }

    pub(crate) fn manager(&self) -> Arc<LocalSessionManager> {
        Arc::clone(&self.manager)
    }

    fn read(&self) -> RwLockReadGuard<'_, Registry> {
        self.registry.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Registry> {
        self.registry.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Owner of a session, if it exists.
    fn owner(&self, id: &str) -> Result<Option<Principal>, ToolError> {
        if let Some(known) = self.read().sessions.get(id) {
            return Ok((!known.is_closing).then_some(known.by));
        }
        let owner = self.engine.mcp_session_owner(id)?;
        if let Some(owner) = owner {
            self.remember(id, owner);
        }
        Ok(owner)
    }

    fn remember(&self, id: &str, owner: Principal) {
        let mut registry = self.write();
        let now = registry.tick();
        registry.insert(id, owner, now);
        self.close_later(registry.surplus(owner));
    }

    fn close_later(&self, ids: Vec<String>) {
        for id in ids {
            // Nobody is there to take it only when the server ends, and all sessions with it.
            drop(self.closing.send(id));
        }
    }

    /// Lets a request of a session pass; alone, if it may have to bring the session back.
    ///
    /// `rmcp` shows a session that comes back from the record before it has heard its opening words,
    /// and a request that is quicker than those ends it.
    pub(crate) async fn settle(&self, id: &str) -> Option<Settling<'_>> {
        if self.is_settled(id).await {
            return None;
        }
        let alone = self.restoring.acquire().await.ok();
        if self.is_settled(id).await {
            return None;
        }
        self.note(id, SettleState::Unsettled);
        Some(Settling { sessions: self, id: id.to_owned(), _alone: alone })
    }

    async fn is_settled(&self, id: &str) -> bool {
        // In this order: what is being brought back is in memory first and settled last.
        let live = self.manager.sessions.read().await.contains_key(id);
        let registry = self.read();
        let session = registry.sessions.get(id);
        live && session.is_some_and(|session| session.settle_state == SettleState::Settled)
    }

    fn note(&self, id: &str, settle_state: SettleState) {
        if let Some(session) = self.write().sessions.get_mut(id) {
            session.settle_state = settle_state;
        }
    }

    fn forget(&self, id: &str) {
        self.write().remove(id);
    }

    /// Ends the sessions of a principal whose token is void.
    pub(crate) async fn end_of(&self, owner: Principal) {
        let ended: Vec<String> = {
            let mut registry = self.write();
            let ids: Vec<String> = registry.of.get(&owner).into_iter().flatten().cloned().collect();
            for id in &ids {
                registry.remove(id);
            }
            ids
        };
        for id in ended {
            self.close_in_memory(&id).await;
        }
    }

    async fn close_in_memory(&self, id: &str) {
        if let Err(error) = self.manager.close_session(&id.into()).await {
            tracing::warn!(%error, "failed to close an MCP session");
        }
    }

    /// Learns of the sessions that an earlier server left in the record, as idle since they were opened.
    fn load(&self) -> Result<(), ToolError> {
        let stored = self.engine.mcp_sessions()?;
        let mut registry = self.write();
        let first = -i64::try_from(stored.len()).unwrap_or(i64::MAX);
        for (place, (id, by)) in (first..).zip(stored) {
            registry.insert(&id, by, place);
        }
        let owners: Vec<Principal> = registry.of.keys().copied().collect();
        for owner in owners {
            self.close_later(registry.surplus(owner));
        }
        Ok(())
    }

    /// Marks outdated sessions that are not in use, and returns them.
    async fn outdated(&self) -> Result<Vec<String>, ToolError> {
        let before = self.engine.now().after_seconds(-OUTDATED);
        let old = self.engine.mcp_sessions_outdated(before, PRUNE_BATCH)?;
        let live = self.manager.sessions.read().await;
        let mut registry = self.write();
        let mut ids = Vec::new();
        for id in old.into_iter().filter(|id| !live.contains_key(id.as_str())) {
            match registry.sessions.get_mut(&id) {
                Some(session) if session.open > 0 || session.is_closing => continue,
                Some(session) => session.is_closing = true,
                None => {}
            }
            ids.push(id);
        }
        Ok(ids)
    }
}

/// Closes the sessions that are to be closed, and now and then those that nobody comes back to, until
/// the server ends.
pub(crate) async fn keep_house(shared: Arc<Shared>) {
    let sessions = &shared.sessions;
    let taken = sessions.to_close.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(mut to_close) = taken else { return };
    let before = sessions.engine.now().after_seconds(-OUTDATED);
    let pruned = sessions.engine.mcp_sessions_prune(before).await;
    if let Err(error) = pruned.and_then(|()| sessions.load()) {
        tracing::warn!(%error, "failed to read the MCP sessions of an earlier server");
    }
    let mut turns = interval_at(Instant::now() + PRUNE_INTERVAL, PRUNE_INTERVAL);
    loop {
        let mut ids = Vec::new();
        tokio::select! {
            () = shared.app.shutdown.cancelled() => return,
            _ = to_close.recv_many(&mut ids, 256) => {}
            _ = turns.tick() => match sessions.outdated().await {
                Ok(outdated) => ids = outdated,
                Err(error) => tracing::warn!(%error, "failed to look for outdated MCP sessions"),
            },
        }
        if !ids.is_empty() {
            close(&shared, ids).await;
        }
    }
}

/// Closes sessions everywhere: in the record, in memory, and what they listen to.
async fn close(shared: &Shared, ids: Vec<String>) {
    if let Err(error) = shared.sessions.engine.mcp_sessions_delete(ids.clone()).await {
        tracing::warn!(%error, "failed to delete closed MCP sessions from the record");
    }
    for id in ids {
        shared.subscriptions.end_session(&id);
        shared.sessions.close_in_memory(&id).await;
        shared.sessions.forget(&id);
    }
}

/// The record, as `rmcp` keeps sessions in it.
pub(crate) struct SessionRecord(pub(crate) Arc<Shared>);

#[async_trait]
impl SessionStore for SessionRecord {
    async fn load(&self, id: &str) -> Result<Option<SessionState>, SessionStoreError> {
        Ok(self.0.app.engine.mcp_session_opening(id)?)
    }

    async fn store(&self, id: &str, state: &SessionState) -> Result<(), SessionStoreError> {
        let owner = OPENER.try_with(|owner| *owner)?;
        let opening = serde_json::to_string(state)?;
        self.0.app.engine.mcp_session_save(id, owner, opening).await?;
        self.0.sessions.remember(id, owner);
        Ok(())
    }

    async fn delete(&self, id: &str) -> Result<(), SessionStoreError> {
        self.0.sessions.forget(id);
        self.0.subscriptions.end_session(id);
        self.0.app.engine.mcp_sessions_delete(vec![id.to_owned()]).await?;
        Ok(())
    }
}
