//! `adjutant supervisors`: who leads which epic, and how they are, through the same tools that agents use.

use serde_json::{Map, Value, json};

use crate::app::{self, App, now};
use crate::cli::{SupervisorsArgs, SupervisorsVerb};
use crate::cli_error::Trouble;
use crate::client::Client;
use crate::commands::call::tool::text_or_stdin;
use crate::commands::reconnect::Steady;
use crate::terminal::render::{ago, dim, elastic, field, good, name};

/// Page size.
const PAGE: u32 = 500;

/// Lists, starts or replaces supervisors.
pub(crate) async fn run(app: &App, args: SupervisorsArgs) -> Result<(), Trouble> {
    match args.verb {
        None => list(app).await,
        Some(SupervisorsVerb::Create { epic, prompt }) => create(app, epic, prompt).await,
        Some(SupervisorsVerb::Recover { agent, reason, force }) => {
            let mut input = Map::from_iter([("force".to_owned(), force.into())]);
            input.extend(reason.map(|reason| ("reason".to_owned(), reason.into())));
            recover(app, &agent, input).await
        }
    }
}

async fn list(app: &App) -> Result<(), Trouble> {
    let client = app.client().await?;
    let supervisors = pages(&client, "mcp__orchestrator__list_supervisors", "supervisors").await?;
    let pending = pages(&client, "mcp__orchestrator__list_pending_epics", "epics").await?;
    let value = json!({ "supervisors": supervisors, "pendingEpics": pending });
    Ok(app.render.answer(&value, || shown(&supervisors, &pending))?)
}

/// Every page of a list.
async fn pages(client: &Client, tool: &str, list: &str) -> Result<Vec<Value>, Trouble> {
    let (mut all, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut input = Map::from_iter([("limit".to_owned(), PAGE.into())]);
        input.extend(cursor.map(|cursor| ("cursor".to_owned(), cursor.into())));
        let mut page = app::call(client, tool, &Value::Object(input), None).await?;
        if let Value::Array(found) = page[list].take() {
            all.extend(found);
        }
        cursor = page["nextCursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            return Ok(all);
        }
    }
}

fn shown(supervisors: &[Value], pending: &[Value]) -> String {
    let now = now();
    let mut text = if supervisors.is_empty() {
        "No supervisors.\n".to_owned()
    } else {
        let row = |one: &Value| {
            let health = if one["isHealthy"] == true { "healthy" } else { "silent" };
            [
                field(one, "agentId"),
                health.to_owned(),
                field(one, "agentState"),
                ago(&one["lastActiveAt"], now),
                field(one, "epicTitle"),
                counted(&one["tasks"]),
                field(one, "workers"),
            ]
        };
        let headings = ["SUPERVISOR", "HEALTH", "STATE", "HEARD", "EPIC", "TASKS", "WORKERS"];
        elastic(headings, supervisors.iter().map(row), "EPIC")
    };
    if !pending.is_empty() {
        let row = |one: &Value| {
            let [epic, state, title] = ["epicId", "state", "title"].map(|key| field(one, key));
            [epic, state, title, counted(&one["tasks"])]
        };
        let headings = ["EPIC", "STATE", "TITLE", "TASKS"];
        let unled = elastic(headings, pending.iter().map(row), "TITLE");
        let start = name("adjutant supervisors create EPIC");
        text = format!("{text}\nThese epics have no supervisor; {start} starts one:\n{unled}");
    }
    text
}

/// Task counts by state, as `2 pending, 1 review`.
fn counted(tasks: &Value) -> String {
    let states = ["PENDING", "ASSIGNED", "IN_PROGRESS", "REVIEW", "BLOCKED", "COMPLETED", "FAILED"];
    let parts: Vec<String> = states
        .iter()
        .filter_map(|state| tasks[state].as_i64().filter(|count| *count > 0).map(|n| (state, n)))
        .map(|(state, count)| format!("{count} {}", state.to_lowercase().replace('_', " ")))
        .collect();
    if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
}

async fn create(app: &App, epic: String, prompt: Option<String>) -> Result<(), Trouble> {
    let mut input = Map::from_iter([("epicId".to_owned(), epic.into())]);
    let prompt = prompt.map(text_or_stdin).transpose()?;
    input.extend(prompt.map(|prompt| ("prompt".to_owned(), prompt.into())));
    let made = app.call("mcp__orchestrator__create_supervisor", Value::Object(input)).await?;
    Ok(app.render.answer(&made, || {
        let [agent, role, epic] = ["agentId", "role", "epicId"].map(|key| field(&made, key));
        format!("{} {agent} as {role}; it leads {epic}", good("Started"))
    })?)
}

async fn recover(app: &App, agent: &str, mut input: Map<String, Value>) -> Result<(), Trouble> {
    let mut steady = Steady::new(app).await?;
    let agent = steady.agent(agent).await?;
    input.insert("agentId".to_owned(), agent.into());
    let tool = "mcp__orchestrator__recover_supervisor";
    let answer = app::call(steady.client(), tool, &Value::Object(input), None).await?;
    Ok(app.render.answer(&answer, || {
        let freed = dim(format!("{} tasks are free again.", field(&answer, "tasksReset")));
        format!("{}. {freed}", field(&answer, "message"))
    })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_counted_by_state_and_empty_states_are_left_out() {
        let tasks = json!({ "PENDING": 2, "IN_PROGRESS": 1, "REVIEW": 0, "COMPLETED": 3 });
        assert_eq!(counted(&tasks), "2 pending, 1 in progress, 3 completed");
        assert_eq!(counted(&json!({ "PENDING": 0 })), "none");
    }
}
