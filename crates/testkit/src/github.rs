//! A GitHub without GitHub: a server on loopback that keeps repositories, pull requests and issues in memory.
//!
//! It holds every request, and every answer of its own, against GitHub's own description of its API, and its answers are
//! the examples of that description with other facts in them. What does not fit is kept, and fails the test at its end:
//! when it calls [`FakeGitHub::finish`], and else when the server is dropped.

mod description;
mod record;
mod schema;
mod serve;
mod show;
mod webhook;

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use host::clock::Clock;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use model::review::PullState;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

pub use record::{Branch, Issue, Pull};
pub use serve::{Fault, ReceivedRequest};
pub use webhook::Delivery;

use serve::{READER, Shared, TOKEN};

/// A running GitHub; it ends when this is dropped.
#[derive(Debug)]
pub struct FakeGitHub {
    address: SocketAddr,
    shared: Arc<Shared>,
    _running: DropGuard,
}

impl FakeGitHub {
    /// Starts one on a free loopback port. It has no repository yet.
    pub async fn start() -> Result<Self> {
        Self::start_at(Clock::System).await
    }

    /// The same, with a clock of its own.
    pub async fn start_at(clock: Clock) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::new(format!("http://{address}"), clock)?);
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        let accepting = accept(listener, Arc::clone(&shared));
        // No graceful end: an answer that hangs would never let it finish.
        TaskTracker::new().spawn(async move {
            tokio::select! {
                () = stopped => {}
                never = accepting => match never {},
            }
        });
        Ok(Self { address, shared, _running: stop.drop_guard() })
    }

    /// The address of its API, as of `https://api.github.com`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The address of the same API as an enterprise's own server has it.
    pub fn enterprise_url(&self) -> String {
        format!("http://{}/api/v3", self.address)
    }

    /// The token that may do everything.
    pub const fn token(&self) -> &'static str {
        TOKEN
    }

    /// A token that may only look.
    pub const fn read_only_token(&self) -> &'static str {
        READER
    }

    /// Makes a repository. Any branch may be opened a pull request from, until [`Self::branch`] names one.
    pub fn repo(&self, owner: &str, name: &str, default_branch: &str) {
        self.shared.record().add_repository(owner, name, default_branch);
    }

    /// Says how a branch stands to all others. From then on only the branches that were named exist.
    pub fn branch(&self, owner: &str, name: &str, branch: &str, stands: Branch) {
        self.shared.record().set_branch(owner, name, branch, stands);
    }

    /// Opens an issue, as somebody on the web page would, and says its number.
    pub fn issue(&self, owner: &str, name: &str, title: &str, body: &str) -> u64 {
        let now = self.shared.clock.now();
        let mut record = self.shared.record();
        let number = record.next_number();
        record.add_issue(Issue {
            repository: format!("{owner}/{name}"),
            number,
            title: title.to_owned(),
            body: body.to_owned(),
            labels: Vec::new(),
            created_at: now,
            changed_at: now,
        });
        number
    }

    /// Lets somebody have a word about every issue, as on the web page, so that all of them changed just now.
    pub fn touch_issues(&self) {
        self.shared.record().touch_issues(self.shared.clock.now());
    }

    /// Merges, closes or opens a pull request, as somebody on the web page would. No two have the same number.
    pub fn set_pull_state(&self, number: u64, state: PullState) {
        let now = self.shared.clock.now();
        self.shared.record().set_pull_state(number, state, now);
    }

    /// Every pull request, oldest first.
    pub fn pulls(&self) -> Vec<Pull> {
        self.shared.record().pulls().cloned().collect()
    }

    /// Every issue, oldest first.
    pub fn issues(&self) -> Vec<Issue> {
        self.shared.record().issues().cloned().collect()
    }

    /// The labels that a repository has by now.
    pub fn labels(&self, owner: &str, name: &str) -> Vec<String> {
        self.shared.record().labels(owner, name)
    }

    /// What was asked so far, oldest first.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.shared.seen()
    }

    /// Lets the next request that has no fault yet end like this.
    pub fn fail_next(&self, fault: Fault) {
        self.shared.fail(fault);
    }

    /// What GitHub would deliver of a pull request now, signed with `secret`.
    pub fn deliver(&self, number: u64, secret: &[u8]) -> Result<Delivery> {
        self.shared.deliver(number, secret)
    }

    /// Everything that did not fit GitHub's description so far. Who takes it takes responsibility.
    pub fn take_violations(&self) -> Vec<String> {
        std::mem::take(&mut *self.shared.violations())
    }

    /// Fails if anything did not fit GitHub's description.
    pub fn assert_valid(&self) {
        let violations = self.take_violations();
        assert!(
            violations.is_empty(),
            "GitHub's description says otherwise:\n{}",
            violations.join("\n")
        );
    }

    /// Ends it, and fails if anything did not fit GitHub's description.
    pub fn finish(self) -> Result<()> {
        let violations = self.take_violations();
        ensure!(
            violations.is_empty(),
            "GitHub's description says otherwise:\n{}",
            violations.join("\n")
        );
        Ok(())
    }
}

impl Drop for FakeGitHub {
    fn drop(&mut self) {
        // A second panic would end the process and hide the first.
        if !std::thread::panicking() {
            self.assert_valid();
        }
    }
}

/// Serves every connection until it is dropped.
async fn accept(listener: TcpListener, shared: Arc<Shared>) -> Infallible {
    let stop = CancellationToken::new();
    let _connections_end_too = stop.clone().drop_guard();
    let connections = TaskTracker::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let shared = Arc::clone(&shared);
        let stopped = stop.clone().cancelled_owned();
        connections.spawn(async move {
            let service = service_fn(move |request| Arc::clone(&shared).answer(request));
            let served = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            tokio::select! {
                () = stopped => {}
                // Anyone who asked sees the connection end; there is nobody else to tell.
                _ended = served => {}
            }
        });
    }
}

/// Takes a value out of JSON that is known to be there.
fn field<'a>(value: &'a Value, pointer: &str) -> Result<&'a Value> {
    value.pointer(pointer).with_context(|| format!("there is no `{pointer}`"))
}
