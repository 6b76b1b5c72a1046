//! The messages in an HTTP answer, be it one document or a stream of events.

use std::time::Duration;

use http::Response;
use http::header::CONTENT_TYPE;
use http_body_util::BodyExt as _;
use hyper::body::{Bytes, Incoming};

use super::sse::Parser;

/// A message longer than this is not ours.
const MAX_MESSAGE_BYTES: usize = 64 * 1024 * 1024;

/// The messages of one answer.
#[derive(Debug)]
pub(crate) struct Messages {
    body: Incoming,
    form: Form,
    /// True if anything was received
    heard: bool,
}

#[derive(Debug)]
enum Form {
    Document(Vec<u8>),
    Events(Parser),
}

impl Messages {
    pub(crate) fn of(response: Response<Incoming>) -> Self {
        let form = match response.headers().get(CONTENT_TYPE) {
            Some(kind) if kind.as_bytes().starts_with(b"text/event-stream") => {
                Form::Events(Parser::default())
            }
            _ => Form::Document(Vec::new()),
        };
        Self { body: response.into_body(), form, heard: false }
    }

    /// The next message, or nothing at the end. May be given up at any time.
    pub(crate) async fn next(
        &mut self,
    ) -> Result<Option<Bytes>, Box<dyn std::error::Error + Send + Sync>> {
        loop {
            if let Form::Events(parser) = &mut self.form
                && let Some(event) = parser.pop()
            {
                return Ok(Some(event.data.into()));
            }
            let frame = self.body.frame().await.transpose()?;
            let Some(frame) = frame else {
                return Ok(match &mut self.form {
                    Form::Document(bytes) if !bytes.is_empty() => {
                        Some(std::mem::take(bytes).into())
                    }
                    _ => None,
                });
            };
            let Ok(bytes) = frame.into_data() else { continue };
            self.heard = true;
            let held = match &mut self.form {
                Form::Document(document) => {
                    document.extend_from_slice(&bytes);
                    document.len()
                }
                Form::Events(parser) => {
                    parser.push(&bytes);
                    parser.held()
                }
            };
            if held > MAX_MESSAGE_BYTES {
                return Err("the answer is too long".into());
            }
        }
    }

    /// True if anything was received.
    pub(super) fn heard(&self) -> bool {
        self.heard
    }

    /// Where to go on from, if the server gave a place.
    pub(super) fn last_id(&self) -> Option<String> {
        match &self.form {
            Form::Events(parser) => parser.last_id().map(str::to_owned),
            Form::Document(_) => None,
        }
    }

    /// Reconnect delay requested by the server.
    pub(super) fn retry(&self) -> Option<Duration> {
        match &self.form {
            Form::Events(parser) => parser.retry(),
            Form::Document(_) => None,
        }
    }
}
