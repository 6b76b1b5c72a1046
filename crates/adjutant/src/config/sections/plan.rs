//! Section `plan`: role and limits of coordinators.

use engine::settings::PlanSettings;
use serde::{Deserialize, Serialize};

use super::review::{role, rounds};

/// Plans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Plan {
    /// Role of a plan's coordinator
    #[serde(deserialize_with = "role")]
    pub(crate) role: String,
    /// Coordinators in a row without progress
    #[serde(deserialize_with = "rounds")]
    pub(crate) attempts: u32,
}

impl Default for Plan {
    fn default() -> Self {
        let PlanSettings { role, attempts } = PlanSettings::default();
        Self { role, attempts }
    }
}

impl From<&Plan> for PlanSettings {
    fn from(plan: &Plan) -> Self {
        let Plan { role, attempts } = plan.clone();
        Self { role, attempts }
    }
}
