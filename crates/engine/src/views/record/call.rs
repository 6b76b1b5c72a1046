//! One call of the record with its context.

use model::{TaskRef, Timestamp};
use serde_json::Value;
use store::{AuditAround, AuditBody, AuditCall, AuditRow, Tx};
use wire::record::{
    CallFailure, CallerRank, CallerTask, ChainLink, NeighbourCall, PairedCall, RecordedCall,
};

use crate::core::error::ToolError;
use crate::views::record::{outcome, record_row};
use crate::views::service::Views;

/// Calls of the same caller shown on either side.
const NEIGHBOURS: u32 = 5;

/// When a call began: its row was written when it ended.
fn began(row: &AuditRow, body: Option<&AuditBody>) -> Timestamp {
    let micros = body.map_or(0, |body| body.duration_micros);
    row.at.after_millis(-i64::try_from(micros / 1000).unwrap_or(0))
}

fn near_call(call: AuditCall) -> NeighbourCall {
    let body = AuditBody::read(&call.row.body);
    NeighbourCall {
        number: call.row.number,
        started_at: began(&call.row, body.as_ref()),
        at: call.row.at,
        outcome: outcome(call.row.code.as_deref(), body.as_ref()),
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
        let outcome = outcome(row.code.as_deref(), body.as_ref());
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
        near: near.into_iter().map(near_call).collect(),
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

impl Views {
    /// One recorded call with everything that is known of it.
    pub async fn recorded_call(&self, number: i64) -> Result<RecordedCall, ToolError> {
        self.store
            .scan(move |tx| {
                let Some(around) = tx.audit_around(number, NEIGHBOURS)? else {
                    let message = format!("there is no call {number} in the record");
                    return Err(
                        ToolError::not_found(message).hint("`GET /api/record` lists the newest")
                    );
                };
                show(tx, around)
            })
            .await
    }
}
