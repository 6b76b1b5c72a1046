//! The office's decision log: a reading of the record of calls.
//!
//! A call stands there twice, as it was invoked and as it was answered; what an agent wrote down with
//! `log_decision` stands between.

use model::{AgentId, Timestamp};
use serde_json::Value;
use store::{AuditFilter, AuditRow, StoreError};
use wire::decisions::{Decision, DecisionLog};

use crate::core::error::ToolError;
use crate::views::service::Views;

const LOG_DECISION: &str = "mcp__system__log_decision";

impl Views {
    /// A page of the decision log, oldest first.
    pub async fn decisions(
        &self,
        agent: Option<AgentId>,
        after: i64,
        limit: u32,
    ) -> Result<DecisionLog, ToolError> {
        let filter = AuditFilter { after, agent, tool: None };
        let page = self.store.scan(move |tx| tx.audit_page(&filter, limit)).await;
        let page = page.map_err(|error: StoreError| ToolError::from(error))?;
        let decisions = page.items.into_iter().flat_map(entries).collect();
        Ok(DecisionLog { decisions, next_cursor: page.next })
    }
}

/// The entries that a recorded call makes. What the operator did beside the tools makes none.
fn entries(row: AuditRow) -> Vec<Decision> {
    if !row.tool.starts_with("mcp__") {
        return Vec::new();
    }
    let mut body: Value = serde_json::from_str(&row.body).unwrap_or_default();
    let (input, output) = (body["input"].take(), body["output"].take());
    let took = body["durationMicros"].as_i64().unwrap_or_default() / 1000;
    let invoked_at = Timestamp::from_millis(row.at.as_millis() - took);
    let AuditRow { number, at, agent, tool, code, .. } = row;
    let entry = |kind: &str, decision: String, context, timestamp| Decision {
        id: format!("call-{number}-{kind}"),
        agent_id: agent,
        decision,
        reasoning: format!("Automatic tool {kind} log"),
        context,
        timestamp,
    };
    let written = written_down(&tool, code.as_deref(), &input, &output);
    let written = written.map(|(id, decision, reasoning)| Decision {
        id,
        agent_id: agent,
        decision,
        reasoning,
        context: Value::Null,
        timestamp: at,
    });
    let invoked = entry("invocation", format!("Invoked tool: {tool}"), input, invoked_at);
    let answered = match code {
        None => entry("result", format!("Tool result: {tool}"), output, at),
        Some(_) => entry("error", format!("Tool error: {tool}"), output, at),
    };
    std::iter::once(invoked).chain(written).chain([answered]).collect()
}

/// Decision that an agent logged: id, decision and reason.
fn written_down(
    tool: &str,
    code: Option<&str>,
    input: &Value,
    output: &Value,
) -> Option<(String, String, String)> {
    if tool != LOG_DECISION || code.is_some() {
        return None;
    }
    let text = |value: &Value| value.as_str().map(str::to_owned);
    Some((text(&output["logId"])?, text(&input["title"])?, text(&input["body"])?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(tool: &str, code: Option<&str>, body: &Value) -> AuditRow {
        AuditRow {
            number: 7,
            at: Timestamp::from_millis(5_000),
            agent: Some(AgentId::from_bits(1)),
            tool: tool.to_owned(),
            code: code.map(str::to_owned),
            body: body.to_string(),
            hash: String::new(),
        }
    }

    fn lines(row: AuditRow) -> Vec<(String, String)> {
        entries(row).into_iter().map(|entry| (entry.decision, entry.reasoning)).collect()
    }

    fn pair(decision: &str, reasoning: &str) -> (String, String) {
        (decision.to_owned(), reasoning.to_owned())
    }

    #[test]
    fn a_call_reads_as_the_office_logged_it() {
        let body =
            json!({ "durationMicros": 2_000_000, "input": { "a": 1 }, "output": { "b": 2 } });
        let all = entries(row("mcp__mail__send", None, &body));
        assert_eq!(all[0].context, json!({ "a": 1 }));
        assert_eq!(all[0].timestamp, Timestamp::from_millis(3_000));
        assert_eq!(all[1].context, json!({ "b": 2 }));
        assert_eq!(
            lines(row("mcp__mail__send", None, &body)),
            [
                pair("Invoked tool: mcp__mail__send", "Automatic tool invocation log"),
                pair("Tool result: mcp__mail__send", "Automatic tool result log"),
            ]
        );
        assert_eq!(
            lines(row("mcp__mail__send", Some("CONFLICT"), &body))[1],
            pair("Tool error: mcp__mail__send", "Automatic tool error log")
        );
        assert!(entries(row("operator__enlist", None, &body)).is_empty());
    }

    #[test]
    fn what_was_written_down_stands_between() {
        let body = json!({
            "input": { "title": "Use Redis", "body": "It scales" },
            "output": { "logId": "log_1" },
        });
        let all = entries(row(LOG_DECISION, None, &body));
        assert_eq!(all.len(), 3);
        assert_eq!(
            all[1],
            Decision {
                id: "log_1".to_owned(),
                agent_id: Some(AgentId::from_bits(1)),
                decision: "Use Redis".to_owned(),
                reasoning: "It scales".to_owned(),
                context: Value::Null,
                timestamp: Timestamp::from_millis(5_000),
            }
        );
    }
}
