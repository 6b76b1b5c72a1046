//! Plans: state, steps, coordinators and questions.

use model::agent::AgentStateName;
use model::task::TaskStateName;
use model::{AgentId, MailId, PlanState, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A plan in a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanRow {
    /// What people call it
    pub name: String,
    /// What it is about
    pub title: String,
    /// Where its file was
    pub path: String,
    /// How it stands
    pub state: PlanState,
    /// Why it is over
    pub reason: Option<String>,
    /// How many steps are done or given up
    pub closed: u32,
    /// How many steps there are
    pub total: u32,
    /// What it may cost, in dollars
    pub budget_usd: Option<f64>,
    /// What it has cost so far, with all that was started for it
    pub spent_usd: f64,
    /// When it was first begun
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
    /// In which role it is run
    pub role: String,
    /// Its own task, beside those of its steps
    pub task_slug: String,
    /// Everybody who ran it, the first one first
    pub coordinators: Vec<CoordinatorView>,
    /// The steps, in their order
    pub steps: Vec<PlanStepView>,
    /// What a person is asked and has not answered
    pub questions: Vec<PlanQuestion>,
    /// Everything that a person was asked, answered or not, oldest first
    pub asked: Vec<PlanQuestion>,
    /// What whoever ran it last said in the end
    pub summary: Option<String>,
    /// The number of the last event when this was so
    pub last: i64,
}

/// Somebody who runs a plan, or ran it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct CoordinatorView {
    /// The agent
    pub agent_id: AgentId,
    /// How it stands
    pub state: AgentStateName,
    /// Why it ended
    pub reason: Option<String>,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct PlanStepView {
    /// What the plan calls it
    pub number: u32,
    /// What it is
    pub title: String,
    /// Its task's name
    pub task_slug: String,
    /// Its task's number, as `TAS-12`
    pub task: String,
    /// How it stands
    pub state: TaskStateName,
    /// Why it is so, where somebody said
    pub reason: Option<String>,
    /// The steps that must be done before it
    pub depends_on: Vec<u32>,
    /// In which role it is to be done, where the plan says so
    pub role: Option<String>,
    /// What whoever works on it may spend, where the plan says so
    pub budget_usd: Option<f64>,
    /// Who is at it
    pub agent: Option<PlanWorker>,
    /// What came of it last, in a line
    pub result: Option<String>,
    /// What it has cost, where that is known
    pub cost_usd: Option<f64>,
}

/// Somebody who is at a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct PlanWorker {
    /// The agent
    pub agent_id: AgentId,
    /// Its role
    pub role: String,
    /// How it stands
    pub state: AgentStateName,
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct PlanQuestion {
    /// The letter, for `adjutant mail read` and `adjutant mail reply`
    pub mail_id: MailId,
    /// Who asks
    pub agent_id: Option<AgentId>,
    /// What it is about
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
    /// Where the next page begins, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<i64>,
}
