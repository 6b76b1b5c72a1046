//! Webhooks from GitHub.

use model::review::PullState;
use octocrab::models::webhook_events::verification;

use super::Repository;
use super::wire::PullHook;

/// A pull request that changed its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullEvent {
    /// Its repository, as owner and name
    pub repository: (String, String),
    /// Its number there
    pub number: u64,
    /// New state
    pub state: PullState,
}

impl PullEvent {
    /// True if it concerns this repository; GitHub ignores case.
    pub fn is_about(&self, repository: &Repository) -> bool {
        let (owner, name) = &self.repository;
        owner.eq_ignore_ascii_case(repository.owner())
            && name.eq_ignore_ascii_case(repository.name())
    }
}

/// Verifies a body's signature; `header` is `X-Hub-Signature-256`. Compares in constant time.
pub fn verify_signature(secret: &[u8], body: &[u8], header: &str) -> bool {
    // Without a secret everybody could sign.
    !secret.is_empty() && verification::verify_signature(header, secret, body).is_ok()
}

/// Parses a webhook named `name` (`X-GitHub-Event`) that reports a pull request's state.
pub fn parse_event(name: &str, body: &[u8]) -> Option<PullEvent> {
    if name != "pull_request" {
        return None;
    }
    let hook: PullHook = serde_json::from_slice(body).ok()?;
    let merged = hook.pull_request.merged.unwrap_or_default();
    let state = match hook.action.as_str() {
        "closed" if merged => PullState::Merged,
        "closed" => PullState::Closed,
        "reopened" => PullState::Open,
        _ => return None,
    };
    let repository = (hook.repository.owner.login, hook.repository.name);
    Some(PullEvent { repository, number: hook.number, state })
}
