//! Errors of Slack, and whether the request may still have taken effect.

use std::error::Error;
use std::time::Duration;

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

    /// A refusal by the code that Slack gave.
    pub(super) fn refused(code: &str) -> Self {
        let code = word(code);
        Self::Refused { code: if code.is_empty() { "unknown_error".to_owned() } else { code } }
    }
}

/// Slack's words for errors are short; whatever is not is none of them.
fn word(code: &str) -> String {
    let fits = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':');
    code.chars().filter(fits).take(60).collect()
}

/// The last cause says it best.
pub(super) fn root(error: &(dyn Error + 'static)) -> String {
    let mut last = error;
    while let Some(cause) = last.source() {
        last = cause;
    }
    last.to_string()
}
