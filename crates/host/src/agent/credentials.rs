//! Recognises that a provider refuses an agent's credentials.
//!
//! A client whose login has expired is refused once, renews it and goes on. So a refusal after which the client tries
//! again decides when it is the second in a row; one at which the client gives up decides at once.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Event;

/// Refusals in a row after which the credentials count as wrong.
const MAX_REFUSALS: u8 = 2;
/// HTTP status of a refusal.
const UNAUTHORIZED: u64 = 401;

/// Refusals since the provider last answered.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Refusals(u8);

impl Refusals {
    /// Notes a refusal after which the client tries again. Gives an event once the credentials count as wrong.
    pub(super) fn tried_again(&mut self, words: &str) -> Event {
        self.0 = self.0.saturating_add(1);
        if self.0 >= MAX_REFUSALS {
            Event::Unauthorized(words.to_owned())
        } else {
            Event::Warning(format!("its provider refused its credentials: {words}"))
        }
    }

    /// Notes that the provider answered.
    pub(super) fn accepted(&mut self) {
        self.0 = 0;
    }
}

/// Returns whether a number is the HTTP status of a refusal.
pub(super) fn is_refusal(status: &Value) -> bool {
    status.as_u64() == Some(UNAUTHORIZED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_that_is_renewed_after_a_refusal_counts_as_valid() {
        let mut refusals = Refusals::default();
        let is_final = |event: Event| matches!(event, Event::Unauthorized(_));
        assert!(!is_final(refusals.tried_again("expired")));
        refusals.accepted();
        assert!(!is_final(refusals.tried_again("expired")));
        assert!(is_final(refusals.tried_again("expired")));
    }
}
