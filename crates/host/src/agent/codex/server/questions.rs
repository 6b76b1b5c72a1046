//! Permission requests of the app server.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::items::Tools;
use crate::agent::notes::{self, AsksNote};
use crate::agent::{Asks, Event, PermissionVerdict, Step, rpc};

/// The questions that nobody has answered yet, and who answers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Questions {
    #[serde(with = "AsksNote")]
    asks: Asks,
    open: BTreeMap<String, Question>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Question {
    id: Value,
    tool: String,
    form: Form,
}

/// Form of an answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Form {
    Decision,
    Elicitation,
    /// These are granted, or none
    Permissions(Value),
}

impl Questions {
    pub(super) fn new(asks: Asks) -> Self {
        Self { asks, open: BTreeMap::new() }
    }

    pub(super) fn asked(
        &mut self,
        id: &Value,
        method: &str,
        params: &Value,
        tools: &Tools,
    ) -> Vec<Step> {
        let item = tools.get(params["itemId"].as_str().unwrap_or_default());
        let (tool, input, form) = match method {
            "item/commandExecution/requestApproval" => {
                let input = json!({ "command": params["command"], "reason": params["reason"] });
                ("shell".to_owned(), notes::input(&input), Form::Decision)
            }
            "item/fileChange/requestApproval" => {
                let input = item.map_or_else(|| notes::input(params), |item| item.input.clone());
                ("apply_patch".to_owned(), input, Form::Decision)
            }
            "item/permissions/requestApproval" => {
                let wanted = &params["permissions"];
                let form = Form::Permissions(wanted.clone());
                ("request_permissions".to_owned(), notes::input(wanted), form)
            }
            "mcpServer/elicitation/request" => {
                let meta = &params["_meta"];
                if meta["codex_approval_kind"] != "mcp_tool_call" {
                    // A form of an MCP server; no person is there to fill it in.
                    return vec![Step::Say(rpc::answer(id, elicited("decline")))];
                }
                let server = params["serverName"].as_str().unwrap_or_default();
                let input = &meta["tool_params"];
                let tool = tools.of_server(server, input).map(|tool| tool.name.clone());
                let tool = tool.unwrap_or_else(|| format!("mcp__{server}"));
                (tool, notes::input(input), Form::Elicitation)
            }
            "item/tool/requestUserInput" => {
                return vec![Step::Say(rpc::answer(id, json!({ "answers": {} })))];
            }
            _ => return vec![Step::Say(rpc::refuse(id, method))],
        };
        let question = Question { id: id.clone(), tool, form };
        match self.asks {
            Asks::Allow => question.reply(&PermissionVerdict::Allow),
            Asks::Deny => question.reply(&PermissionVerdict::Deny(String::new())),
            Asks::Person => {
                let (request, tool) = (id.to_string(), question.tool.clone());
                self.open.insert(request.clone(), question);
                vec![Step::Saw(Event::Asked { request, tool, input })]
            }
        }
    }

    pub(super) fn answer(&mut self, request: &str, verdict: &PermissionVerdict) -> Vec<Step> {
        self.open.remove(request).map_or_else(Vec::new, |question| question.reply(verdict))
    }

    /// It no longer wants to know.
    pub(super) fn forget(&mut self, id: &Value) {
        self.open.remove(&id.to_string());
    }
}

impl Question {
    /// An answer holds for this once: nothing is written into the user's rules.
    fn reply(self, verdict: &PermissionVerdict) -> Vec<Step> {
        let yes = *verdict == PermissionVerdict::Allow;
        let result = match self.form {
            Form::Decision => json!({ "decision": if yes { "accept" } else { "decline" } }),
            Form::Elicitation => elicited(if yes { "accept" } else { "decline" }),
            Form::Permissions(wanted) => {
                json!({ "permissions": if yes { wanted } else { json!({}) }, "scope": "turn" })
            }
        };
        let mut steps = vec![Step::Say(rpc::answer(&self.id, result))];
        if !yes {
            steps.push(Step::Saw(Event::Refused { tool: self.tool }));
        }
        steps
    }
}

fn elicited(action: &str) -> Value {
    let content = if action == "accept" { json!({}) } else { Value::Null };
    json!({ "action": action, "content": content })
}
