//! `adjutant supervisors`: supervisors of epics and their health, through the tools that agents use.

use serde_json::{Map, Value, json};
use wire::epics::EpicTaskCounts;
use wire::supervisors::{
    CreatedSupervisor, PendingEpic, PendingEpics, RecoveredSupervisor, SupervisorRow, Supervisors,
};

use crate::app::{App, call_tool, now};
use crate::cli::{SupervisorsArgs, SupervisorsVerb};
use crate::cli_error::CliError;
use crate::client::{Answer, Client, ListPage, all_rows};
use crate::commands::call::tool::text_or_stdin;
use crate::commands::reconnect::Steady;
use crate::terminal::render::{age, dim, elastic, good, line, name, shown};

/// Page size.
const PAGE: u32 = 500;

/// Lists, starts or replaces supervisors.
pub(crate) async fn run(app: &App, args: SupervisorsArgs) -> Result<(), CliError> {
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

async fn list(app: &App) -> Result<(), CliError> {
    let client = app.client().await?;
    let supervisors = every::<Supervisors>(&client, "mcp__orchestrator__list_supervisors").await?;
    let pending = every::<PendingEpics>(&client, "mcp__orchestrator__list_pending_epics").await?;
    let value = json!({ "supervisors": supervisors, "pendingEpics": pending });
    Ok(app.render.answer(&value, || listed(&supervisors, &pending))?)
}

/// Reads every page of a tool's list.
async fn every<P: ListPage>(client: &Client, tool: &str) -> Result<Vec<Answer<P::Row>>, CliError> {
    all_rows(async |cursor: Option<String>| {
        let mut input = Map::from_iter([("limit".to_owned(), PAGE.into())]);
        input.extend(cursor.map(|cursor| ("cursor".to_owned(), cursor.into())));
        call_tool::<P>(client, tool, &input).await
    })
    .await
}

fn listed(supervisors: &[Answer<SupervisorRow>], pending: &[Answer<PendingEpic>]) -> String {
    let now = now();
    let mut text = if supervisors.is_empty() {
        "No supervisors.\n".to_owned()
    } else {
        let row = |one: &Answer<SupervisorRow>| {
            let health = if one.is_healthy { "healthy" } else { "silent" };
            [
                one.agent_id.to_string(),
                health.to_owned(),
                one.agent_state.to_string(),
                age(one.last_active_at, now),
                shown(&one.epic_title),
                counted(&one.tasks),
                one.workers.to_string(),
            ]
        };
        let headings = ["SUPERVISOR", "HEALTH", "STATE", "HEARD", "EPIC", "TASKS", "WORKERS"];
        elastic(headings, supervisors.iter().map(row), "EPIC")
    };
    if !pending.is_empty() {
        let row = |one: &Answer<PendingEpic>| {
            [shown(&one.epic_id), shown(&one.state), line(&one.title), counted(&one.tasks)]
        };
        let headings = ["EPIC", "STATE", "TITLE", "TASKS"];
        let unled = elastic(headings, pending.iter().map(row), "TITLE");
        let start = name("adjutant supervisors create EPIC");
        text = format!("{text}\nThese epics have no supervisor; {start} starts one:\n{unled}");
    }
    text
}

/// Task counts by state, as `2 pending, 1 review`.
fn counted(tasks: &EpicTaskCounts) -> String {
    let by_state = [
        (tasks.pending, "pending"),
        (tasks.assigned, "assigned"),
        (tasks.in_progress, "in progress"),
        (tasks.review, "review"),
        (tasks.blocked, "blocked"),
        (tasks.completed, "completed"),
        (tasks.failed, "failed"),
    ];
    let some = by_state.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = some.map(|(count, state)| format!("{count} {state}")).collect();
    if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
}

async fn create(app: &App, epic: String, prompt: Option<String>) -> Result<(), CliError> {
    let mut input = Map::from_iter([("epicId".to_owned(), epic.into())]);
    let prompt = prompt.map(text_or_stdin).transpose()?;
    input.extend(prompt.map(|prompt| ("prompt".to_owned(), prompt.into())));
    let made: Answer<CreatedSupervisor> =
        app.call_tool("mcp__orchestrator__create_supervisor", &input).await?;
    Ok(app.render.answer(&made, || {
        let (agent, role, epic) = (made.agent_id, line(&made.role), made.epic_id);
        format!("{} {agent} as {role}; it leads {epic}", good("Started"))
    })?)
}

async fn recover(app: &App, agent: &str, mut input: Map<String, Value>) -> Result<(), CliError> {
    let mut steady = Steady::new(app).await?;
    let agent = steady.agent(agent).await?;
    input.insert("agentId".to_owned(), agent.to_string().into());
    let tool = "mcp__orchestrator__recover_supervisor";
    let answer: Answer<RecoveredSupervisor> = call_tool(steady.client(), tool, &input).await?;
    Ok(app.render.answer(&answer, || {
        let freed = dim(format!("{} tasks are free again.", answer.tasks_reset));
        format!("{}. {freed}", line(&answer.message))
    })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_counted_by_state_and_empty_states_are_left_out() {
        let tasks = EpicTaskCounts {
            pending: 2,
            in_progress: 1,
            completed: 3,
            ..EpicTaskCounts::default()
        };
        assert_eq!(counted(&tasks), "2 pending, 1 in progress, 3 completed");
        assert_eq!(counted(&EpicTaskCounts::default()), "none");
    }
}
