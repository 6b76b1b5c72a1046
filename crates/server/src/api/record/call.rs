//! One call of the record, whole.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use engine::ToolError;
use engine::store::{AuditAround, AuditBody, AuditCall, AuditRow, Tx};
use model::{TaskRef, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{RecordOutcome, RecordRow};
use crate::answer::Answer;
use crate::server::Shared;

/// Calls of the same caller shown on either side.
const NEAR: u32 = 5;

/// A recorded call with everything that is known of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RecordedCall {
    #[serde(flatten)]
    row: RecordRow,
    /// When it began
    started_at: Timestamp,
    /// The category of who called, and how deep it stands
    standing: Option<Standing>,
    /// Task of the caller
    task: Option<TaskOf>,
    /// Input, exactly as recorded
    whole_input: String,
    /// Output, exactly as recorded
    output: String,
    /// Why it failed
    error: Option<WhyFailed>,
    /// Commit checked out in the caller's directory
    git_commit: Option<String>,
    /// The branch of the caller's worktree
    branch: Option<String>,
    /// The other row of a call that touched the outside: when it began, or how it ended
    pair: Option<Pair>,
    /// Calls of the same caller around it, oldest first, including itself
    near: Vec<Near>,
    /// Its place in the chain
    chain: ChainLink,
}

/// Where a caller stands.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Standing {
    /// Its category
    category: String,
    /// Depth below the operator
    depth: u32,
}

/// Task of a caller.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TaskOf {
    /// Its number
    number: i64,
    /// Its slug
    slug: String,
    /// Title
    title: String,
}

/// Why a call failed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WhyFailed {
    /// Error code
    code: String,
    /// Kind of the event
    message: String,
    /// Suggested next steps
    suggestions: Vec<String>,
}

/// One of the two rows of a call that touched the outside.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Pair {
    /// Its number
    number: i64,
    /// When it was written
    at: Timestamp,
    /// Outcome of that call
    outcome: RecordOutcome,
}

/// A call beside another.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Near {
    /// Its number
    number: i64,
    /// Tool name
    tool: String,
    /// When it began
    started_at: Timestamp,
    /// When it was answered
    at: Timestamp,
    /// Status
    outcome: RecordOutcome,
}

/// A row's place in the chain.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ChainLink {
    /// The number of the row before; 0 is before the first
    previous: i64,
    /// Its hash
    before: String,
    /// This row's hash
    this: String,
    /// True if the recomputed hash matches
    fits: bool,
    /// Issues
    problem: Option<String>,
}

/// When a call began: its row was written when it ended.
fn began(row: &AuditRow, body: Option<&AuditBody>) -> Timestamp {
    let micros = body.map_or(0, |body| body.duration_micros);
    row.at.after_millis(-i64::try_from(micros / 1000).unwrap_or(0))
}

impl From<AuditCall> for Near {
    fn from(call: AuditCall) -> Self {
        let body = AuditBody::read(&call.row.body);
        Self {
            number: call.row.number,
            started_at: began(&call.row, body.as_ref()),
            at: call.row.at,
            outcome: RecordOutcome::of(call.row.code.as_deref(), body.as_ref()),
            tool: call.row.tool,
        }
    }
}

fn why(code: &str, output: &str) -> WhyFailed {
    let told: Value = serde_json::from_str(output).unwrap_or_default();
    let suggestions = told["suggestions"].as_array().cloned().unwrap_or_default();
    WhyFailed {
        code: code.to_owned(),
        message: told["message"].as_str().unwrap_or_default().to_owned(),
        suggestions: suggestions.iter().filter_map(|s| s.as_str().map(str::to_owned)).collect(),
    }
}

fn show(tx: &Tx<'_>, around: AuditAround) -> Result<RecordedCall, ToolError> {
    let AuditAround { call, body, before, problem, pair, near } = around;
    let agent = call.row.agent.map(|id| tx.agent_get(id)).transpose()?.flatten();
    let branch = match call.row.agent {
        Some(id) => tx.worktree_of(id)?.map(|worktree| worktree.branch),
        None => None,
    };
    let task = match call.task {
        Some(id) => tx.task_find(&TaskRef::Id(id))?,
        None => None,
    };
    let body = body.as_ref();
    let output = body.map_or(&call.row.body, |body| &body.output).clone();
    let pair = pair.map(|row| {
        let body = AuditBody::read(&row.body);
        let outcome = RecordOutcome::of(row.code.as_deref(), body.as_ref());
        Pair { number: row.number, at: row.at, outcome }
    });
    Ok(RecordedCall {
        started_at: began(&call.row, body),
        standing: agent.map(|a| Standing { category: a.category, depth: a.depth }),
        task: task.map(|t| TaskOf { number: t.number, slug: t.slug, title: t.title }),
        whole_input: body.map_or("", |body| &body.input).to_owned(),
        error: call.row.code.as_deref().map(|code| why(code, &output)),
        output,
        git_commit: body.and_then(|body| body.git_commit.clone()),
        branch,
        pair,
        near: near.into_iter().map(Near::from).collect(),
        chain: ChainLink {
            previous: call.row.number - 1,
            before,
            this: call.row.hash.clone(),
            fits: problem.is_none(),
            problem,
        },
        row: RecordRow::from(call),
    })
}

pub(crate) async fn one(
    State(shared): State<Arc<Shared>>,
    Path(number): Path<String>,
) -> Answer<Json<RecordedCall>> {
    let number: i64 = number.parse().map_err(|_| {
        ToolError::invalid("a call of the record is named by its number").detail("field", "number")
    })?;
    let shown = shared
        .app
        .engine
        .store()
        .scan(move |tx: &Tx<'_>| {
            let Some(around) = tx.audit_around(number, NEAR)? else {
                let error =
                    ToolError::not_found(format!("there is no call {number} in the record"));
                return Err(error.hint("`GET /api/record` lists the newest"));
            };
            show(tx, around)
        })
        .await?;
    Ok(Json(shown))
}
