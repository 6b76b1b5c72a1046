//! Templates as commands. Only the server knows which are in force, so it is asked for them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args as _;
use serde_json::json;
use wire::tools::ToolList;

use super::{call, unknown};
use crate::app::{self, App};
use crate::cli::Global;
use crate::cli::call::tool::{ToolCommand, ToolRequest, command_of};
use crate::cli_error::CliError;
use crate::client::{Answer, Client, ClientError};
use crate::server_process::connect;
use crate::terminal::usage::refused;

/// The tools that the server has beside the built-in ones.
async fn ask(client: &Client) -> Result<Vec<ToolCommand>, ClientError> {
    let answer: Answer<ToolList> = client.get("/api/tools").await?;
    let tools = answer.into_value().tools.into_iter();
    let templates = tools.filter(|tool| engine::by_name(&tool.canonical_name).is_none());
    Ok(templates
        .map(|tool| ToolCommand {
            name: tool.name,
            canonical: tool.canonical_name,
            toolset: tool.toolset,
            title: tool.title,
            description: tool.description,
            input: Arc::new(tool.input_schema),
        })
        .collect())
}

/// The templates of the server that runs; none where none does.
pub(super) async fn of_running(app: &App) -> Vec<ToolCommand> {
    let Ok(at) = app.place(&[]) else { return Vec::new() };
    match connect::locate(&at) {
        Ok(Some(client)) => ask(&client).await.unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// Calls what may be a template, with what was typed after it.
pub(super) async fn run(app: &App, typed: &str, rest: &[OsString]) -> Result<(), CliError> {
    let app = App::new(app.env.clone(), global(&app.global, rest));
    if app.place(&[]).is_err() {
        return Err(unknown(typed));
    }
    let client = app.client().await?;
    let is_meant = |tool: &ToolCommand| tool.name == typed || tool.canonical == typed;
    let Some(tool) = ask(&client).await?.into_iter().find(is_meant) else {
        // The server says what is nearest, or that the caller may not. With this input nothing is done.
        app::call(&client, typed, &json!([]), None).await?;
        return Err(unknown(typed));
    };
    let path = format!("adjutant tool {}", tool.name);
    let command = Global::augment_args(command_of(&tool).bin_name(path));
    let words = std::iter::once(OsString::from(typed)).chain(rest.iter().cloned());
    match command.max_term_width(80).try_get_matches_from(words) {
        Ok(matches) => call(&app, ToolRequest::of(&tool, &matches)).await,
        Err(error) => refused(&error, app.render),
    }
}

/// The flags that every command has, where they come after the tool's name.
fn global(before: &Global, rest: &[OsString]) -> Global {
    let mut global = before.clone();
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("--") => break,
            Some("--json") => global.json = true,
            Some("--home") => global.home = words.next().map(PathBuf::from),
            Some(word) => {
                if let Some(home) = word.strip_prefix("--home=") {
                    global.home = Some(home.into());
                }
            }
            None => {}
        }
    }
    global
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, Value};

    fn tool(fields: &[&str]) -> ToolCommand {
        let schema = |field: &&str| ((*field).to_owned(), json!({ "type": "string" }));
        let properties: Map<String, Value> = fields.iter().map(schema).collect();
        let input = Map::from_iter([("properties".to_owned(), Value::Object(properties))]);
        ToolCommand {
            name: "look_at".into(),
            canonical: "mcp__agents__look_at".into(),
            toolset: "agents".into(),
            title: "Look at something".into(),
            description: "Look at something".into(),
            input: Arc::new(input),
        }
    }

    #[test]
    fn whatever_the_arguments_are_called_there_is_a_command() {
        let tool = tool(&["input", "as", "help", "json", "home", "Target", "a_b", "aB", "X"]);
        let command = Global::augment_args(command_of(&tool));
        command.clone().debug_assert();
        let words = ["look_at", "--target", "t", "--a-b", "1", "--x=y", "--input", "{}", "--json"];
        let matches = command.try_get_matches_from(words).unwrap();
        let request = ToolRequest::of(&tool, &matches);
        assert_eq!(request.tool, "mcp__agents__look_at");
        assert_eq!(request.input.as_deref(), Some("{}"));
        assert_eq!((&request.fields["Target"], &request.fields["X"]), (&json!("t"), &json!("y")));
        assert_eq!(
            request.fields.len(),
            3,
            "two that look alike share a flag: {:?}",
            request.fields
        );
    }

    #[test]
    fn flags_for_everything_may_come_last() {
        let before = Global { home: None, json: false, verbose: 0 };
        let rest = ["--target", "x", "--json", "--home=/a"].map(OsString::from);
        let global = global(&before, &rest);
        assert!(global.json);
        assert_eq!(global.home, Some("/a".into()));
        let apart = ["--home", "/b", "--", "--json"].map(OsString::from);
        let global = super::global(&before, &apart);
        assert!(!global.json);
        assert_eq!(global.home, Some("/b".into()));
    }
}
