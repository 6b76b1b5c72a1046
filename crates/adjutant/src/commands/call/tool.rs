//! `adjutant tool`: calls a tool, or lists them all.

mod templates;

use std::io::Read as _;

use engine::{TOOLS, ToolDef};
use model::nearest::nearest;
use serde_json::{Map, Value, json};

use crate::app::{self, App};
use crate::cli::call::tool::{ParsedCall, ToolArgs, ToolCommand, ToolRequest};
use crate::cli_error::CliError;
use crate::terminal::render::{Page, bold, dim, name, plain};

/// Calls the tool, or lists them all.
pub(crate) async fn run(app: &App, args: ToolArgs) -> Result<(), CliError> {
    match args.call {
        None => list(app).await,
        Some(ParsedCall::Tool(request)) => call(app, request).await,
        Some(ParsedCall::Other(typed, rest)) => templates::run(app, &typed, &rest).await,
    }
}

async fn call(app: &App, request: ToolRequest) -> Result<(), CliError> {
    let input = input_of(request.input.as_deref(), request.fields)?;
    let client = app.client().await?;
    let answer = app::call(&client, &request.tool, &input, request.as_agent.as_deref()).await?;
    Ok(app.render.answer(&answer, || plain(&format!("{answer:#}")))?)
}

/// `--input`, and the flags on top of it.
fn input_of(given: Option<&str>, fields: Map<String, Value>) -> Result<Value, CliError> {
    let text = match given {
        Some("-") => read_stdin()?,
        Some(text) => text.to_owned(),
        None => return Ok(Value::Object(fields)),
    };
    let mut input: Value = serde_json::from_str(&text)
        .map_err(|error| CliError::usage(format!("`--input` is not JSON: {error}")))?;
    match &mut input {
        Value::Object(input) => input.extend(fields),
        _ if fields.is_empty() => {}
        _ => return Err(CliError::usage("`--input` must be an object to combine it with flags")),
    }
    Ok(input)
}

/// Everything on the standard input.
pub(crate) fn read_stdin() -> Result<String, CliError> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    Ok(text)
}

/// A text as given, or from the standard input where `-` was given.
pub(crate) fn text_or_stdin(given: String) -> Result<String, CliError> {
    if given == "-" { read_stdin() } else { Ok(given) }
}

fn unknown(typed: &str) -> CliError {
    let joined: Vec<String> = TOOLS.iter().map(ToolDef::joined).collect();
    let names = joined.iter().map(String::as_str).chain(TOOLS.iter().map(|tool| tool.name));
    let cli_error =
        CliError::new(engine::Code::ToolNotFound, format!("there is no tool `{typed}`"))
            .of_tool(typed);
    match nearest(typed, names) {
        Some(near) => cli_error.hint(format!("did you mean `{near}`?")),
        None => cli_error.hint("`adjutant tool` lists them"),
    }
}

async fn list(app: &App) -> Result<(), CliError> {
    let mut tools: Vec<ToolCommand> = TOOLS.iter().map(ToolCommand::from).collect();
    let last = tools.iter().rposition(|tool| tool.toolset == engine::templates::TOOLSET);
    let after = last.map_or(tools.len(), |last| last + 1);
    tools.splice(after..after, templates::of_running(app).await);
    let all: Vec<Value> = tools
        .iter()
        .map(|tool| {
            json!({ "name": tool.name, "canonicalName": tool.canonical,
                "toolset": tool.toolset, "description": tool.description })
        })
        .collect();
    let text = || {
        let mut page = Page::default();
        let mut toolset = "";
        let width = tools.iter().map(|tool| tool.name.len()).max().unwrap_or_default();
        for tool in &tools {
            if tool.toolset != toolset {
                toolset = &tool.toolset;
                page.line(bold(toolset));
            }
            let gap = " ".repeat(width - tool.name.len());
            page.line(format_args!("  {}{gap}  {}", name(&tool.name), plain(&tool.title)));
        }
        let more = "`adjutant tool NAME --help` shows what a tool takes.";
        page.line(format_args!("\n{}", dim(more)));
        page.into_text()
    };
    Ok(app.render.answer(&json!({ "tools": all }), text)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::call::tool::tests::parse;

    #[test]
    fn flags_become_the_input() {
        let request =
            parse(&["mail_send", "--to-human", "--subject", "7", "--body", "-1", "--as", "sp_1"]);
        let input = input_of(request.input.as_deref(), request.fields).unwrap();
        assert_eq!(input, json!({ "toHuman": true, "subject": "7", "body": "-1" }));
        assert_eq!(request.as_agent.as_deref(), Some("sp_1"));
    }

    #[test]
    fn flags_win_over_the_input() {
        let fields = Map::from_iter([("a".to_owned(), json!(2))]);
        let joined = input_of(Some(r#"{"a": 1, "b": 1}"#), fields.clone()).unwrap();
        assert_eq!(joined, json!({ "a": 2, "b": 1 }));
        assert!(input_of(Some("[]"), fields).is_err());
        assert_eq!(input_of(Some("[]"), Map::new()).unwrap(), json!([]));
        assert!(input_of(Some("{"), Map::new()).is_err());
    }

    #[test]
    fn an_unknown_tool_is_told_the_nearest() {
        let cli_error = unknown("mail_sned");
        assert_eq!(cli_error.hints(), ["did you mean `mail_send`?"]);
        assert_eq!(cli_error.body()["code"], "TOOL_NOT_FOUND");
    }
}
