//! A model without a model: a scripted model API on loopback, against which real agent command lines run.
//!
//! It speaks the Messages of Anthropic and the Responses of `OpenAI`, as far as Claude Code and Codex use them. A [`Script`] is a
//! list of turns; which turn is due follows from the conversation that the request carries, so a request that
//! is sent again gets the same answer, and a resumed conversation goes on where it stood.
//!
//! A conversation follows the script that the last `[[script:NAME]]` in its user's words names, else the one in the
//! path under which it was asked ([`Llm::url`]), else the one called `default`.

mod anthropic;
mod conversation;
mod responses;
mod script;
mod serve;
mod template;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

pub use script::{Fault, Script, Turn, Usage};

/// How long a test waits for a request before it gives up.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

/// A running model API; it ends when this is dropped.
#[derive(Debug)]
pub struct Llm {
    address: SocketAddr,
    shared: Arc<serve::Shared>,
    _running: DropGuard,
}

/// One request for a turn of a script.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// The script it follows
    pub script: String,
    /// The turn that is due, counted from 0
    pub turn: usize,
    /// The model that was asked for
    pub model: String,
    /// The tools that were offered, as `mcp__mail__send`
    pub tools: Vec<String>,
    /// What the user said, oldest first
    pub user: Vec<String>,
    /// What the tools answered, oldest first
    pub results: Vec<String>,
    /// The whole request
    pub body: Value,
}

impl ModelRequest {
    /// Whether these words stand anywhere in the request.
    pub fn mentions(&self, words: &str) -> bool {
        let mut quoted = Value::from(words).to_string();
        quoted.pop();
        self.body.to_string().contains(quoted.trim_start_matches('"'))
    }
}

impl Llm {
    /// Starts it on a free loopback port.
    pub async fn start<'a>(
        scripts: impl IntoIterator<Item = (&'a str, Script)>,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let scripts = scripts.into_iter().map(|(name, script)| (name.to_owned(), script));
        let shared = Arc::new(serve::Shared::new(scripts.collect()));
        let router = serve::router(Arc::clone(&shared));
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        // No graceful end: a turn that hangs would never let it finish.
        TaskTracker::new().spawn(async move {
            tokio::select! {
                () = stopped => Ok(()),
                ended = axum::serve(listener, router).into_future() => ended,
            }
        });
        Ok(Self { address, shared, _running: stop.drop_guard() })
    }

    /// The base URL under which requests follow this script: `ANTHROPIC_BASE_URL` as it is, the `base_url` of a
    /// provider of Codex with `/v1` after it.
    pub fn url(&self, script: &str) -> String {
        format!("http://{}/s/{script}", self.address)
    }

    /// Lets the turns go on that wait at this gate, now and later.
    pub fn open(&self, gate: &str) {
        self.shared.open.send_modify(|open| _ = open.insert(gate.to_owned()));
    }

    /// What was asked under a script so far.
    pub fn asked(&self, script: &str) -> Vec<ModelRequest> {
        self.shared.log.borrow().iter().filter(|asked| asked.script == script).cloned().collect()
    }

    /// Waits until a turn of a script is asked for, counted from 0.
    pub async fn reached(&self, script: &str, turn: usize) -> Result<ModelRequest> {
        let due = |asked: &&ModelRequest| asked.script == script && asked.turn == turn;
        let mut log = self.shared.log.subscribe();
        let seen = log.wait_for(|log| log.iter().any(|asked| due(&asked)));
        let log = tokio::time::timeout(REQUEST_TIMEOUT, seen)
            .await
            .with_context(|| format!("turn {turn} of `{script}` was never asked for"))??;
        log.iter().find(due).cloned().context("it was there a moment ago")
    }
}
