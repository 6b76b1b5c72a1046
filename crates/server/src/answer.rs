//! Error responses of HTTP: one shape on every route.

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::response::{IntoResponse, Response};
use engine::{Code, ToolError};
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{StatusCode, request::Parts};
use http_body_util::{BodyExt as _, LengthLimitError};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use wire::error::ErrorBody;

use crate::connections::BodyTimeout;

/// Bodies may be so long and no longer.
pub(crate) const BODY_LIMIT: usize = 4 * 1024 * 1024;

pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A refusal on its way out.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    error: ToolError,
}

pub(crate) type Answer<T> = Result<T, Refusal>;

impl From<ToolError> for Refusal {
    fn from(error: ToolError) -> Self {
        Self { status: status_of(error.code), error }
    }
}

impl Refusal {
    /// A refusal for which HTTP has a status of its own.
    pub(crate) const fn with(status: StatusCode, error: ToolError) -> Self {
        Self { status, error }
    }

    pub(crate) fn into_parts(self) -> (StatusCode, ToolError) {
        (self.status, self.error)
    }

    pub(crate) fn too_long() -> Self {
        let error = ToolError::invalid(format!("the body is longer than {BODY_LIMIT} bytes"))
            .detail("limit", BODY_LIMIT);
        Self::with(StatusCode::PAYLOAD_TOO_LARGE, error)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = json_response(self.status, body(&self.error).to_string());
        add_headers(&mut response, self.error.code);
        response
    }
}

/// The body of an error that concerns no tool.
pub(crate) fn body(error: &ToolError) -> Value {
    json!(ErrorBody {
        code: error.code.name().to_owned(),
        message: error.message.clone(),
        suggestions: error.suggestions.clone(),
        details: error.details.clone(),
    })
}

/// Adds the headers that some codes need.
pub(crate) fn add_headers(response: &mut Response, code: Code) {
    match code {
        Code::Unauthenticated => {
            let challenge = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        // The bucket fills evenly: a second is enough for the next call. So it is, as a rule, for another server
        // to own the home.
        Code::RateLimited | Code::NoOwner => {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        _ => {}
    }
}

pub(crate) fn status_of(code: Code) -> StatusCode {
    StatusCode::from_u16(code.http()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// JSON that is text already.
pub(crate) fn json_response(status: StatusCode, text: String) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

/// True for an answer that is a stream of events.
pub(crate) fn is_stream<B>(answer: &http::Response<B>) -> bool {
    let kind = answer.headers().get(CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// Keeps something as long as the answer lasts, where that is a stream; otherwise it goes at once.
pub(crate) fn hold_while_streaming<G: Send + 'static>(held: G, answer: Response) -> Response {
    if !is_stream(&answer) {
        return answer;
    }
    answer.map(|body| {
        Body::new(body.map_frame(move |frame| {
            // The frame passes; what is held goes when the body goes.
            let _ = &held;
            frame
        }))
    })
}

/// Reads a body that is not too long.
pub(crate) async fn read_bytes(body: Body) -> Answer<Bytes> {
    axum::body::to_bytes(body, BODY_LIMIT).await.map_err(|error| {
        let error = error.into_inner();
        if error.is::<LengthLimitError>() {
            Refusal::too_long()
        } else if let Some(late) = BodyTimeout::among(error.as_ref()) {
            Refusal::with(StatusCode::REQUEST_TIMEOUT, ToolError::invalid(late.to_string()))
        } else {
            ToolError::invalid("the body ended early").into()
        }
    })
}

/// Reads a body as JSON. An empty one is `{}`.
pub(crate) async fn read_json(body: Body) -> Answer<Value> {
    let bytes = read_bytes(body).await?;
    if bytes.is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    serde_json::from_slice(&bytes)
        .map_err(|error| ToolError::invalid(format!("the body is not JSON: {error}")).into())
}

/// The body of a request, read with errors that name the field.
#[derive(Debug)]
pub(crate) struct Input<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequest<S> for Input<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, _: &S) -> Answer<Self> {
        let value = read_json(request.into_body()).await?;
        Ok(Self(engine::parse_input(&value)?))
    }
}

/// Query parameters, with errors in our own shape.
#[derive(Debug)]
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Answer<Self> {
        match Query::try_from_uri(&parts.uri) {
            Ok(Query(params)) => Ok(Self(params)),
            Err(error) => Err(query_error(&error.body_text()).into()),
        }
    }
}

/// Says which parameter of a query string is wrong, and what is wrong with it.
fn query_error(text: &str) -> ToolError {
    let problem = text.strip_prefix("Failed to deserialize query string: ").unwrap_or(text);
    match problem.split_once(": ") {
        Some((name, problem)) if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
            ToolError::invalid(format!("`{name}`: {problem}")).detail("field", name)
        }
        _ => ToolError::invalid(problem),
    }
}
