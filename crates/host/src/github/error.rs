//! Errors of GitHub, with advice.

use std::error::Error;
use std::time::Duration;

use http::{HeaderMap, StatusCode};
use model::Timestamp;
use serde_json::Value;

use super::wire::Refusal;

/// Pause when GitHub does not say how long to wait.
const DEFAULT_PAUSE_SECONDS: i64 = 60;

/// Why GitHub did not do it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GitHubError {
    /// The address in the settings is none.
    #[error(
        "`{url}` is not the address of a GitHub API: set `github.api_url` to `https://api.github.com`, or to \
         `https://HOST/api/v3` for a server of your own"
    )]
    Url {
        /// The address, without secrets
        url: String,
    },
    /// The token fits into no request.
    #[error(
        "the GitHub token has characters that no token has: set `GITHUB_TOKEN` to the token alone"
    )]
    OddToken,
    /// This machine cannot speak TLS.
    #[error(
        "this machine cannot make secure connections ({why}): install its certificates (`ca-certificates`)"
    )]
    Client {
        /// Description of the problem
        why: String,
    },
    /// There is no token.
    #[error(
        "there is no GitHub token: set `GITHUB_TOKEN` to one that may write to the repository, and start the server again"
    )]
    NoToken,
    /// GitHub does not know the token.
    #[error(
        "GitHub does not accept the token (401): it may have expired; make a new one and set `GITHUB_TOKEN`"
    )]
    BadToken,
    /// The token may not do this.
    #[error(
        "GitHub does not allow this (403): {message}; give the token write access to pull requests and issues"
    )]
    Forbidden {
        /// GitHub's message
        message: String,
    },
    /// There is no such thing, or the token cannot see it.
    #[error(
        "GitHub has no {what}, or the token cannot see it (404): check the remote's address and what the token may read"
    )]
    NotFound {
        /// Requested object
        what: String,
    },
    /// GitHub refuses what it was sent.
    #[error("GitHub refuses this ({status}): {}", .messages.join("; "))]
    Refused {
        /// GitHub's status
        status: u16,
        /// GitHub's messages
        messages: Vec<String>,
    },
    /// There were too many requests.
    #[error(
        "GitHub takes no more requests before {until}: wait until then; what is under way goes on by itself"
    )]
    RateLimited {
        /// When it takes some again
        until: Timestamp,
    },
    /// No connection, or one that broke.
    #[error("could not reach GitHub at `{api}` ({why}): check the network and `github.api_url`")]
    Unreachable {
        /// Where it was looked for
        api: String,
        /// Description of the failure
        why: String,
    },
    /// No answer in time.
    #[error("GitHub did not answer within {after:?}: try again later")]
    TooSlow {
        /// Time waited
        after: Duration,
    },
    /// GitHub itself has an error.
    #[error(
        "GitHub is in trouble ({status}): try again later, or see what it says of its own state"
    )]
    Failing {
        /// GitHub's status
        status: u16,
    },
    /// It is elsewhere, where the token is not sent.
    #[error(
        "GitHub says that this is at `{to}` now: set the remote's address, or `github.api_url`, to the new one"
    )]
    Moved {
        /// Where it is said to be
        to: String,
    },
    /// The answer makes no sense.
    #[error(
        "GitHub's answer cannot be understood ({why}): check that `github.api_url` is the address of its API"
    )]
    Unreadable {
        /// Description of the problem
        why: String,
    },
    /// There is more than is looked at.
    #[error(
        "{repository} has had too many new issues to find one again: look for it on GitHub by hand"
    )]
    TooMany {
        /// The repository
        repository: String,
    },
}

impl GitHubError {
    /// True if a later retry may succeed by itself.
    pub const fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::RateLimited { .. }
                | Self::Unreachable { .. }
                | Self::TooSlow { .. }
                | Self::Failing { .. }
        )
    }

    /// When to try again, if GitHub gives a time.
    pub const fn retry_at(&self) -> Option<Timestamp> {
        match self {
            Self::RateLimited { until } => Some(*until),
            _ => None,
        }
    }

    /// True if GitHub's refusal contains these words.
    pub(super) fn says(&self, words: &str) -> bool {
        let Self::Refused { messages, .. } = self else { return false };
        messages.iter().any(|message| message.contains(words))
    }

    /// Classifies an unsuccessful response; `shown` sanitises GitHub's text.
    pub(super) fn refusal(
        refused: &GitHubRefusal<'_>,
        now: Timestamp,
        shown: impl Fn(&str) -> String,
    ) -> Self {
        let GitHubRefusal { status, headers, body, what } = refused;
        let refusal: Refusal = serde_json::from_slice(body).unwrap_or_default();
        match status.as_u16() {
            401 => Self::BadToken,
            403 | 429 => match pause(*status, headers, &refusal.message, now) {
                Some(until) => Self::RateLimited { until },
                None => Self::Forbidden { message: shown(&refusal.message) },
            },
            404 => Self::NotFound { what: (*what).to_owned() },
            status if status >= 500 => Self::Failing { status },
            status => {
                let messages = messages(&refusal).iter().map(|text| shown(text)).collect();
                Self::Refused { status, messages }
            }
        }
    }
}

/// An answer without success.
#[derive(Debug)]
pub(super) struct GitHubRefusal<'a> {
    pub(super) status: StatusCode,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a [u8],
    /// Requested object
    pub(super) what: &'a str,
}

/// Until when GitHub wants to be left alone, if that is why it refuses.
fn pause(
    status: StatusCode,
    headers: &HeaderMap,
    message: &str,
    now: Timestamp,
) -> Option<Timestamp> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<i64>().ok();
    if let Some(seconds) = number("retry-after") {
        return Some(now.after_seconds(seconds.max(0)));
    }
    if number("x-ratelimit-remaining") == Some(0) {
        let reset =
            number("x-ratelimit-reset").map(|at| Timestamp::from_millis(at.saturating_mul(1000)));
        return Some(reset.unwrap_or_else(|| now.after_seconds(DEFAULT_PAUSE_SECONDS)));
    }
    let limited = status == StatusCode::TOO_MANY_REQUESTS || message.contains("rate limit");
    limited.then(|| now.after_seconds(DEFAULT_PAUSE_SECONDS))
}

/// GitHub's detailed messages, else its general one.
fn messages(refusal: &Refusal) -> Vec<String> {
    let detail = |error: &Value| match error {
        Value::String(text) => Some(text.clone()),
        _ => match (error["message"].as_str(), error["field"].as_str(), error["code"].as_str()) {
            (Some(message), ..) => Some(message.to_owned()),
            (None, Some(field), Some(code)) => Some(format!("`{field}`: {code}")),
            (None, None, code) => code.map(str::to_owned),
            (None, Some(field), None) => Some(format!("`{field}`")),
        },
    };
    let details: Vec<String> = refusal.errors.iter().filter_map(detail).collect();
    match details.as_slice() {
        [] if refusal.message.is_empty() => vec!["it does not say why".to_owned()],
        [] => vec![refusal.message.clone()],
        _ => details,
    }
}

/// Text of an error's root cause.
pub(super) fn root(error: &dyn Error) -> String {
    let mut error = error;
    while let Some(below) = error.source() {
        error = below;
    }
    error.to_string()
}
