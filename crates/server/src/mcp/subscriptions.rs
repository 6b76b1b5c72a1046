//! Resource subscriptions. One task follows the events for all of them.
//!
//! A listener has a set of what it listens to and a set of what it has not been told yet. The
//! follower never waits for a client: it fills the second set and rings; the delivering task empties
//! it at the client's pace, and what changes twice meanwhile is told once.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::{EventReaction, NextRun, Principal, ToolError, resources_touched};
use model::EventKinds;
use model::event::EventKind;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::{Peer, RoleServer};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use wire::event::EventView;

use crate::shared::Shared;

/// Events read per step.
const BATCH: u32 = 256;

/// A subscriber.
#[derive(Debug)]
pub(crate) struct Listener {
    owner: Principal,
    /// Last event before it listened
    since: i64,
    heard: Mutex<Notice>,
    bell: Notify,
    /// Cancelled when nobody is there any more
    ended: CancellationToken,
}

#[derive(Debug, Default)]
struct Notice {
    /// Subscribed resources
    uris: HashSet<String>,
    /// Changed resources not yet announced
    untold: BTreeSet<String>,
}

impl Listener {
    fn heard(&self) -> MutexGuard<'_, Notice> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, uris: &[String]) {
        let mut heard = self.heard();
        let touched: Vec<&String> = uris.iter().filter(|uri| heard.uris.contains(*uri)).collect();
        if !touched.is_empty() {
            heard.untold.extend(touched.into_iter().cloned());
            self.bell.notify_one();
        }
    }

    /// The next resource that changed; nothing once the listener has ended.
    pub(crate) async fn next(&self) -> Option<String> {
        loop {
            if let Some(uri) = self.heard().untold.pop_first() {
                return Some(uri);
            }
            tokio::select! {
                () = self.bell.notified() => {}
                () = self.ended.cancelled() => return None,
            }
        }
    }
}

/// All who listen.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions {
    registered: Mutex<Registered>,
    /// Rung when a client subscribes
    began: Notify,
}

#[derive(Debug, Default)]
struct Registered {
    next: u64,
    listeners: HashMap<u64, Arc<Listener>>,
    /// The listeners of the older era's sessions
    sessions: HashMap<String, u64>,
}

/// A listener that is registered as long as this lives.
#[derive(Debug)]
pub(crate) struct Listening {
    shared: Arc<Shared>,
    key: u64,
    pub(crate) listener: Arc<Listener>,
}

impl Listening {
    /// Returns whether the listener may still read a resource: permissions change with a reload, and a session
    /// that comes back listens to what it was once allowed.
    pub(crate) fn may_hear(&self, uri: &str) -> bool {
        self.shared.app.engine.resource_check(self.listener.owner, uri).is_ok()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.shared.subscriptions.lock().remove(self.key);
    }
}

impl Registered {
    fn add(&mut self, owner: Principal, uris: HashSet<String>, since: i64) -> (u64, Arc<Listener>) {
        let heard = Mutex::new(Notice { uris, untold: BTreeSet::new() });
        let (bell, ended) = (Notify::new(), CancellationToken::new());
        let listener = Arc::new(Listener { owner, since, heard, bell, ended });
        let key = self.next;
        self.next += 1;
        self.listeners.insert(key, Arc::clone(&listener));
        (key, listener)
    }

    fn remove(&mut self, key: u64) {
        if let Some(listener) = self.listeners.remove(&key) {
            listener.ended.cancel();
        }
        self.sessions.retain(|_, of| *of != key);
    }
}

impl Subscriptions {
    fn lock(&self) -> MutexGuard<'_, Registered> {
        self.registered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of subscribers.
    pub(crate) fn count(&self) -> usize {
        self.lock().listeners.len()
    }

    /// Ends what a session listened to.
    pub(crate) fn end_session(&self, session: &str) {
        let mut registered = self.lock();
        if let Some(key) = registered.sessions.get(session).copied() {
            registered.remove(key);
        }
    }

    /// A session listens to one resource less.
    pub(crate) fn unsubscribe(&self, session: &str, uri: &str) {
        let registered = self.lock();
        if let Some(listener) =
            registered.sessions.get(session).and_then(|key| registered.listeners.get(key))
        {
            let mut heard = listener.heard();
            heard.uris.remove(uri);
            heard.untold.remove(uri);
        }
    }

    fn end_of(&self, owner: Principal) {
        let mut registered = self.lock();
        let ended: Vec<u64> = registered
            .listeners
            .iter()
            .filter(|(_, listener)| listener.owner == owner)
            .map(|(key, _)| *key)
            .collect();
        for key in ended {
            registered.remove(key);
        }
    }

    fn tell(&self, event: &EventView) {
        let uris = resources_touched(event);
        if !uris.is_empty() {
            let registered = self.lock();
            let waiting = registered.listeners.values();
            for listener in waiting.filter(|listener| listener.since < event.number) {
                listener.tell(&uris);
            }
        }
    }
}

/// Begins to listen for the newer era: as long as the answer lives.
pub(crate) fn listen(shared: &Arc<Shared>, owner: Principal, uris: HashSet<String>) -> Listening {
    let since = *shared.app.engine.last_event().borrow();
    let (key, listener) = shared.subscriptions.lock().add(owner, uris, since);
    shared.subscriptions.began.notify_one();
    Listening { shared: Arc::clone(shared), key, listener }
}

/// A session of the older era, and where its client is told.
pub(crate) struct Client {
    pub(crate) session: String,
    pub(crate) owner: Principal,
    pub(crate) peer: Peer<RoleServer>,
}

/// A session listens to one resource more.
pub(crate) fn subscribe(shared: &Arc<Shared>, client: Client, uri: String) {
    let mut registered = shared.subscriptions.lock();
    let known =
        registered.sessions.get(&client.session).and_then(|key| registered.listeners.get(key));
    if let Some(listener) = known {
        listener.heard().uris.insert(uri);
        return;
    }
    attach(shared, &mut registered, client, HashSet::from([uri]));
}

/// A session is back, perhaps after a restart. Nobody knows what it missed, so it is told of all it
/// listens to.
pub(crate) fn resume(shared: &Arc<Shared>, client: Client, uris: &[String]) {
    let mut registered = shared.subscriptions.lock();
    if let Some(old) = registered.sessions.get(&client.session).copied() {
        registered.remove(old);
    }
    if uris.is_empty() {
        return;
    }
    let listener = attach(shared, &mut registered, client, uris.iter().cloned().collect());
    listener.tell(uris);
}

fn attach(
    shared: &Arc<Shared>,
    registered: &mut Registered,
    client: Client,
    uris: HashSet<String>,
) -> Arc<Listener> {
    let since = *shared.app.engine.last_event().borrow();
    let (key, listener) = registered.add(client.owner, uris, since);
    shared.subscriptions.began.notify_one();
    registered.sessions.insert(client.session, key);
    let listening = Listening { shared: Arc::clone(shared), key, listener: Arc::clone(&listener) };
    let (peer, end) = (client.peer, shared.app.shutdown.clone());
    shared.tasks.spawn(async move {
        let deliver = async {
            while let Some(uri) = listening.listener.next().await {
                if !listening.may_hear(&uri) {
                    continue;
                }
                let told =
                    peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await;
                if told.is_err() {
                    // The session has left the memory; it takes this up again when it comes back.
                    break;
                }
            }
        };
        tokio::select! {
            () = deliver => {}
            () = end.cancelled() => {}
        }
        drop(listening);
    });
    listener
}

/// Follows the events until the server ends, and tells all who listen.
pub(crate) async fn follow(shared: Arc<Shared>) {
    let seen = *shared.app.engine.last_event().borrow();
    let (engine, shutdown) = (shared.app.engine.clone(), shared.app.shutdown.clone());
    engine.follow(&mut Follower { shared, seen }, &shutdown).await;
}

/// Tells listeners of resources that changed, and ends what agents left open that have ended.
struct Follower {
    shared: Arc<Shared>,
    /// The last event that was looked at
    seen: i64,
}

impl Follower {
    /// Reads what happened since, of one kind or of all, and says how far it came.
    async fn catch_up(&self, kind: Option<EventKind>) -> Result<i64, ToolError> {
        let (shared, mut after) = (&self.shared, self.seen);
        loop {
            let events = shared.app.engine.events_after(after, kind, BATCH)?;
            for event in &events {
                shared.subscriptions.tell(event);
                if let (EventKind::AgentFinished, Some(agent)) = (event.kind, event.agent_id) {
                    shared.sessions.end_of(Principal::Agent(agent)).await;
                    shared.subscriptions.end_of(Principal::Agent(agent));
                }
            }
            let Some(last) = events.last() else { return Ok(after) };
            after = last.number;
            if events.len() < BATCH as usize {
                return Ok(after);
            }
        }
    }
}

impl EventReaction for Follower {
    fn name(&self) -> String {
        "resource subscriptions".to_owned()
    }

    /// Where nobody listens, only who has left matters.
    fn kinds(&self) -> EventKinds {
        if self.shared.subscriptions.count() > 0 {
            EventKinds::ALL
        } else {
            EventKinds::of(&[EventKind::AgentFinished])
        }
    }

    async fn react(&mut self) -> Result<NextRun, ToolError> {
        // Read before the subscribers: a later one is not concerned by earlier events.
        let target = *self.shared.app.engine.last_event().borrow();
        if self.shared.subscriptions.count() > 0 {
            self.seen = self.catch_up(None).await?;
        } else {
            self.catch_up(Some(EventKind::AgentFinished)).await?;
            self.seen = target;
        }
        Ok(NextRun::News)
    }

    async fn rung(&mut self) {
        self.shared.subscriptions.began.notified().await;
    }
}
