//! The way to the server: which one it is, the session with it, and every message's delivery.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::header::HeaderMap;
use http::{Method, Response, StatusCode};
use hyper::body::{Bytes, Incoming};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::answer::Messages;
use super::listen::Pause;
use super::message::{LAST_EVENT_ID, Message, SESSION_ID, error_line, is_answer, put};
use super::session::Session;
use crate::client::{ApiError, Client, ClientError};
use crate::server_process::connect::{self, ConnectError, ServerLocation};

/// Attempts per message and server.
const MAX_ATTEMPTS: u32 = 4;
/// Server restarts that a message may outlive.
const SERVERS: u32 = 20;
/// Time for a stream to end after the answer, so that its connection can be reused.
const STREAM_END_TIMEOUT: Duration = Duration::from_millis(20);
const INTERNAL_ERROR: i32 = -32603;

/// The bridge's side of the conversation, shared by every request under way.
#[derive(Debug)]
pub(super) struct Link {
    at: ServerLocation,
    /// `/mcp`, with the toolsets in it
    path: String,
    out: mpsc::Sender<Bytes>,
    state: Mutex<State>,
    /// One at a time looks for the server
    connecting: Semaphore,
    /// One at a time renews the session
    renewing: Semaphore,
    /// Counts up when the server or the session becomes another
    pub(super) changes: watch::Sender<u64>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) server: Option<Server>,
    pub(super) session: Option<Session>,
    /// The version that requests of the stateless era have named
    stateless: Option<String>,
    /// Subscriptions of the client, to be repeated in the next session
    subscriptions: BTreeMap<String, Bytes>,
    under_way: HashMap<String, UnderWay>,
}

#[derive(Debug, Clone)]
pub(super) struct Server {
    pub(super) client: Client,
    generation: u64,
}

/// A request that has no answer yet.
#[derive(Debug, Clone)]
struct UnderWay {
    stop: CancellationToken,
    stateless: bool,
}

/// Where an answer goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// To the client
    Forward,
    /// Nowhere: the bridge asked for itself
    Keep,
}

/// Why a message was not delivered, or not answered.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// It never left.
    #[error(transparent)]
    NotSent(ClientError),
    /// No server could be had.
    #[error(transparent)]
    NoServer(#[from] ConnectError),
    /// It left, and the connection broke.
    #[error("the connection to the server broke; the outcome of this call is unknown")]
    Broken {
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
        /// True if anything was received before
        heard: bool,
    },
    /// The server no longer knows the session.
    #[error("the server no longer knows the session")]
    SessionLost(Box<Session>),
    /// The server refused it below the protocol.
    #[error("{}", .0.body.message)]
    Refused(Box<ApiError>),
}

impl Failure {
    fn of(error: ClientError) -> Self {
        match error {
            ClientError::Broken { source, .. } => Self::Broken { source, heard: false },
            ClientError::Undecodable { source, .. } => {
                Self::Broken { source: source.into(), heard: true }
            }
            ClientError::Api { error, .. } => Self::Refused(error),
            error @ (ClientError::NoServer { .. }
            | ClientError::NotOurs { .. }
            | ClientError::UnknownToken { .. }
            | ClientError::Tls { .. }
            | ClientError::Address(_)
            | ClientError::Unusable { .. }) => Self::NotSent(error),
        }
    }

    /// Answer to a request.
    fn answer(&self, id: &Value) -> Bytes {
        let data = match self {
            Self::Broken { .. } => json!({ "outcome": "unknown" }),
            Self::Refused(error) => error.whole.clone(),
            Self::NotSent(_) | Self::NoServer(_) | Self::SessionLost(_) => {
                json!({ "outcome": "not sent" })
            }
        };
        error_line(id, INTERNAL_ERROR, &self.to_string(), &data)
    }
}

impl Link {
    pub(super) fn new(at: ServerLocation, path: String, out: mpsc::Sender<Bytes>) -> Self {
        let client = connect::locate(&at).unwrap_or_else(|error| {
            // The first message will say so to the client.
            tracing::warn!(%error, "could not locate the server; retrying");
            None
        });
        let server = client.map(|client| Server { client, generation: 0 });
        Self {
            at,
            path,
            out,
            state: Mutex::new(State { server, ..State::default() }),
            connecting: Semaphore::new(1),
            renewing: Semaphore::new(1),
            changes: watch::Sender::new(0),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // Every change is a single assignment: a panic elsewhere leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a line to the client. It may have gone, which ends the bridge elsewhere.
    pub(super) async fn say(&self, line: Bytes) {
        drop(self.out.send(line).await);
    }

    /// Notes that a request is under way, until `stop` is cancelled or it is answered.
    pub(super) fn begin(&self, message: &Message, stop: CancellationToken) {
        let mut state = self.state();
        if let Some(version) = message.stateless_version() {
            state.stateless = Some(version.to_owned());
        }
        let under_way = UnderWay { stop, stateless: message.is_stateless() };
        state.under_way.insert(key(message.id.as_ref()), under_way);
    }

    /// Sees a request to its answer, or answers it with what went wrong.
    pub(super) async fn request(&self, message: Message, stop: CancellationToken) {
        let message = message.keyed();
        let delivered = tokio::select! {
            biased;
            // Dropping the exchange closes its stream: that is how the stateless era cancels.
            () = stop.cancelled() => Ok(()),
            delivered = self.deliver(&message) => delivered,
        };
        self.state().under_way.remove(&key(message.id.as_ref()));
        if let Err(failure) = delivered {
            tracing::warn!(error = &failure as &dyn std::error::Error, "request failed");
            let id = message.id.unwrap_or_default();
            self.say(failure.answer(&id)).await;
        }
    }

    /// Sends what needs no answer, and says whether the server took it.
    pub(super) async fn notify(&self, message: &Message) -> bool {
        let delivered = self.deliver(message).await.inspect_err(|failure| {
            let error = failure as &dyn std::error::Error;
            tracing::warn!(error, method = message.method, "notification lost");
        });
        delivered.is_ok()
    }

    /// Calls off a request: by a message in a session, by closing its stream without one.
    pub(super) async fn cancel(&self, message: &Message) {
        let (found, in_session) = {
            let state = self.state();
            let found = state.under_way.get(&key(message.cancels.as_ref())).cloned();
            (found, state.session.is_some())
        };
        let stateless = found.as_ref().map_or(!in_session, |found| found.stateless);
        if !stateless {
            self.notify(message).await;
        }
        if let Some(found) = found {
            found.stop.cancel();
        }
    }

    /// Ends the session. The server would end it by itself after a while.
    pub(super) async fn close(&self) {
        let (session, server) = {
            let state = self.state();
            (state.session.clone(), state.server.clone())
        };
        if let (Some(session), Some(server)) = (session, server)
            && session.is_kept()
        {
            let mut headers = HeaderMap::new();
            session.put(&mut headers);
            let ended = server.client.send(Method::DELETE, &self.path, headers, Bytes::new());
            if let Err(error) = ended.await {
                tracing::debug!(%error, "failed to close the session");
            }
        }
    }

    async fn deliver(&self, message: &Message) -> Result<(), Failure> {
        let mut pause = Pause::new(&self.changes);
        // A subscription that was up waits for the server's return; it must not start the server
        // that an operator has just taken down.
        let mut waiting = false;
        let (mut tries, mut servers) = (MAX_ATTEMPTS, SERVERS);
        let mut failed_at = None;
        loop {
            let server = if waiting {
                pause.wait(None).await;
                self.relocate();
                let Some(server) = self.state().server.clone() else { continue };
                server
            } else {
                self.server().await?
            };
            let Err(failure) = self.exchange(&server.client, message, Answer::Forward).await else {
                return Ok(());
            };
            // One server owes nothing to the failures of the one before: a call that waits may outlive
            // several.
            let noted = connect::note(&self.at);
            if servers > 0 && noted != failed_at {
                (tries, servers, failed_at) = (MAX_ATTEMPTS, servers - 1, noted);
            }
            tries = if waiting { tries } else { tries - 1 };
            match failure {
                _ if tries == 0 => return Err(failure),
                Failure::NotSent(ClientError::NoServer { .. } | ClientError::NotOurs { .. })
                    if waiting => {}
                Failure::NotSent(ClientError::NoServer { .. } | ClientError::NotOurs { .. }) => {
                    self.reconnect(server.generation).await?;
                }
                Failure::Broken { heard, .. } if message.may_be_repeated() => {
                    self.reopen(server.generation);
                    if heard && message.is("subscriptions/listen") {
                        (waiting, pause) = (true, Pause::new(&self.changes));
                    } else if tries < MAX_ATTEMPTS - 1 {
                        // Once is the end of a server, and the next try shows it; more is odd.
                        pause.wait(None).await;
                    }
                }
                Failure::SessionLost(session) => self.renew(&server.client, &session).await?,
                failure => return Err(failure),
            }
        }
    }

    /// Sends a message once and hands on everything that is answered.
    async fn exchange(
        &self,
        client: &Client,
        message: &Message,
        answer: Answer,
    ) -> Result<(), Failure> {
        let (headers, session) = {
            let state = self.state();
            let session = state.session.clone().filter(|_| !message.is_stateless());
            (message.headers(session.as_ref(), state.stateless.as_deref()), session)
        };
        let sent = client.send(Method::POST, &self.path, headers, message.line.clone()).await;
        let response = sent.map_err(Failure::of)?;
        if !response.status().is_success() {
            let kept = session.filter(|session| session.is_kept() && !message.is("initialize"));
            return self.refused(client, response, message, kept).await;
        }
        let session_id = response.headers().get(SESSION_ID).cloned();
        let mut messages = Messages::of(response);
        loop {
            let broken = loop {
                match messages.next().await {
                    Ok(Some(line)) => {
                        let answered = answers(&line, message);
                        if answered && message.is("initialize") {
                            let id = session_id.as_ref().and_then(|id| id.to_str().ok());
                            self.agree(id, &line, message, answer);
                        }
                        if answer == Answer::Forward {
                            self.say(line).await;
                        }
                        if answered {
                            self.note_subscription(message);
                            while let Ok(Ok(Some(line))) =
                                timeout(STREAM_END_TIMEOUT, messages.next()).await
                            {
                                self.say(line).await;
                            }
                            return Ok(());
                        }
                    }
                    Ok(None) if !message.is_request() => return Ok(()),
                    Ok(None) => break None,
                    Err(error) => break Some(error),
                }
            };
            let heard = messages.heard();
            // A session's stream may be left and taken up again where it stopped. Where it broke there
            // is most likely another server soon, to which the place means nothing; a call with a key
            // is better sent again.
            let was_left = broken.is_none() || !message.has_key();
            let resumed = match (messages.last_id(), &session) {
                (Some(last), Some(session)) if heard && was_left => {
                    tokio::time::sleep(messages.retry().unwrap_or_default()).await;
                    self.open(client, session, Some(&last)).await.ok()
                }
                _ => None,
            };
            let resumed = resumed.filter(|response| response.status().is_success());
            let Some(response) = resumed else {
                let source = broken.unwrap_or_else(|| "the answer ended early".into());
                return Err(Failure::Broken { source, heard });
            };
            messages = Messages::of(response);
        }
    }

    /// Hands on a refusal in the protocol's own words, or says what kind it is.
    async fn refused(
        &self,
        client: &Client,
        response: Response<Incoming>,
        message: &Message,
        session: Option<Session>,
    ) -> Result<(), Failure> {
        let (status, bytes) = client.collect(response).await.map_err(Failure::of)?;
        let answer = serde_json::from_slice::<Value>(&bytes).ok().filter(is_answer);
        match (answer, session) {
            (Some(mut answer), _) if message.is_request() => {
                // Refused before it was read whole, it may lack the id that the client waits for.
                if answer["id"].is_null() {
                    answer["id"] = message.id.clone().unwrap_or_default();
                }
                self.say(answer.to_string().into()).await;
                Ok(())
            }
            (_, Some(session)) if status == StatusCode::NOT_FOUND => {
                Err(Failure::SessionLost(Box::new(session)))
            }
            _ => Err(Failure::Refused(Box::new(ApiError::read(status, &bytes)))),
        }
    }

    /// Remembers what `initialize` agreed on.
    fn agree(&self, id: Option<&str>, line: &[u8], message: &Message, answer: Answer) {
        let text: Value = serde_json::from_slice(line).unwrap_or_default();
        let Some(version) = text["result"]["protocolVersion"].as_str() else { return };
        let session = Session::new(id, version, message.line.clone());
        {
            let mut state = self.state();
            state.session = Some(session);
            if answer == Answer::Forward {
                state.subscriptions.clear();
            }
        }
        self.changes.send_modify(|count| *count += 1);
    }

    fn note_subscription(&self, message: &Message) {
        let Some(uri) = message.uri().filter(|_| !message.is_stateless()) else { return };
        let subscriptions = &mut self.state().subscriptions;
        if message.is("resources/subscribe") {
            subscriptions.insert(uri.to_owned(), message.line.clone());
        } else if message.is("resources/unsubscribe") {
            subscriptions.remove(uri);
        }
    }

    /// Makes a new session in place of one that the server has forgotten.
    pub(super) async fn renew(&self, client: &Client, lost: &Session) -> Result<(), Failure> {
        let _alone = self.renewing.acquire().await;
        let is_lost = |state: &State| state.session.as_ref().is_some_and(|now| now.is(lost));
        if !is_lost(&self.state()) {
            return Ok(());
        }
        tracing::info!("the server no longer knows the session; opening a new one");
        let initialized =
            Bytes::from_static(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        let subscriptions: Vec<Bytes> = self.state().subscriptions.values().cloned().collect();
        for line in [lost.initialize.clone(), initialized].into_iter().chain(subscriptions) {
            // They were parsed when they first came.
            let Ok(message) = Message::parse(line) else { continue };
            self.exchange(client, &message, Answer::Keep).await?;
            if is_lost(&self.state()) {
                return Err(Failure::SessionLost(Box::new(lost.clone())));
            }
        }
        Ok(())
    }

    /// The server, found or started if there is none yet.
    async fn server(&self) -> Result<Server, Failure> {
        loop {
            if let Some(server) = self.state().server.clone() {
                return Ok(server);
            }
            self.reconnect(0).await?;
        }
    }

    /// Finds or starts a server in place of the one of that generation.
    async fn reconnect(&self, seen: u64) -> Result<(), Failure> {
        let _alone = self.connecting.acquire().await;
        let is_new = |state: &State| state.server.as_ref().is_some_and(|now| now.generation > seen);
        if !is_new(&self.state()) {
            let client = connect::connect(&self.at).await?;
            self.put_server(client);
        }
        Ok(())
    }

    /// Lets go of the connections to the server of that generation: where one broke the others are most
    /// likely dead too, and a request that is given to a dead one tells nothing.
    fn reopen(&self, seen: u64) {
        let is_old = self.state().server.as_ref().is_some_and(|now| now.generation == seen);
        if let (true, Ok(Some(client))) = (is_old, connect::locate(&self.at)) {
            self.put_server(client);
        }
    }

    /// Looks whether the server now stands elsewhere. Starts none.
    pub(super) fn relocate(&self) {
        let Ok(Some(client)) = connect::locate(&self.at) else { return };
        let known = self.state().server.as_ref().map(|now| now.client.url().to_owned());
        if known.as_deref() != Some(client.url()) {
            self.put_server(client);
        }
    }

    fn put_server(&self, client: Client) {
        {
            let mut state = self.state();
            let generation = state.server.as_ref().map_or(1, |now| now.generation + 1);
            state.server = Some(Server { client, generation });
        }
        self.changes.send_modify(|count| *count += 1);
    }

    /// Opens the session's own stream, or one that was left.
    pub(super) async fn open(
        &self,
        client: &Client,
        session: &Session,
        last_id: Option<&str>,
    ) -> Result<Response<Incoming>, ClientError> {
        let mut headers = HeaderMap::new();
        put(&mut headers, http::header::ACCEPT, Some("text/event-stream"));
        put(&mut headers, LAST_EVENT_ID, last_id);
        session.put(&mut headers);
        client.send(Method::GET, &self.path, headers, Bytes::new()).await
    }
}

/// True if a line answers a message.
fn answers(line: &[u8], message: &Message) -> bool {
    let text: Value = serde_json::from_slice(line).unwrap_or_default();
    message.is_request() && is_answer(&text) && text.get("id") == message.id.as_ref()
}

fn key(id: Option<&Value>) -> String {
    id.map(Value::to_string).unwrap_or_default()
}
