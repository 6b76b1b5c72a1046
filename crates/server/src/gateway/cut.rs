//! When a forwarded request is not waited for any longer, and what becomes of an answer that has begun.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::BoxError;
use axum::body::{Bytes, HttpBody};
use futures_util::future::BoxFuture;
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::HomeRole;
use super::no_owner::AnswerLoss;

/// Time that a former owner has to send what it has answered. One that hangs, or is cut off, never breaks the
/// connection by itself.
const FORMER_OWNER_GRACE: Duration = Duration::from_secs(2);

/// Completes when a request is not to be waited for any longer.
pub(super) type Cut = BoxFuture<'static, AnswerLoss>;

/// Completes a moment after another server has taken the home, or when this server ends.
pub(super) fn cut(
    owner_url: String,
    mut role: watch::Receiver<HomeRole>,
    ended: CancellationToken,
) -> Cut {
    let replaced = async move {
        let is_replaced = role.wait_for(|role| is_another(role, &owner_url)).await.is_ok();
        if !is_replaced {
            // Nobody will ever say so.
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(FORMER_OWNER_GRACE).await;
    };
    Box::pin(async move {
        tokio::select! {
            () = replaced => AnswerLoss::Replaced,
            () = ended.cancelled_owned() => AnswerLoss::Stopping,
        }
    })
}

/// True if the home is known to have another owner. As long as none is known, the present one may go on.
fn is_another(role: &HomeRole, owner: &str) -> bool {
    match role {
        HomeRole::Following { owner_url } => owner_url != owner,
        HomeRole::Owning(_) => true,
        HomeRole::Waiting { .. } | HomeRole::Suspended { .. } => false,
    }
}

/// How an answer looks to the client that is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// It is whole: a stream of events may end at any point
    Whole,
    /// It has broken off
    Broken,
}

/// The body of an answer on its way to the client: it passes as it comes, until it is cut.
pub(super) struct Download {
    body: Incoming,
    cut: Cut,
    end: End,
    is_cut: bool,
}

impl Download {
    pub(super) fn new(body: Incoming, cut: Cut, end: End) -> Self {
        Self { body, cut, end, is_cut: false }
    }
}

impl HttpBody for Download {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if self.is_cut {
            return Poll::Ready(None);
        }
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) {
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        if self.cut.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        self.is_cut = true;
        Poll::Ready(match self.end {
            End::Whole => None,
            End::Broken => {
                Some(Err(io::Error::other("the answer of the home's owner was cut off").into()))
            }
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
