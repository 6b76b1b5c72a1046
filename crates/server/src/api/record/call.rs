//! One call of the record, whole.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use engine::ToolError;
use engine::store::{AuditAround, AuditBody, AuditCall, AuditRow, Tx};
use model::{TaskRef, Timestamp};
use serde_json::Value;

use wire::record::{
    CallFailure, CallerRank, CallerTask, ChainLink, NeighbourCall, PairedCall, RecordedCall,
};

use super::{outcome_of, record_row};
use crate::answer::Answer;
use crate::server::Shared;

/// Calls of the same caller shown on either side.
const NEAR: u32 = 5;

/// When a call began: its row was written when it ended.
fn began(row: &AuditRow, body: Option<&AuditBody>) -> Timestamp {
    let micros = body.map_or(0, |body| body.duration_micros);
    row.at.after_millis(-i64::try_from(micros / 1000).unwrap_or(0))
}

fn neighbour_call(call: AuditCall) -> NeighbourCall {
    let body = AuditBody::read(&call.row.body);
    NeighbourCall {
        number: call.row.number,
        started_at: began(&call.row, body.as_ref()),
        at: call.row.at,
        outcome: outcome_of(call.row.code.as_deref(), body.as_ref()),
        tool: call.row.tool,
    }
}

fn why(code: &str, output: &str) -> CallFailure {
    let told: Value = serde_json::from_str(output).unwrap_or_default();
    let suggestions = told["suggestions"].as_array().cloned().unwrap_or_default();
    CallFailure {
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
        let outcome = outcome_of(row.code.as_deref(), body.as_ref());
        PairedCall { number: row.number, at: row.at, outcome }
    });
    Ok(RecordedCall {
        started_at: began(&call.row, body),
        standing: agent.map(|a| CallerRank { category: a.category, depth: a.depth }),
        task: task.map(|t| CallerTask { number: t.number, slug: t.slug, title: t.title }),
        whole_input: body.map_or("", |body| &body.input).to_owned(),
        error: call.row.code.as_deref().map(|code| why(code, &output)),
        output,
        git_commit: body.and_then(|body| body.git_commit.clone()),
        branch,
        pair,
        near: near.into_iter().map(neighbour_call).collect(),
        chain: ChainLink {
            previous: call.row.number - 1,
            before,
            this: call.row.hash.clone(),
            fits: problem.is_none(),
            problem,
        },
        row: record_row(call),
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
