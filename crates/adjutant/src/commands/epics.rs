//! `adjutant epic`: creates, lists and shows epics.

use serde_json::{Value, json};
use wire::epics::{EpicAnswer, EpicRow, EpicTaskCounts, EpicView, Epics};
use wire::tasks::{TaskView, TasksAnswer};

use crate::app::{App, call_tool, now, query};
use crate::cli::EpicVerb;
use crate::cli_error::CliError;
use crate::client::{Answer, all_rows};
use crate::commands::call::tool::text_or_stdin;
use crate::commands::reconnect::Steady;
use crate::terminal::render::{Page, age, bold, elastic, line, name, quoted};

/// Tasks read at once.
const PAGE: usize = 500;

/// Does what was asked.
pub(crate) async fn run(app: &App, verb: EpicVerb) -> Result<(), CliError> {
    match verb {
        EpicVerb::Create { title, description } => create(app, &title, description).await,
        EpicVerb::List => list(app).await,
        EpicVerb::Show { epic } => show(app, &epic).await,
    }
}

async fn create(app: &App, title: &str, description: Option<String>) -> Result<(), CliError> {
    let description = description.map(text_or_stdin).transpose()?;
    let input = json!({ "title": title, "description": description });
    let epic: Answer<EpicView> = app.call_tool("mcp__epic__create", &input).await?;
    Ok(app.render.answer(&epic, || {
        let add = name(format!("adjutant tasks add TITLE --epic {}", epic.id));
        format!("{} {}\nAdd tasks to it with {add}", bold(epic.id), line(&epic.title))
    })?)
}

async fn list(app: &App) -> Result<(), CliError> {
    let mut steady = Steady::new(app).await?;
    let path = |after| query("/api/epics", [("all", Some("true".to_owned())), ("after", after)]);
    let mut epics = steady.fetch_all::<Epics>(path).await?;
    epics.reverse();
    let value = json!({ "epics": epics });
    Ok(app.render.answer(&value, || listed(&epics))?)
}

fn listed(epics: &[Answer<EpicRow>]) -> String {
    if epics.is_empty() {
        return format!("No epics. Create one with {}", name("adjutant epic create TITLE"));
    }
    let now = now();
    let row = |epic: &Answer<EpicRow>| {
        [
            epic.id.to_string(),
            state_of(&epic.state),
            format!("{} of {}", epic.done, epic.tasks),
            line(&epic.title),
            epic.supervisor_id.map_or_else(|| "-".to_owned(), |id| id.to_string()),
            age(epic.updated_at, now),
        ]
    };
    let headings = ["EPIC", "STATE", "DONE", "TITLE", "SUPERVISOR", "CHANGED"];
    elastic(headings, epics.iter().map(row), "TITLE")
}

/// Name of a state, as it is sent.
fn state_of(state: &impl serde::Serialize) -> String {
    let name = serde_json::to_value(state).unwrap_or_default();
    name.as_str().unwrap_or_default().to_lowercase()
}

async fn show(app: &App, epic: &str) -> Result<(), CliError> {
    let client = app.client().await?;
    let input = json!({ "epicId": epic });
    let found: Answer<EpicAnswer> = call_tool(&client, "mcp__epic__get", &input).await?;
    let tasks = all_rows(async |cursor: Option<String>| {
        let input = json!({ "epicId": epic, "limit": PAGE, "cursor": cursor });
        call_tool::<TasksAnswer>(&client, "mcp__task__list", &input).await
    });
    let tasks = tasks.await?;
    let mut value = serde_json::to_value(&found).map_err(std::io::Error::other)?;
    if let Value::Object(value) = &mut value {
        value.insert("tasks".to_owned(), json!(tasks));
    }
    Ok(app.render.answer(&value, || shown(&found, &tasks))?)
}

fn shown(found: &EpicAnswer, tasks: &[Answer<TaskView>]) -> String {
    let (epic, now) = (&found.epic, now());
    let mut page = Page::default();
    page.line(format_args!("{} {}", bold(epic.id), line(&epic.title)));
    page.line(format_args!("  state    {}", state_of(&epic.state)));
    page.line(format_args!("  tasks    {}", counted(&found.task_counts)));
    page.line(format_args!("  changed  {} ago", age(epic.updated_at, now)));
    if let Some(url) = &epic.linear_issue_url {
        page.line(format_args!("  issue    {}", line(url)));
    }
    if let Some(description) = &epic.description {
        page.line("");
        page.text(&quoted(description));
    }
    if tasks.is_empty() {
        let add = name(format!("adjutant tasks add TITLE --epic {}", epic.id));
        page.line(format_args!("\nAdd tasks to it with {add}"));
        return page.into_text();
    }
    page.line("");
    let row = |task: &Answer<TaskView>| {
        [
            task.number.to_string(),
            task.stored_state.stored().to_owned(),
            line(&task.title),
            task.assigned_agent_id.map_or_else(|| "-".to_owned(), |id| id.to_string()),
        ]
    };
    page.text(&elastic(["TASK", "STATE", "TITLE", "AGENT"], tasks.iter().map(row), "TITLE"));
    page.into_text()
}

/// Numbers of tasks, those that are not 0.
fn counted(counts: &EpicTaskCounts) -> String {
    let counts = [
        (counts.pending, "pending"),
        (counts.assigned, "assigned"),
        (counts.in_progress, "in progress"),
        (counts.review, "in review"),
        (counts.blocked, "blocked"),
        (counts.completed, "completed"),
        (counts.failed, "failed"),
    ];
    let some: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, state)| format!("{count} {state}"))
        .collect();
    if some.is_empty() { "none".to_owned() } else { some.join(", ") }
}
