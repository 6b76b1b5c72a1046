//! `adjutant tasks`: what is to be done, through the same tools that agents use.

use serde_json::{Map, Value, json};

use crate::app::{self, App, now};
use crate::cli::{TaskAddArgs, TasksArgs, TasksVerb};
use crate::cli_error::Trouble;
use crate::commands::call::tool::text_or_stdin;
use crate::terminal::render::{
    Page, ago, bold, dim, elastic, field, good, line, name, quoted, short,
};

/// Page size.
const PAGE: usize = 500;

/// Lists, shows or adds tasks.
pub(crate) async fn run(app: &App, args: TasksArgs) -> Result<(), Trouble> {
    match args.verb {
        None => list(app, args).await,
        Some(TasksVerb::Show { task }) => show(app, &task).await,
        Some(TasksVerb::Add(args)) => add(app, args).await,
    }
}

async fn list(app: &App, args: TasksArgs) -> Result<(), Trouble> {
    let client = app.client().await?;
    let mut tasks: Vec<Value> = Vec::new();
    let mut cursor = None;
    let more = loop {
        let mut input = Map::new();
        input.insert("limit".to_owned(), (args.limit - tasks.len()).clamp(1, PAGE).into());
        let given = [
            ("state", args.state.as_ref().map(|state| state.to_uppercase())),
            ("epicId", args.epic.clone()),
            ("cursor", cursor),
        ];
        for (name, value) in given {
            input.extend(value.map(|value| (name.to_owned(), value.into())));
        }
        let mut page = app::call(&client, "mcp__task__list", &Value::Object(input), None).await?;
        if let Value::Array(found) = page["tasks"].take() {
            tasks.extend(found);
        }
        cursor = page["nextCursor"].as_str().map(str::to_owned);
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

fn listed(tasks: &[Value]) -> String {
    if tasks.is_empty() {
        return format!("No tasks. Add one with {}", name("adjutant tasks add TITLE"));
    }
    let now = now();
    let row = |task: &Value| {
        [
            field(task, "number"),
            field(task, "storedState"),
            field(task, "priority"),
            field(task, "title"),
            field(task, "assignedAgentId"),
            ago(&task["updatedAt"], now),
        ]
    };
    let headings = ["TASK", "STATE", "P", "TITLE", "AGENT", "CHANGED"];
    elastic(headings, tasks.iter().map(row), "TITLE")
}

async fn show(app: &App, task: &str) -> Result<(), Trouble> {
    let task = app.call("mcp__task__get", json!({ "taskId": task })).await?;
    Ok(app.render.answer(&task, || shown(&task))?)
}

fn shown(task: &Value) -> String {
    let now = now();
    let mut page = Page::default();
    page.line(format_args!("{} {}", bold(field(task, "number")), field(task, "title")));
    let facts = [
        ("id", field(task, "id")),
        ("slug", field(task, "slug")),
        ("state", field(task, "storedState")),
        ("priority", field(task, "priority")),
        ("epic", field(task, "epicId")),
        ("agent", field(task, "assignedAgentId")),
        ("needs", join(&task["dependsOn"])),
        ("changed", format!("{} ago", ago(&task["updatedAt"], now))),
    ];
    for (key, value) in facts.iter().filter(|(_, value)| value != "-") {
        page.line(format_args!("  {key:8}  {value}"));
    }
    if let Some(description) = task["description"].as_str() {
        page.line("");
        page.text(&quoted(description));
    }
    for comment in task["comments"].as_array().into_iter().flatten() {
        let who = comment["agentId"].as_str().unwrap_or("you");
        let when = ago(&comment["createdAt"], now);
        let body = quoted(comment["body"].as_str().unwrap_or_default());
        page.line(format_args!("\n{} {}", name(line(who)), dim(format!("{when} ago"))));
        page.text(&body);
    }
    let history = task["history"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !history.is_empty() {
        page.line("\nWorked on by");
    }
    for work in history {
        let [who, role, status] = ["agentId", "role", "status"].map(|key| field(work, key));
        page.line(format_args!("  {who}  {role}  {status}"));
    }
    page.into_text()
}

/// The items of a list, on a line.
fn join(list: &Value) -> String {
    let items: Vec<String> = list
        .as_array()
        .into_iter()
        .flatten()
        .map(|item| short(item.as_str().unwrap_or_default(), 40))
        .collect();
    if items.is_empty() { "-".to_owned() } else { items.join(", ") }
}

async fn add(app: &App, args: TaskAddArgs) -> Result<(), Trouble> {
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
    let task = app.call("mcp__task__create", Value::Object(input)).await?;
    Ok(app.render.answer(&task, || {
        let [number, slug] = ["number", "slug"].map(|key| field(&task, key));
        format!("{} {number} ({slug})", good("Added"))
    })?)
}
