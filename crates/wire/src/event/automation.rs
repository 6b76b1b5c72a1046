//! Events of loops and plans.

use model::session::{LoopRequest, LoopState, Moment};
use model::{AgentId, AgentStateName, PlanState, TaskRef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Payload of `loop.started` and `loop.resumed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoopBegun {
    /// Session of the loop, which is its name
    pub session: String,
    /// Role of its agents
    pub role: String,
    /// Kind of its agents, if it differs from the role's
    pub kind: Option<String>,
    /// Number of its last iteration; null without a limit
    pub iterations: Option<u32>,
    /// Number of the next iteration; 0 is the planning before the first
    pub iteration: u32,
}

/// Payload of `loop.iteration_started`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoopIterationStarted {
    /// Session of the loop
    pub session: String,
    /// Number of the iteration; 0 is the planning before the first
    pub iteration: u32,
    /// Number of the last iteration; null without a limit
    pub iterations: Option<u32>,
    /// Count of the messages that were delivered to its agent
    pub messages: usize,
}

/// Payload of `loop.iteration_ended`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopIterationEnded {
    /// Session of the loop
    pub session: String,
    /// Number of the iteration; 0 is the planning before the first
    pub iteration: u32,
    /// State that its agent ended in
    pub state: AgentStateName,
    /// Reason of that end
    pub reason: String,
    /// Summary of the iteration, at most 500 characters
    pub summary: String,
    /// Task that the iteration worked on, as `TAS-12`
    pub task: Option<TaskRef>,
    /// Cost of the iteration in US dollars
    pub cost_usd: f64,
    /// Number of the last iteration; null without a limit
    pub iterations: Option<u32>,
}

/// Payload of `loop.committed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoopCommitted {
    /// Session of the loop
    pub session: String,
    /// Number of the iteration
    pub iteration: u32,
    /// Hash of the commit
    pub commit: String,
}

/// Payload of `loop.message`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoopMessage {
    /// Session of the loop
    pub session: String,
    /// Number of the message
    pub message: i64,
}

/// Payload of `loop.step_failed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoopStepFailed {
    /// Session of the loop
    pub session: String,
    /// Number of the iteration
    pub iteration: u32,
    /// Step that failed
    pub what: FailedStep,
    /// Moment of the hook that failed; absent where the commit failed
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook: Option<Moment>,
    /// Reason of the failure
    pub error: String,
    /// Output of the hook; absent where the commit failed
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// A step of a loop that can fail without ending it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FailedStep {
    /// A hook
    Hook,
    /// The commit of an iteration's changes
    Commit,
}

/// Payload of `loop.stopping`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoopStopping {
    /// Session of the loop
    pub session: String,
    /// Action that the operator asked for
    #[serde(rename = "wish")]
    pub request: LoopRequest,
    /// Number of the current iteration
    pub iteration: u32,
}

/// Payload of `loop.paused`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoopPaused {
    /// Session of the loop
    pub session: String,
    /// Number of the last iteration that began
    pub iteration: u32,
    /// Reason of the pause
    pub reason: String,
}

/// Payload of `loop.ended`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopEnded {
    /// Session of the loop
    pub session: String,
    /// State that the loop ended in
    pub state: LoopState,
    /// Reason of the end
    pub reason: Option<String>,
    /// Number of the last iteration that began
    pub iteration: u32,
    /// Cost of the whole session in US dollars
    pub cost_usd: f64,
    /// Output of hooks that was left for an agent that did not come
    pub outputs: Vec<HookOutput>,
}

/// Output of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookOutput {
    /// Moment of the hook
    pub hook: String,
    /// Text that it printed
    pub output: String,
}

/// Payload of `plan.started`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanStarted {
    /// Name of the plan
    pub plan: String,
    /// Its title
    pub title: String,
    /// File that it was read from
    pub path: String,
    /// Agent that coordinates it
    pub agent_id: AgentId,
    /// Count of its steps
    pub steps: usize,
}

/// Payload of `plan.resumed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanResumed {
    /// Name of the plan
    pub plan: String,
    /// Agent that coordinates it now
    pub agent_id: AgentId,
    /// Agent that coordinated it before
    pub former_agent_id: AgentId,
    /// Count of coordinators in a row under which no step was closed, this one included
    pub attempt: u32,
    /// Reason of the change
    pub reason: String,
}

/// Payload of `plan.ended`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanEnded {
    /// Name of the plan
    pub plan: String,
    /// State that it ended in
    pub state: PlanState,
    /// Reason of the end
    pub reason: String,
    /// Summary of its last coordinator, at most 500 characters
    pub summary: Option<String>,
}
