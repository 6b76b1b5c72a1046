//! Somebody who wants to be told: a server on loopback that keeps what it is posted, checks signatures in its own way,
//! and answers as a test says.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

/// A test that waits longer than this hangs.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(30);

/// A message as it came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedMessage {
    /// The path, with its query
    pub path: String,
    /// The headers
    pub headers: BTreeMap<String, String>,
    /// The body
    pub body: String,
}

/// How a message is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reaction {
    /// With this status
    Status(u16),
    /// With this status, headers and body
    With(u16, Vec<(&'static str, String)>, String),
    /// Never
    Hang,
    /// The connection ends without an answer
    HangUp,
}

type ReactionChoice = Arc<dyn Fn(&ReceivedMessage) -> Reaction + Send + Sync>;

struct Shared {
    got: Mutex<Vec<ReceivedMessage>>,
    count: watch::Sender<usize>,
    decide: Mutex<ReactionChoice>,
}

/// A running receiver; it ends when this is dropped.
pub struct Receiver {
    address: SocketAddr,
    shared: Arc<Shared>,
    _running: DropGuard,
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("address", &self.address).finish_non_exhaustive()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ReceivedMessage {
    /// A header.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// What it tells of.
    pub fn kind(&self) -> String {
        let body = self.json();
        body["type"].as_str().or_else(|| body[0]["name"].as_str()).unwrap_or_default().to_owned()
    }

    /// Fails unless it is signed as the Standard Webhooks specification says, by anyone who has the secret.
    pub fn verify(&self, secret: &str) -> Result<()> {
        let key = secret.strip_prefix("whsec_").context("a secret begins with `whsec_`")?;
        let key = BASE64_STANDARD.decode(key)?;
        let (id, timestamp) = (self.header("webhook-id"), self.header("webhook-timestamp"));
        ensure!(!id.is_empty() && timestamp.parse::<u64>().is_ok(), "{:?}", self.headers);
        let signed = hmac(&key, format!("{id}.{timestamp}.{}", self.body).as_bytes())?;
        let expected = format!("v1,{}", BASE64_STANDARD.encode(signed));
        let mut given = self.header("webhook-signature").split(' ');
        ensure!(given.any(|one| one == expected), "signed otherwise: {:?}", self.headers);
        Ok(())
    }
}

/// HMAC with SHA-256 by hand, so that the product's own is not held against itself.
pub(crate) fn hmac(key: &[u8], text: &[u8]) -> Result<[u8; 32]> {
    const BLOCK: usize = 64;
    ensure!(key.len() <= BLOCK, "a secret for a test is short");
    let mut block = [0_u8; BLOCK];
    block.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
    let inner = Sha256::new().chain_update(block.map(|byte| byte ^ 0x36)).chain_update(text);
    let outer = Sha256::new().chain_update(block.map(|byte| byte ^ 0x5c));
    Ok(outer.chain_update(inner.finalize()).finalize().into())
}

impl Receiver {
    /// Starts one on a free loopback port. It takes everything.
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            got: Mutex::default(),
            count: watch::channel(0).0,
            decide: Mutex::new(Arc::new(|_| Reaction::Status(204))),
        });
        let stop = CancellationToken::new();
        let (stopped, accepting) = (stop.clone(), Arc::clone(&shared));
        TaskTracker::new().spawn(async move {
            _ = stopped.run_until_cancelled(accept(listener, accepting)).await;
        });
        Ok(Self { address, shared, _running: stop.drop_guard() })
    }

    /// Its address, with a path behind it.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Decides from now on how messages are answered.
    pub fn react(&self, decide: impl Fn(&ReceivedMessage) -> Reaction + Send + Sync + 'static) {
        *locked(&self.shared.decide) = Arc::new(decide);
    }

    /// Everything that came, in the order in which it came.
    pub fn got(&self) -> Vec<ReceivedMessage> {
        locked(&self.shared.got).clone()
    }

    /// The kinds of everything that came.
    pub fn kinds(&self) -> Vec<String> {
        self.got().iter().map(ReceivedMessage::kind).collect()
    }

    /// Waits until what came is enough.
    pub async fn until(
        &self,
        enough: impl Fn(&[ReceivedMessage]) -> bool,
    ) -> Result<Vec<ReceivedMessage>> {
        let mut count = self.shared.count.subscribe();
        let waiting = async {
            loop {
                let got = self.got();
                if enough(&got) || count.changed().await.is_err() {
                    return got;
                }
            }
        };
        match tokio::time::timeout(MESSAGE_TIMEOUT, waiting).await {
            Ok(got) => Ok(got),
            Err(_) => bail!("not enough came: {:?}", self.got()),
        }
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let stop = CancellationToken::new();
    let _connections_end_too = stop.clone().drop_guard();
    let connections = TaskTracker::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let (shared, stopped) = (Arc::clone(&shared), stop.clone());
        connections.spawn(async move {
            let service = service_fn(move |request| Arc::clone(&shared).answer(request));
            let served = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            // Anyone who asked sees the connection end; there is nobody else to tell.
            drop(stopped.run_until_cancelled(served).await);
        });
    }
}

impl Shared {
    async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> io::Result<Response<Full<Bytes>>> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
        let headers = head.headers.iter().map(|(name, value)| {
            (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        let got = ReceivedMessage {
            path: head.uri.to_string(),
            headers: headers.collect(),
            body: String::from_utf8_lossy(&body).into_owned(),
        };
        let decide = Arc::clone(&locked(&self.decide));
        let reaction = decide(&got);
        locked(&self.got).push(got);
        self.count.send_modify(|count| *count += 1);
        let (status, headers, body) = match reaction {
            Reaction::Status(status) => (status, Vec::new(), String::new()),
            Reaction::With(status, headers, body) => (status, headers, body),
            Reaction::Hang => return std::future::pending().await,
            Reaction::HangUp => return Err(io::Error::other("hung up on purpose")),
        };
        let mut response = Response::builder().status(status);
        for (name, value) in headers {
            response = response.header(name, value);
        }
        response.body(Full::new(body.into())).map_err(io::Error::other)
    }
}
