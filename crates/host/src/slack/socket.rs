//! One connection over which Slack sends events. An event is acknowledged on request.

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use hyper_rustls::MaybeHttpsStream;
use hyper_util::rt::TokioIo;
use model::slack::IncomingMessage;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::{Error, Message};
use tower::Service as _;

use super::error::{SlackError, root};
use super::wire;
use crate::tls::Connector;

/// Interval between pings.
const PING_INTERVAL: Duration = Duration::from_secs(20);
/// After so long without a sign the connection counts as lost.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(60);

type Stream = WebSocketStream<TokioIo<MaybeHttpsStream<TokioIo<TcpStream>>>>;

/// An open connection.
#[derive(Debug)]
pub struct Socket {
    stream: Stream,
    heard: Instant,
    ping: Instant,
}

/// A frame received from Slack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// The connection is ready
    Hello,
    /// A message; to be acknowledged by its id once it is recorded
    Received(String, Box<IncomingMessage>),
    /// Something that nobody here wants to know; to be acknowledged all the same
    Other(String),
    /// Slack will close the connection, for this reason
    Disconnect(String),
}

pub(super) async fn open(mut connector: Connector, url: &str) -> Result<Socket, SlackError> {
    // The address has a ticket in it: it stands in no error.
    let bad = || SlackError::Unsure { why: "Slack named no address for a socket".to_owned() };
    let (scheme, rest) = url.split_once("://").ok_or_else(bad)?;
    let scheme = match scheme {
        "wss" | "https" => "https",
        "ws" | "http" => "http",
        _ => return Err(bad()),
    };
    let uri: http::Uri = format!("{scheme}://{rest}").parse().map_err(|_| bad())?;
    // Without TLS the messages could be read on the way.
    if scheme == "http" && !crate::post::is_local(&uri) {
        return Err(bad());
    }
    let broken = |why: String| SlackError::Unsure { why: format!("no socket: {why}") };
    let ready = std::future::poll_fn(|cx| connector.poll_ready(cx)).await;
    ready.map_err(|error| broken(root(error.as_ref())))?;
    let stream = connector.call(uri).await.map_err(|error| broken(root(error.as_ref())))?;
    let upgraded = tokio_tungstenite::client_async(url, TokioIo::new(stream)).await;
    let (stream, _) = upgraded.map_err(|error| broken(said_of(&error)))?;
    let now = Instant::now();
    Ok(Socket { stream, heard: now, ping: now + PING_INTERVAL })
}

/// Describes a socket error without quoting a response.
fn said_of(error: &Error) -> String {
    match error {
        Error::Http(answer) => format!("it answered with {}", answer.status().as_u16()),
        Error::Url(_) | Error::HttpFormat(_) => "the address is wrong".to_owned(),
        other => root(other),
    }
}

impl Socket {
    /// Waits for the next frame; `None` once the connection is lost. Cancel-safe.
    pub async fn next(&mut self) -> Result<Option<Frame>, SlackError> {
        let broken = |error: &Error| SlackError::Unsure { why: said_of(error) };
        loop {
            let message = tokio::select! {
                message = self.stream.next() => message,
                () = tokio::time::sleep_until(self.ping) => {
                    if self.heard.elapsed() > SILENCE_TIMEOUT {
                        return Err(SlackError::late(SILENCE_TIMEOUT));
                    }
                    self.ping = Instant::now() + PING_INTERVAL;
                    let ping = Message::Ping(Vec::new().into());
                    self.stream.send(ping).await.map_err(|error| broken(&error))?;
                    continue;
                }
            };
            self.heard = Instant::now();
            match message {
                None | Some(Ok(Message::Close(_))) => return Ok(None),
                Some(Ok(Message::Text(text))) => {
                    if let Some(frame) = frame(text.as_str()) {
                        return Ok(Some(frame));
                    }
                }
                // Pings are answered by the library.
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(broken(&error)),
            }
        }
    }

    /// Tells Slack that something is kept.
    pub async fn acknowledge(&mut self, envelope: &str) -> Result<(), SlackError> {
        let text = json!({ "envelope_id": envelope }).to_string();
        let sent = self.stream.send(Message::Text(text.into())).await;
        sent.map_err(|error| SlackError::Unsure { why: said_of(&error) })
    }

    /// Takes leave.
    pub async fn close(mut self) {
        // Best effort: Slack may be gone already.
        drop(self.stream.close(None).await);
    }
}

/// Parses a text frame; `None` for one that does not concern us.
fn frame(text: &str) -> Option<Frame> {
    let envelope: wire::Envelope = serde_json::from_str(text).ok()?;
    match envelope.kind.as_str() {
        "hello" => return Some(Frame::Hello),
        "disconnect" => return Some(Frame::Disconnect(envelope.reason.unwrap_or_default())),
        _ => {}
    }
    let id = envelope.id?;
    let mut payload = envelope.payload.unwrap_or_default();
    let event: Value = payload["event"].take();
    let is_message = matches!(event["type"].as_str(), Some("message" | "app_mention"));
    let message = serde_json::from_value::<wire::Message>(event).ok();
    let message = message
        .filter(|message| envelope.kind == "events_api" && is_message && message.channel.is_some());
    Some(match message.filter(|message| !message.ts.is_empty()) {
        Some(message) => Frame::Received(id, Box::new(message.into_incoming(""))),
        None => Frame::Other(id),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_frame_means_something_or_is_acknowledged() {
        assert_eq!(frame(r#"{"type":"hello","num_connections":1}"#), Some(Frame::Hello));
        let gone = r#"{"type":"disconnect","reason":"refresh_requested"}"#;
        assert_eq!(frame(gone), Some(Frame::Disconnect("refresh_requested".to_owned())));
        let odd = r#"{"type":"slash_commands","envelope_id":"e1","payload":{"x":1}}"#;
        assert_eq!(frame(odd), Some(Frame::Other("e1".to_owned())));
        let other = r#"{"type":"events_api","envelope_id":"e2","payload":{"event":{"type":"reaction_added"}}}"#;
        assert_eq!(frame(other), Some(Frame::Other("e2".to_owned())));
        assert_eq!(frame("not json"), None);
        assert_eq!(frame(r#"{"type":"hello_again"}"#), None);
        let said = json!({ "type": "events_api", "envelope_id": "e3", "payload": { "event": {
            "type": "app_mention", "channel": "C1", "user": "U1", "text": "hi", "ts": "1.2", "thread_ts": "1.2",
        } } });
        let Some(Frame::Received(id, said)) = frame(&said.to_string()) else {
            panic!("no message")
        };
        assert_eq!((id.as_str(), said.thread.as_deref(), said.mention), ("e3", None, true));
    }
}
