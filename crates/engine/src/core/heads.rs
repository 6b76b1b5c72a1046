//! Checked-out commits of agents' directories, for audit rows.
//!
//! Reading it is I/O on paths that agents can write. So it happens before a transaction, on a blocking thread, at most
//! once a second for each agent, and nobody waits for it longer than [`READ_TIMEOUT`]. A read that hangs keeps its
//! turn, so that each agent can hold up one thread at most.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use model::AgentId;
use tokio::sync::Semaphore;

use crate::core::handle::Core;
use crate::core::machine::directory_of;

/// Age up to which a commit counts as current.
const FRESH: Duration = Duration::from_secs(1);
/// Time a call waits for the commit; after that it records the last known one.
const READ_TIMEOUT: Duration = Duration::from_millis(250);

/// Cache of the checked-out commit per agent, and of the project's for the operator.
#[derive(Debug, Default)]
pub(crate) struct Heads(Mutex<HashMap<Option<AgentId>, Head>>);

#[derive(Debug)]
struct Head {
    /// When it was last read, by the monotonic clock
    read_at: Option<Duration>,
    commit: Option<String>,
    /// Held by the reader
    turn: Arc<Semaphore>,
}

/// The commit that was read last, if there was one.
struct LastHead(Option<String>);

impl Default for Head {
    fn default() -> Self {
        Self { read_at: None, commit: None, turn: Arc::new(Semaphore::new(1)) }
    }
}

impl Heads {
    fn with<T>(&self, of: Option<AgentId>, act: impl FnOnce(&mut Head) -> T) -> T {
        let mut heads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        act(heads.entry(of).or_default())
    }

    /// Returns a commit that is still current.
    fn fresh(&self, of: Option<AgentId>, now: Duration) -> Option<LastHead> {
        let heads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let head = heads.get(&of)?;
        let is_fresh = head.read_at.is_some_and(|at| now.saturating_sub(at) < FRESH);
        is_fresh.then(|| LastHead(head.commit.clone()))
    }

    /// Returns the last known commit, however old.
    pub(crate) fn last(&self, of: Option<AgentId>) -> Option<String> {
        let heads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        heads.get(&of)?.commit.clone()
    }

    /// Forgets an agent that has ended.
    pub(crate) fn forget(&self, agent: AgentId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&Some(agent));
    }
}

impl Core {
    /// The commit that is checked out where an agent works, or in the project; at most a second old, unless reading
    /// it takes too long.
    pub(crate) async fn head_of(&self, of: Option<AgentId>) -> Option<String> {
        if let Some(LastHead(known)) = self.heads.fresh(of, self.elapsed()) {
            return known;
        }
        // Seldom needed, and so not part of every call's future.
        Box::pin(self.read_in_time(of)).await
    }

    async fn read_in_time(&self, of: Option<AgentId>) -> Option<String> {
        match tokio::time::timeout(READ_TIMEOUT, self.read_head(of)).await {
            Ok(commit) => commit,
            Err(_) => self.heads.with(of, |head| {
                // The calls of the next second need not wait as well.
                head.read_at = Some(self.elapsed());
                head.commit.clone()
            }),
        }
    }

    /// Has the commit read that operator's acts record. To be awaited before their transaction.
    pub async fn refresh_project_head(&self) {
        self.head_of(None).await;
    }

    /// Reads which commit is checked out in a folder, on a blocking thread.
    pub(crate) async fn head_in(&self, dir: &Path) -> Option<String> {
        let dir = dir.to_owned();
        let read = tokio::task::spawn_blocking(move || host::git::head(&dir));
        tokio::time::timeout(READ_TIMEOUT, read).await.ok()?.ok()?
    }

    async fn read_head(&self, of: Option<AgentId>) -> Option<String> {
        let turn = self.heads.with(of, |head| Arc::clone(&head.turn));
        let turn = turn.acquire_owned().await.ok()?;
        // Another call may have read it meanwhile.
        if let Some(LastHead(known)) = self.heads.fresh(of, self.elapsed()) {
            return known;
        }
        let engine = self.clone();
        let read = tokio::task::spawn_blocking(move || {
            let agent = of.and_then(|id| engine.store.read(|tx| tx.agent_get(id)).ok().flatten());
            let project = &engine.options.project;
            let place =
                agent.as_ref().map_or_else(|| project.clone(), |one| directory_of(&engine, one));
            let (commit, now) = (host::git::head(&place), engine.elapsed());
            engine.heads.with(of, |head| {
                head.read_at = Some(now);
                head.commit.clone_from(&commit);
            });
            // Nobody is remembered who does not live.
            if let Some(id) = of.filter(|_| agent.is_none_or(|one| one.ended_at().is_some())) {
                engine.heads.forget(id);
            }
            drop(turn);
            commit
        });
        read.await.ok().flatten()
    }
}
