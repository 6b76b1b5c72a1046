//! A session of the older protocol era, as the bridge remembers it.

use http::header::{HeaderMap, HeaderValue};
use hyper::body::Bytes;

use super::message::{PROTOCOL_VERSION, SESSION_ID};

/// Session agreed on by `initialize`.
#[derive(Debug, Clone)]
pub(super) struct Session {
    /// Its id; a server may keep none
    id: Option<HeaderValue>,
    version: Option<HeaderValue>,
    /// The client's own `initialize`, to be sent again if the server forgets the session
    pub(super) initialize: Bytes,
}

impl Session {
    pub(super) fn new(id: Option<&str>, version: &str, initialize: Bytes) -> Self {
        let header = |text: &str| HeaderValue::from_str(text).ok();
        Self { id: id.and_then(header), version: header(version), initialize }
    }

    /// True if the server keeps state for it.
    pub(super) fn is_kept(&self) -> bool {
        self.id.is_some()
    }

    /// True for the same session.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.id == other.id
    }

    /// Puts it into a request's headers.
    pub(super) fn put(&self, headers: &mut HeaderMap) {
        for (name, value) in [(SESSION_ID, &self.id), (PROTOCOL_VERSION, &self.version)] {
            if let Some(value) = value {
                headers.insert(name, value.clone());
            }
        }
    }
}
