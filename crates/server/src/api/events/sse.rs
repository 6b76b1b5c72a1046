//! Events as server-sent events.
//!
//! An event is a plain message with its number as `id`, so that any reader understands it and a
//! browser resumes by itself. Beside them there are `head` (first, where the sequence stands), `seen`
//! (how far it was looked where nothing was asked for) and `failed` (why the stream ends).

use std::convert::Infallible;
use std::fmt::Write as _;

use axum::body::{Body, Bytes};
use axum::response::Response;
use futures_util::stream;
use http::HeaderName;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use serde::Serialize;
use serde_json::json;
use wire::event::StreamHead;

use super::follow::{End, Follow, StreamUpdate};
use crate::answer::body;

/// `text/event-stream`.
pub(super) const EVENT_STREAM: &str = "text/event-stream";

/// Reconnect delay for readers, in milliseconds.
const RETRY: u32 = 1000;

/// The answer that goes on as long as things happen.
pub(super) fn respond(follow: Follow, head: &StreamHead) -> Response {
    let first = format!("retry: {RETRY}\n{}", named("head", Some(head.after), head));
    let opened = stream::iter([Ok::<_, Infallible>(Bytes::from(first))]);
    let rest = stream::unfold(Some(follow), |follow| async {
        let mut follow = follow?;
        let (chunk, goes_on) = chunk(follow.next().await)?;
        Some((Ok(chunk), goes_on.then_some(follow)))
    });
    let mut response = Response::new(Body::from_stream(stream::StreamExt::chain(opened, rest)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // A proxy that collects before it hands on would make a stream of it that stands still.
    let unbuffered = HeaderName::from_static("x-accel-buffering");
    headers.insert(unbuffered, HeaderValue::from_static("no"));
    response
}

/// Bytes to send and whether more follows; `None` at the end.
fn chunk(news: StreamUpdate) -> Option<(Bytes, bool)> {
    let (text, goes_on) = match news {
        StreamUpdate::Events(told) => {
            let mut text = String::new();
            for event in told {
                // Writing to a String cannot fail.
                _ = write!(text, "id: {}\ndata: {}\n\n", event.number, event.text);
            }
            (text, true)
        }
        StreamUpdate::LastNumber(number) => {
            (named("seen", Some(number), &json!({ "last": number })), true)
        }
        StreamUpdate::Nothing => (":\n\n".to_owned(), true),
        // A client that comes back reads on from its position.
        StreamUpdate::End(End::Server | End::Token) => return None,
        StreamUpdate::End(End::Record(error) | End::Removed(error)) => {
            (named("failed", None, &body(&error)), false)
        }
    };
    Some((text.into(), goes_on))
}

fn named(name: &str, id: Option<i64>, data: &impl Serialize) -> String {
    // These values are plain: they can be written.
    let data = serde_json::to_string(data).unwrap_or_default();
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    format!("{id}event: {name}\ndata: {data}\n\n")
}
