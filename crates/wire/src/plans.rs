//! Plans: state, steps, coordinators and questions.

use model::agent::AgentStateName;
use model::task::TaskStateName;
use model::{AgentId, Line, MailId, PlanState, Text, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A plan in a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanRow {
    /// Name
    pub name: String,
    /// Title
    pub title: String,
    /// Path of its file
    pub path: String,
    /// Current state
    pub state: PlanState,
    /// Reason of its end
    pub reason: Option<String>,
    /// Number of closed steps
    pub closed: u32,
    /// Number of steps
    pub total: u32,
    /// Budget in dollars
    pub budget_usd: Option<f64>,
    /// Cost so far in dollars, including all its agents
    pub spent_usd: f64,
    /// Time of its first start
    pub created_at: Timestamp,
    /// When it ended
    pub ended_at: Option<Timestamp>,
}

/// A plan whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Plan")]
pub struct PlanView {
    /// The plan in a line
    #[serde(flatten)]
    pub row: PlanRow,
    /// Role it is run
    pub role: String,
    /// Its own task, beside those of its steps
    pub task_slug: String,
    /// Its coordinators, oldest first
    pub coordinators: Vec<CoordinatorView>,
    /// The steps, in their order
    pub steps: Vec<PlanStepView>,
    /// Open questions to a person
    pub questions: Vec<PlanQuestion>,
    /// Everything that a person was asked, answered or not, oldest first
    pub asked: Vec<PlanQuestion>,
    /// Final summary of its last coordinator
    pub summary: Option<String>,
    /// The number of the last event when this was so
    pub last: i64,
}

/// A coordinator of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CoordinatorView {
    /// The agent
    pub agent_id: AgentId,
    /// Current state
    pub state: AgentStateName,
    /// Why it ended
    pub reason: Option<String>,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanStepView {
    /// Step number in the plan
    pub number: u32,
    /// Title
    pub title: String,
    /// Its task's name
    pub task_slug: String,
    /// Its task's number, as `TAS-12`
    pub task: String,
    /// Current state
    pub state: TaskStateName,
    /// Reason, if one was given
    pub reason: Option<String>,
    /// The steps that must be done before it
    pub depends_on: Vec<u32>,
    /// Role for the step, if the plan names one
    pub role: Option<String>,
    /// Budget of the step in dollars, if the plan sets one
    pub budget_usd: Option<f64>,
    /// Agent that works on it
    pub agent: Option<PlanWorker>,
    /// Last result, one line
    pub result: Option<String>,
    /// Cost in dollars, if known
    pub cost_usd: Option<f64>,
}

/// An agent at work on a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanWorker {
    /// The agent
    pub agent_id: AgentId,
    /// Its role
    pub role: String,
    /// Current state
    pub state: AgentStateName,
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanQuestion {
    /// The mail, for `adjutant mail read` and `adjutant mail reply`
    pub mail_id: MailId,
    /// Asking agent
    pub agent_id: Option<AgentId>,
    /// Subject
    pub subject: String,
    /// Since when
    pub sent_at: Timestamp,
    /// When a person answered it
    pub answered_at: Option<Timestamp>,
}

/// A page of plans.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Plans {
    /// The plans, newest first
    pub plans: Vec<PlanRow>,
    /// Cursor of the next page, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<i64>,
}

/// Request to run a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "NewPlan")]
pub struct PlanRequest {
    /// Path of its file, to show; the file itself is not read
    pub path: Line<4096>,
    /// Body in Markdown
    pub text: Text<1_000_000>,
    /// Name (default: derived from its title)
    pub name: Option<Line<80>>,
    /// Role of its coordinator (default: the configuration's)
    pub role: Option<Line<100>>,
    /// Kind of its coordinator (default: the role's)
    pub kind: Option<Line<50>>,
    /// Total budget in dollars (default: the role's or the configuration's)
    pub budget: Option<f64>,
    /// True to run it again if it was already run
    #[serde(default)]
    pub again: bool,
}

/// Request to resume a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Resume")]
pub struct ResumePlanRequest {
    /// Further budget in dollars (default: the rest)
    pub budget: Option<f64>,
}
