//! Settings of reviews, GitHub, the office and the check.

use model::review::{OnApproval, ReviewRequired};

/// The review loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewSettings {
    /// Maximum number of reviews per coder
    pub max_iterations: u32,
    /// After how many failed reviews a coder is abandoned
    pub auto_abandon_after: u32,
    /// After how many hours a stuck review is ended
    pub timeout_hours: u32,
    /// The role that reviews
    pub role: String,
    /// Review of the work that agents leave whom a person started, where their role does not decide
    pub required: ReviewRequired,
    /// What follows when a reviewer approves; `None` is a pull request where GitHub can be used, else a person
    pub on_approval: Option<OnApproval>,
    /// True if approved work is merged as one commit
    pub squash: bool,
}

impl Default for ReviewSettings {
    fn default() -> Self {
        Self {
            max_iterations: 3,
            auto_abandon_after: 5,
            timeout_hours: 24,
            role: "reviewer".to_owned(),
            required: ReviewRequired::Person,
            on_approval: None,
            squash: false,
        }
    }
}

/// GitHub. Its secrets are no settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GithubSettings {
    /// The base URL of the API
    pub api_url: String,
    /// The remote that is on GitHub
    pub remote: String,
    /// Poll interval for open pull requests, in seconds; 0 is never
    pub poll_seconds: u32,
}

impl Default for GithubSettings {
    fn default() -> Self {
        Self {
            api_url: "https://api.github.com".to_owned(),
            remote: "origin".to_owned(),
            poll_seconds: 60,
        }
    }
}

/// Plans, and who runs them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanSettings {
    /// Role of a plan's coordinator
    pub role: String,
    /// Coordinators in a row without progress before it counts as failed
    pub attempts: u32,
}

impl Default for PlanSettings {
    fn default() -> Self {
        Self { role: "coordinator".to_owned(), attempts: 3 }
    }
}

/// The office: an orchestrator over supervisors of epics over workers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfficeSettings {
    /// Role of an epic's supervisor
    pub supervisor_role: String,
    /// After how many minutes without a sign of life a supervisor counts as lost
    pub heartbeat_minutes: u32,
}

impl Default for OfficeSettings {
    fn default() -> Self {
        Self { supervisor_role: "supervisor".to_owned(), heartbeat_minutes: 7 }
    }
}

/// The command that a branch must pass before it is merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckSettings {
    /// The program and its arguments
    pub command: Vec<String>,
    /// Time limit in seconds
    pub timeout_s: u32,
}

impl CheckSettings {
    /// Default timeout of a check, in seconds.
    pub const TIMEOUT_S: u32 = 1800;
}
