//! `adjutant tasks`: lists and adds tasks, with the tools that agents use.

use serde_json::{Map, Value, json};
use wire::tasks::{TaskAnswer, TaskView, TasksAnswer};

use crate::app::{App, call_tool, now};
use crate::cli::{TaskAddArgs, TasksArgs, TasksVerb};
use crate::cli_error::CliError;
use crate::client::Answer;
use crate::commands::call::tool::text_or_stdin;
use crate::terminal::render::{
    Page, age, bold, dim, elastic, good, line, name, quoted, short, shown,
};

/// Page size.
const PAGE: usize = 500;

/// Lists, shows or adds tasks.
pub(crate) async fn run(app: &App, args: TasksArgs) -> Result<(), CliError> {
    match args.verb {
        None => list(app, args).await,
        Some(TasksVerb::Show { task }) => show(app, &task).await,
        Some(TasksVerb::Add(args)) => add(app, args).await,
    }
}

async fn list(app: &App, args: TasksArgs) -> Result<(), CliError> {
    let client = app.client().await?;
    let mut tasks = Vec::new();
    let mut cursor = None;
    let more = loop {
        let mut input = Map::new();
        input.insert("limit".to_owned(), (args.limit - tasks.len()).clamp(1, PAGE).into());
        input.insert("newestFirst".to_owned(), true.into());
        let given = [
            ("state", args.state.as_ref().map(|state| state.to_uppercase())),
            ("epicId", args.epic.clone()),
            ("cursor", cursor),
        ];
        for (name, value) in given {
            input.extend(value.map(|value| (name.to_owned(), value.into())));
        }
        let page: Answer<TasksAnswer> = call_tool(&client, "mcp__task__list", &input).await?;
        let (rows, next) = page.into_rows();
        tasks.extend(rows);
        cursor = next;
        if cursor.is_none() || tasks.len() >= args.limit {
            break cursor.is_some();
        }
    };
    let value = json!({ "tasks": tasks });
    Ok(app.render.answer(&value, || {
        let note = if more { dim("There are more: raise `--limit`.") } else { String::new() };
        listed(&tasks) + &note
    })?)
}

fn listed(tasks: &[Answer<TaskView>]) -> String {
    if tasks.is_empty() {
        return format!("No tasks. Add one with {}", name("adjutant tasks add TITLE"));
    }
    let now = now();
    let row = |task: &Answer<TaskView>| {
        [
            shown(&task.number),
            shown(&task.stored_state),
            shown(&task.priority),
            line(&task.title),
            shown(&task.assigned_agent_id),
            age(task.updated_at, now),
        ]
    };
    let headings = ["TASK", "STATE", "P", "TITLE", "AGENT", "CHANGED"];
    elastic(headings, tasks.iter().map(row), "TITLE")
}

async fn show(app: &App, task: &str) -> Result<(), CliError> {
    let task: Answer<TaskAnswer> =
        app.call_tool("mcp__task__get", &json!({ "taskId": task })).await?;
    Ok(app.render.answer(&task, || details(&task))?)
}

fn details(answer: &TaskAnswer) -> String {
    let (task, now) = (&answer.task, now());
    let mut page = Page::default();
    page.line(format_args!("{} {}", bold(shown(&task.number)), line(&task.title)));
    let needs: Vec<String> = task.depends_on.iter().map(|id| short(&shown(id), 40)).collect();
    let needs = if needs.is_empty() { "-".to_owned() } else { needs.join(", ") };
    let facts = [
        ("id", shown(&task.id)),
        ("slug", line(&task.slug)),
        ("state", shown(&task.stored_state)),
        ("priority", shown(&task.priority)),
        ("epic", shown(&task.epic_id)),
        ("agent", shown(&task.assigned_agent_id)),
        ("needs", needs),
        ("changed", format!("{} ago", age(task.updated_at, now))),
    ];
    for (key, value) in facts.iter().filter(|(_, value)| value != "-") {
        page.line(format_args!("  {key:8}  {value}"));
    }
    if let Some(description) = &task.description {
        page.line("");
        page.text(&quoted(description));
    }
    for comment in &answer.comments {
        let author = comment.agent_id.map_or_else(|| "you".to_owned(), |id| id.to_string());
        let when = format!("{} ago", age(comment.created_at, now));
        page.line(format_args!("\n{} {}", name(author), dim(when)));
        page.text(&quoted(&comment.body));
    }
    if !answer.history.is_empty() {
        page.line("\nWorked on by");
    }
    for work in &answer.history {
        let (role, status) = (line(&work.role), line(&work.status));
        page.line(format_args!("  {}  {role}  {status}", work.agent_id));
    }
    page.into_text()
}

async fn add(app: &App, args: TaskAddArgs) -> Result<(), CliError> {
    let mut input = Map::from_iter([("title".to_owned(), args.title.into())]);
    let description = args.description.map(text_or_stdin).transpose()?;
    let depends_on = (!args.depends_on.is_empty()).then(|| args.depends_on.into());
    let given: [(&str, Option<Value>); 5] = [
        ("description", description.map(Value::from)),
        ("epicId", args.epic.map(Value::from)),
        ("priority", args.priority.map(Value::from)),
        ("dependsOn", depends_on),
        ("slug", args.slug.map(Value::from)),
    ];
    for (name, value) in given {
        input.extend(value.map(|value| (name.to_owned(), value)));
    }
    let task: Answer<TaskView> = app.call_tool("mcp__task__create", &input).await?;
    Ok(app.render.answer(&task, || {
        format!("{} {} ({})", good("Added"), shown(&task.number), line(&task.slug))
    })?)
}
