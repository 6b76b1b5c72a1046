//! Events over a WebSocket: one message each; incoming messages are refused.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::response::Response;
use engine::{Tab, ToolError};
use futures_util::SinkExt as _;
use http::StatusCode;
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Error as WireError;
use wire::event::StreamHead;

use super::follow::{End, Follow, StreamUpdate};
use super::{EventStreamQuery, wanted};
use crate::answer::{Answer, Params, Refusal};
use crate::auth::WS_PROTOCOL;
use crate::shared::Shared;

/// Limit of a client's message in bytes.
const MAX_INCOMING_BYTES: usize = 4096;
/// Time for the other side to receive the close.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

pub(crate) async fn follow(
    State(shared): State<Arc<Shared>>,
    tab: Option<Extension<Tab>>,
    Params(asked): Params<EventStreamQuery>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Answer<Response> {
    let wanted = wanted(&shared, asked).await?;
    let upgrade = upgrade.map_err(|problem| {
        let error =
            ToolError::invalid(format!("this route is a WebSocket: {}", problem.body_text()))
                .hint("`GET /api/events` with `Accept: text/event-stream` says the same over HTTP");
        Refusal::with(StatusCode::UPGRADE_REQUIRED, error)
    })?;
    let (follow, head) = Follow::new(&shared, wanted, tab.map(|tab| tab.0))?;
    let upgrade = upgrade
        .protocols([WS_PROTOCOL])
        .max_message_size(MAX_INCOMING_BYTES)
        .max_frame_size(MAX_INCOMING_BYTES);
    Ok(upgrade.on_upgrade(async move |mut socket| {
        // So that the end of the server waits for the farewell.
        let _counted = shared.tasks.token();
        if let Some(farewell) = tell(&mut socket, follow, &head).await {
            drop(timeout(CLOSE_TIMEOUT, part(&mut socket, farewell)).await);
        }
    }))
}

/// Tells what happens until it ends, and how to part; nothing where the other side has gone.
async fn tell(socket: &mut WebSocket, mut follow: Follow, head: &StreamHead) -> Option<CloseFrame> {
    let mut first = serde_json::to_value(head).unwrap_or_default();
    first["type"] = "head".into();
    socket.send(text(&first)).await.ok()?;
    let end = follow.end();
    loop {
        let news = tokio::select! {
            biased;
            heard = socket.recv() => match refused(heard) {
                IncomingFrame::Nothing => continue,
                IncomingFrame::Gone => return None,
                IncomingFrame::Wrong(farewell) => return Some(farewell),
            },
            news = follow.next() => news,
        };
        // One who does not read is not waited for when the server ends.
        tokio::select! {
            biased;
            () = end.cancelled() => return Some(farewell(&End::Server)),
            sent = send(socket, news) => match sent {
                Ok(None) => {}
                Ok(Some(farewell)) => return Some(farewell),
                Err(_) => return None,
            },
        }
    }
}

/// Sends what is news, and says how to part where that is it.
async fn send(
    socket: &mut WebSocket,
    news: StreamUpdate,
) -> Result<Option<CloseFrame>, axum::Error> {
    match news {
        StreamUpdate::Events(told) => {
            for event in told {
                // An object, and so it begins with a brace.
                let rest = event.text.strip_prefix('{').unwrap_or_default();
                socket.feed(Message::Text(format!("{{\"type\":\"event\",{rest}").into())).await?;
            }
            socket.flush().await?;
        }
        StreamUpdate::LastNumber(number) => {
            socket.send(text(&json!({ "type": "seen", "last": number }))).await?;
        }
        StreamUpdate::Nothing => socket.send(Message::Ping(axum::body::Bytes::new())).await?,
        StreamUpdate::End(end) => return Ok(Some(farewell(&end))),
    }
    Ok(None)
}

/// Message from the other side.
enum IncomingFrame {
    /// Nothing that matters
    Nothing,
    /// It has gone
    Gone,
    /// Something that it may not
    Wrong(CloseFrame),
}

fn refused(heard: Option<Result<Message, axum::Error>>) -> IncomingFrame {
    match heard {
        Some(Ok(Message::Ping(_) | Message::Pong(_))) => IncomingFrame::Nothing,
        Some(Ok(Message::Close(_))) | None => IncomingFrame::Gone,
        Some(Ok(Message::Text(_))) => IncomingFrame::Wrong(frame(
            close_code::POLICY,
            "this socket only sends events and accepts no messages",
        )),
        Some(Ok(Message::Binary(_))) => {
            IncomingFrame::Wrong(frame(close_code::UNSUPPORTED, "this socket only sends events"))
        }
        Some(Err(error)) => match error.into_inner().downcast::<WireError>() {
            Ok(error) if matches!(*error, WireError::Capacity(_)) => IncomingFrame::Wrong(frame(
                close_code::SIZE,
                "the message is too long, and no messages are accepted",
            )),
            _ => IncomingFrame::Gone,
        },
    }
}

fn farewell(end: &End) -> CloseFrame {
    match end {
        End::Server => frame(close_code::AWAY, "the server stops; reconnect with `after`"),
        End::Token => frame(close_code::POLICY, "the token is no longer valid"),
        End::Record(error) => {
            tracing::error!(%error, "failed to read events");
            frame(close_code::ERROR, "the record cannot be read; see the server's log")
        }
        End::Removed(_) => {
            frame(close_code::AGAIN, "events were removed; reload, then follow with `after=now`")
        }
    }
}

fn frame(code: u16, reason: &'static str) -> CloseFrame {
    CloseFrame { code, reason: reason.into() }
}

/// Says why it is over, and waits until the other side has heard it.
async fn part(socket: &mut WebSocket, farewell: CloseFrame) {
    if socket.send(Message::Close(Some(farewell))).await.is_ok() {
        while let Some(Ok(_)) = socket.recv().await {}
    }
}

fn text(value: &Value) -> Message {
    Message::Text(value.to_string().into())
}
