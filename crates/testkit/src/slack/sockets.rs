//! Socket Mode.

use std::sync::Arc;

use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use tokio::sync::mpsc::unbounded_channel;

use super::record::SocketCommand;
use super::{Shared, TICKET};

pub(super) async fn link(
    State(shared): State<Arc<Shared>>,
    RawQuery(query): RawQuery,
    upgrade: WebSocketUpgrade,
) -> Response {
    if query.as_deref() != Some(&format!("ticket={TICKET}")) {
        return StatusCode::FORBIDDEN.into_response();
    }
    upgrade.on_upgrade(|socket| talk(shared, socket))
}

/// What stands between two frames.
enum SocketEvent {
    GoOn,
    Break,
}

async fn talk(shared: Arc<Shared>, mut socket: WebSocket) {
    let hello = json!({
        "type": "hello", "num_connections": 1, "connection_info": { "app_id": "A1" },
        "debug_info": { "host": "applink-1", "build_number": 1, "approximate_connection_time": 18060 },
    });
    if socket.send(Message::Text(hello.to_string().into())).await.is_err() {
        return;
    }
    let (sender, mut orders) = unbounded_channel();
    let number = {
        let mut record = shared.record();
        record.opened += 1;
        let number = record.opened;
        record.sockets.insert(number, sender);
        number
    };
    shared.touch();
    // Slack asks now and then whether anybody is there.
    let mut next = match socket.send(Message::Ping("ping".into())).await {
        Ok(()) => send(&shared, &mut socket, number).await,
        Err(_) => SocketEvent::Break,
    };
    while matches!(next, SocketEvent::GoOn) {
        next = tokio::select! {
            order = orders.recv() => match order {
                Some(SocketCommand::Look) => send(&shared, &mut socket, number).await,
                Some(SocketCommand::Leave(Some(reason))) => {
                    let frame = json!({ "type": "disconnect", "reason": reason, "debug_info": { "host": "applink-1" } });
                    drop(socket.send(Message::Text(frame.to_string().into())).await);
                    drop(socket.send(Message::Close(None)).await);
                    SocketEvent::Break
                }
                Some(SocketCommand::Leave(None)) | None => SocketEvent::Break,
            },
            frame = socket.recv() => match frame {
                Some(Ok(Message::Text(text))) => hear(&shared, text.as_str()),
                Some(Ok(Message::Close(_)) | Err(_)) | None => SocketEvent::Break,
                Some(Ok(_)) => SocketEvent::GoOn,
            },
        };
    }
    shared.record().sockets.remove(&number);
    shared.touch();
}

/// Sends every envelope that was not acknowledged and not sent over this connection yet.
async fn send(shared: &Shared, socket: &mut WebSocket, number: usize) -> SocketEvent {
    loop {
        let (frame, breaks) = {
            let mut record = shared.record();
            let breaks = record.drop_after_sending;
            let open = record.envelopes.iter_mut();
            let Some(envelope) =
                open.into_iter().find(|one| !one.acknowledged && one.over != number)
            else {
                return SocketEvent::GoOn;
            };
            (envelope.over, envelope.sent) = (number, envelope.sent + 1);
            let mut frame = json!({
                "type": "events_api", "envelope_id": envelope.id, "payload": envelope.payload,
                "accepts_response_payload": false, "retry_attempt": envelope.sent - 1, "retry_reason": "",
            });
            if envelope.sent > 1 {
                frame["retry_reason"] = "timeout".into();
            }
            record.drop_after_sending = false;
            (frame, breaks)
        };
        if socket.send(Message::Text(frame.to_string().into())).await.is_err() || breaks {
            return SocketEvent::Break;
        }
    }
}

/// An acknowledgement; anything else is none of Slack's business.
fn hear(shared: &Shared, text: &str) -> SocketEvent {
    let frame: Value = serde_json::from_str(text).unwrap_or_default();
    let mut record = shared.record();
    let id = frame["envelope_id"].as_str().unwrap_or_default();
    let Some(envelope) = record.envelopes.iter_mut().find(|one| one.id == id) else {
        return SocketEvent::Break;
    };
    envelope.acknowledged = true;
    let breaks = std::mem::take(&mut record.drop_after_hearing);
    drop(record);
    shared.touch();
    if breaks { SocketEvent::Break } else { SocketEvent::GoOn }
}
