//! Redacts every response of the read routes under `/api`.

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use engine::{Principal, ToolError};
use http::StatusCode;
use http::header::CONTENT_LENGTH;
use http_body_util::BodyExt as _;

use crate::answer::Refusal;

/// The chain as it stands: its hashes cover every byte, so that the operator can verify what is exported. New rows
/// are redacted when they are written; one of an older version may hold what is recognised only now.
const CHAIN: &str = "/api/audit";

/// Redacts whatever a read answers.
pub(crate) async fn redact_reads(request: Request, next: Next) -> Response {
    let by_operator = request.extensions().get::<Principal>() == Some(&Principal::Operator);
    let is_chain = by_operator && request.uri().path() == CHAIN;
    let response = next.run(request).await;
    if is_chain { response } else { redact_response(response).await }
}

/// Takes secrets out of a response: out of the whole body where there is one, else out of each chunk of a stream.
/// Chunks of ours are whole events or whole rows.
async fn redact_response(response: Response) -> Response {
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        // Messages of a WebSocket are redacted where events are put into words.
        return response;
    }
    let (mut parts, body) = response.into_parts();
    if body.size_hint().exact().is_none() {
        let chunks = body.map_frame(|frame| frame.map_data(redact_bytes));
        return Response::from_parts(parts, Body::new(chunks));
    }
    match body.collect().await {
        Ok(whole) => {
            let bytes = redact_bytes(whole.to_bytes());
            parts.headers.remove(CONTENT_LENGTH);
            Response::from_parts(parts, Body::from(bytes))
        }
        Err(error) => Refusal::from(ToolError::internal(error)).into_response(),
    }
}

/// The same bytes where there is no secret in them. What is not text is nobody's to read either way.
fn redact_bytes(bytes: Bytes) -> Bytes {
    let clean = std::str::from_utf8(&bytes).ok().and_then(model::redact::scrub);
    clean.map_or(bytes, Bytes::from)
}
