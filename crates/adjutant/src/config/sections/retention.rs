//! Ages at which old data is removed.

use engine::settings::RetentionSettings;
use model::Age;
use serde::{Deserialize, Serialize};

/// Ages at which old data is removed. Absent means never.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Retention {
    /// Run folders
    pub(crate) runs: Option<Age>,
    /// Raw output of agents
    pub(crate) output: Option<Age>,
    /// Branches and rescue branches of agents
    pub(crate) branches: Option<Age>,
    /// Messages that webhooks have taken
    pub(crate) deliveries: Option<Age>,
    /// Answers to calls with an idempotency key
    pub(crate) answers: Option<Age>,
    /// Events
    pub(crate) events: Option<Age>,
    /// Calls in the audit record
    pub(crate) audit: Option<Age>,
}

impl Default for Retention {
    fn default() -> Self {
        let RetentionSettings { runs, output, branches, deliveries, answers, events, audit } =
            RetentionSettings::default();
        Self { runs, output, branches, deliveries, answers, events, audit }
    }
}

impl From<&Retention> for RetentionSettings {
    fn from(retention: &Retention) -> Self {
        let Retention { runs, output, branches, deliveries, answers, events, audit } = *retention;
        Self { runs, output, branches, deliveries, answers, events, audit }
    }
}
