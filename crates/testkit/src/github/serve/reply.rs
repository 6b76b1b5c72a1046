//! One answer.

use std::io;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::CONTENT_TYPE;
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

const DOCUMENTATION: &str = "https://docs.github.com/rest";

#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    headers: Vec<(&'static str, String)>,
    /// A text is sent as it is, and everything else as JSON.
    pub(super) body: Value,
}

impl Reply {
    pub(super) const fn json(status: StatusCode, body: Value) -> Self {
        Self { status, headers: Vec::new(), body }
    }

    pub(super) fn text(status: StatusCode, text: &str) -> Self {
        Self::json(status, text.into())
    }

    pub(super) fn error(status: StatusCode, message: &str) -> Self {
        let code = status.as_str();
        let body =
            json!({ "message": message, "documentation_url": DOCUMENTATION, "status": code });
        Self::json(status, body)
    }

    /// A refusal of what was sent; each error has at least a `code`.
    pub(super) fn invalid(errors: &[Value]) -> Self {
        let mut reply = Self::error(StatusCode::UNPROCESSABLE_ENTITY, "Validation Failed");
        reply.body["errors"] = errors.into();
        reply
    }

    pub(super) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.add(name, value);
        self
    }

    /// Adds a header, unless it is there.
    pub(super) fn add(&mut self, name: &'static str, value: &str) {
        if !self.headers.iter().any(|(one, _)| *one == name) {
            self.headers.push((name, value.to_owned()));
        }
    }

    pub(super) fn into_response(self) -> io::Result<Response<Full<Bytes>>> {
        let (kind, text) = match self.body {
            Value::String(text) => ("text/html", text),
            body => ("application/json; charset=utf-8", body.to_string()),
        };
        let mut response = Response::builder().status(self.status).header(CONTENT_TYPE, kind);
        for (name, value) in self.headers {
            response = response.header(name, value);
        }
        response.body(Full::new(Bytes::from(text))).map_err(io::Error::other)
    }
}
