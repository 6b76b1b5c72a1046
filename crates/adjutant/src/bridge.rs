//! `adjutant mcp`: MCP over stdio, as a bridge to the server's Streamable HTTP.
//!
//! Every message passes unchanged, in both protocol eras; the bridge adds the headers, keeps the
//! session, and outlives the server. Its output carries the protocol and nothing else.

mod answer;
mod lines;
mod link;
mod listen;
mod message;
mod session;
mod sse;
#[cfg(test)]
mod tests;

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Bytes;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::server_process::connect::ServerLocation;
pub(crate) use answer::Messages;
use lines::{Line, Lines};
use link::Link;
use message::{Message, error_line};

/// Grace period of open requests once the input has ended.
const FINISH: Duration = Duration::from_secs(5);
/// Timeout for ending the session.
const CLOSE: Duration = Duration::from_secs(1);
/// Lines buffered before their streams must wait.
const WAITING_LINES: usize = 64;

/// Options of the bridge: server and toolsets.
#[derive(Debug, Clone)]
pub(crate) struct Bridge {
    /// Location of the server
    pub(crate) at: ServerLocation,
    /// The toolsets; none is everything
    pub(crate) toolsets: Vec<String>,
}

/// Why the bridge ended before its input did.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BridgeError {
    /// The client's messages could not be read.
    #[error("could not read the client's messages")]
    Read(#[source] io::Error),
    /// The answers could not be written.
    #[error("could not write to the client")]
    Write(#[source] io::Error),
}

impl Bridge {
    /// Carries messages until the standard input ends.
    ///
    /// The read of the standard input cannot be given up: shut the runtime down in the background.
    pub(crate) async fn stdio(self) -> Result<(), BridgeError> {
        self.run(tokio::io::stdin(), tokio::io::stdout()).await
    }

    /// Carries messages until the input ends, or nobody takes the output.
    pub(crate) async fn run(
        self,
        input: impl AsyncRead + Unpin,
        output: impl AsyncWrite + Unpin,
    ) -> Result<(), BridgeError> {
        let (out, lines) = mpsc::channel(WAITING_LINES);
        let path = self.path();
        let link = Arc::new(Link::new(self.at, path, out));
        let mut writing = pin!(lines::write(output, lines));
        let read = tokio::select! {
            written = &mut writing => return over(written),
            read = pump(input, link) => read,
        };
        over(writing.await)?;
        read.map_err(BridgeError::Read)
    }

    /// One toolset has bare names, several have those of all.
    fn path(&self) -> String {
        match self.toolsets.as_slice() {
            [] => "/mcp".to_owned(),
            [one] => format!("/mcp/{one}"),
            several => format!("/mcp?toolsets={}", several.join(",")),
        }
    }
}

/// A client that has gone needs no error.
fn over(written: io::Result<()>) -> Result<(), BridgeError> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(BridgeError::Write(error)),
        _ => Ok(()),
    }
}

/// Reads messages and sends each on its way. Takes the link, so that the writer ends after it.
async fn pump(input: impl AsyncRead + Unpin, link: Arc<Link>) -> io::Result<()> {
    let requests = TaskTracker::new();
    let stop = CancellationToken::new();
    // Streams that no answer ends: they are not waited for.
    let streams = stop.child_token();
    let mut lines = Lines::new(input);
    let mut listening = false;
    let read = loop {
        let line = match lines.next().await {
            Ok(Some(Line::Whole(line))) => line,
            Ok(Some(Line::TooLong)) => {
                link.say(too_long()).await;
                continue;
            }
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        };
        let message = match Message::parse(line) {
            Ok(message) => message,
            Err(refusal) => {
                link.say(refusal).await;
                continue;
            }
        };
        if message.is_request() {
            let until = if message.is("subscriptions/listen") { &streams } else { &stop };
            let until = until.child_token();
            link.begin(&message, until.clone());
            let first = message.is("initialize");
            let link = Arc::clone(&link);
            let request = async move { link.request(message, until).await };
            // Whatever follows needs the session that this one makes.
            if first { Box::pin(request).await } else { drop(requests.spawn(request)) }
        } else if message.cancels.is_some() {
            link.cancel(&message).await;
        } else if Box::pin(link.notify(&message)).await
            && message.is("notifications/initialized")
            && !listening
        {
            listening = true;
            let (link, until) = (Arc::clone(&link), streams.clone());
            requests.spawn(async move {
                _ = until.run_until_cancelled(link.listen()).await;
            });
        }
    };
    streams.cancel();
    requests.close();
    if timeout(FINISH, requests.wait()).await.is_err() {
        tracing::warn!(left = requests.len(), "client disconnected with requests in flight");
    }
    stop.cancel();
    requests.wait().await;
    // It was tried; the server forgets an idle session by itself.
    _ = timeout(CLOSE, link.close()).await;
    read
}

fn too_long() -> Bytes {
    error_line(&Value::Null, -32600, "the message is over 4 MiB", &Value::Null)
}
