//! The body of a forwarded request on its way to the owner, under this server's own limits.

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use axum::BoxError;
use axum::body::{Body, Bytes, HttpBody};
use engine::ToolError;
use http::StatusCode;
use hyper::body::{Frame, SizeHint};

use crate::answer::{BODY_LIMIT, Refusal};
use crate::connections::BodyTimeout;

/// Why a body could not be forwarded to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum UploadError {
    /// It is longer than a body may be
    #[error("the body is too long")]
    TooLong,
    /// It did not come in time
    #[error(transparent)]
    Late(BodyTimeout),
    /// The client broke off
    #[error("the body ended early")]
    Broken,
}

impl From<UploadError> for Refusal {
    fn from(error: UploadError) -> Self {
        match error {
            UploadError::TooLong => Self::too_long(),
            UploadError::Late(late) => {
                Self::with(StatusCode::REQUEST_TIMEOUT, ToolError::invalid(late.to_string()))
            }
            UploadError::Broken => ToolError::invalid(error.to_string()).into(),
        }
    }
}

/// Tells why an upload failed, while it belongs to a connection.
#[derive(Debug, Clone, Default)]
pub(super) struct UploadState(Arc<OnceLock<UploadError>>);

impl UploadState {
    /// Why it failed, if it did.
    pub(super) fn error(&self) -> Option<UploadError> {
        self.0.get().copied()
    }
}

/// A body that passes as it comes, up to [`BODY_LIMIT`].
pub(super) struct Upload {
    body: Body,
    left: usize,
    state: UploadState,
}

impl Upload {
    pub(super) fn new(body: Body) -> (Self, UploadState) {
        let state = UploadState::default();
        (Self { body, left: BODY_LIMIT, state: state.clone() }, state)
    }

    fn fail(&self, error: UploadError) -> BoxError {
        // The first failure is the one that counts.
        _ = self.state.0.set(error);
        error.into()
    }
}

impl HttpBody for Upload {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
            None => return Poll::Ready(None),
            Some(Ok(frame)) => frame,
            Some(Err(error)) => {
                let late = BodyTimeout::among(&error).copied();
                let error = late.map_or(UploadError::Broken, UploadError::Late);
                return Poll::Ready(Some(Err(self.fail(error))));
            }
        };
        let Some(left) = self.left.checked_sub(frame.data_ref().map_or(0, Bytes::len)) else {
            return Poll::Ready(Some(Err(self.fail(UploadError::TooLong))));
        };
        self.left = left;
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
