//! Refusals for want of an owner: what happened to the request, and what to do.

use engine::{Code, ToolError};
use http::HeaderName;
use http::Method;
use http::request::Parts;

/// Key under which a request takes effect once.
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Why the owner of a home did not answer a request.
#[derive(Debug)]
pub(super) enum NoOwner {
    /// No server may answer for the home at the moment, for this reason
    Nobody(String),
    /// A follower sent the request here, and this server does not own the home either
    Forwarded,
    /// The owner cannot be reached; the request never left
    Unreachable,
    /// The request was sent, and its answer did not come
    Unanswered(Unanswered),
}

/// Why an answer did not come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerLoss {
    /// The connection broke
    Broken,
    /// Another server has taken the home
    Replaced,
    /// This server stops
    Stopping,
}

/// A request whose answer did not come.
#[derive(Debug)]
pub(super) struct Unanswered {
    pub(super) loss: AnswerLoss,
    pub(super) repeat: Repeat,
}

/// Whether a request may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeat {
    /// It changes nothing
    Harmless,
    /// It has a key under which it takes effect once
    Once,
    /// It may take effect twice
    Doubtful,
}

impl Repeat {
    /// What holds for a request.
    pub(super) fn of(request: &Parts) -> Self {
        if matches!(request.method, Method::GET | Method::HEAD | Method::OPTIONS) {
            Self::Harmless
        } else if request.headers.contains_key(IDEMPOTENCY_KEY) {
            Self::Once
        } else {
            Self::Doubtful
        }
    }
}

impl From<NoOwner> for ToolError {
    fn from(reason: NoOwner) -> Self {
        const REPEAT_ADVICE: &str = "try again in a second";
        let error = |message: String| Self::new(Code::NoOwner, message);
        match reason {
            NoOwner::Nobody(why) => {
                error(format!("no server may answer for this home at the moment: {why}"))
                    .hint(REPEAT_ADVICE)
                    .detail("outcome", "none")
            }
            NoOwner::Forwarded => {
                error("this server received a forwarded request and does not own the home".into())
                    .hint(REPEAT_ADVICE)
                    .detail("outcome", "none")
            }
            NoOwner::Unreachable => {
                error("the owner of this home cannot be reached; it is being replaced".into())
                    .hint(REPEAT_ADVICE)
                    .detail("outcome", "none")
            }
            NoOwner::Unanswered(Unanswered { loss, repeat }) => {
                let happened = match loss {
                    AnswerLoss::Broken => {
                        "the owner of this home broke the connection before it answered; it is being replaced"
                    }
                    AnswerLoss::Replaced => {
                        "the owner of this home was replaced before it answered"
                    }
                    AnswerLoss::Stopping => {
                        "this server stops, and the owner of the home has not answered yet"
                    }
                };
                match repeat {
                    Repeat::Harmless => error(happened.to_owned()).hint(REPEAT_ADVICE),
                    Repeat::Once => error(format!("{happened}; the outcome is unknown"))
                        .hint("send the request again with the same `Idempotency-Key`: it takes effect once")
                        .detail("outcome", "unknown"),
                    Repeat::Doubtful => error(format!("{happened}; the outcome is unknown"))
                        .hint("look whether it took effect before you send it again")
                        .hint("a request with an `Idempotency-Key` can be sent again with the same key: it takes effect once")
                        .detail("outcome", "unknown"),
                }
            }
        }
    }
}
