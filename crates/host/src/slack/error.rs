//! What can go wrong with Slack, and whether it may have happened all the same.

use std::error::Error;
use std::time::Duration;

use slack_morphism::errors::SlackClientError;

/// How long to leave Slack alone where it does not say.
const USUAL_PAUSE: i64 = 30;

/// Why something could not be done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SlackError {
    /// It is no address of an API.
    #[error("`slack.apiUrl` is no address that tokens may be sent to; use `https://`")]
    Address,
    /// A token cannot be sent.
    #[error("a token has signs in it that no token has")]
    OddToken,
    /// Slack says no.
    #[error("Slack says `{code}`")]
    Refused {
        /// In its own word
        code: String,
    },
    /// Slack wants to be left alone.
    #[error("Slack wants to be left alone for {seconds} s")]
    RateLimited {
        /// For so long
        seconds: i64,
    },
    /// Nobody knows whether it was done.
    #[error("{why}")]
    Unsure {
        /// Why not
        why: String,
    },
}

impl SlackError {
    pub(super) fn late(limit: Duration) -> Self {
        Self::Unsure { why: format!("no answer within {} s", limit.as_secs_f64()) }
    }

    /// What slack-morphism says, without the bodies that it quotes.
    pub(super) fn of(error: &SlackClientError) -> Self {
        match error {
            SlackClientError::ApiError(error) => Self::Refused { code: word(&error.code) },
            SlackClientError::RateLimitError(error) => {
                let seconds = error.retry_after.map(|wait| i64::try_from(wait.as_secs()));
                Self::RateLimited { seconds: seconds.and_then(Result::ok).unwrap_or(USUAL_PAUSE) }
            }
            SlackClientError::HttpError(error) if error.status_code.is_client_error() => {
                Self::Refused { code: format!("http_{}", error.status_code.as_u16()) }
            }
            SlackClientError::HttpError(error) => {
                Self::Unsure { why: format!("it answered with {}", error.status_code.as_u16()) }
            }
            SlackClientError::ProtocolError(_) => {
                Self::Unsure { why: "its answer is none of Slack's".to_owned() }
            }
            other => Self::Unsure { why: root(other) },
        }
    }
}

/// Slack's words for errors are short; whatever is not is none of them.
fn word(code: &str) -> String {
    let fits = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':');
    code.chars().filter(fits).take(60).collect()
}

/// The last cause says it best.
pub(super) fn root(error: &(dyn Error + 'static)) -> String {
    if let Some(SlackClientError::HttpProtocolError(error)) = error.downcast_ref()
        && let Some(cause) = &error.cause
    {
        return root(cause.as_ref());
    }
    if let Some(SlackClientError::SystemError(error)) = error.downcast_ref()
        && let Some(cause) = &error.cause
    {
        return root(cause.as_ref());
    }
    let mut last = error;
    while let Some(cause) = last.source() {
        last = cause;
    }
    last.to_string()
}
