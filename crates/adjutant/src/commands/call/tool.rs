//! `adjutant tool`: every tool of the registry as a command, its flags and help from its schema.
//!
//! Nothing is checked here that the server checks: a wrong field gets the same answer from every face.

mod templates;

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::Read as _;
use std::sync::Arc;

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, ArgMatches, Command};
use engine::{TOOLS, ToolDef};
use model::nearest::nearest;
use serde_json::{Map, Value, json};

use crate::app::{self, App};
use crate::cli_error::Trouble;
use crate::terminal::render::{Page, bold, dim, name, plain};

/// Tool with its arguments.
#[derive(Debug, Default)]
pub(crate) struct ToolArgs {
    call: Option<ParsedCall>,
}

/// Parsed command line.
#[derive(Debug)]
enum ParsedCall {
    /// A tool that there always is
    Tool(ToolRequest),
    /// Possibly a template, with the rest of the line
    Other(String, Vec<OsString>),
}

#[derive(Debug)]
struct ToolRequest {
    /// The canonical name
    tool: String,
    input: Option<String>,
    as_agent: Option<String>,
    fields: Map<String, Value>,
}

impl clap::Args for ToolArgs {
    fn augment_args(command: Command) -> Command {
        // Deferred: the schemas are made only when they are asked for.
        command.defer(|command| {
            command
                .subcommands(TOOLS.iter().map(|tool| command_of(&tool.into())))
                .allow_external_subcommands(true)
                .subcommand_value_name("NAME")
                .subcommand_help_heading("Tools")
                .disable_help_subcommand(true)
                .after_help(
                    "\
Example:
  adjutant tool                        list the tools
  adjutant tool mail_send --help       what a tool takes
  adjutant tool mail_send --to-human --subject Hello --body 'All is well'
  adjutant tool mcp__mail__list_inbox --as sp_0123456789abcdef
  echo '{\"subject\": \"Hi\"}' | adjutant tool mail_send --input - --to-human --body x",
                )
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for ToolArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let Some((typed, matches)) = matches.subcommand() else { return Ok(Self::default()) };
        let tool = TOOLS.iter().find(|tool| tool.joined() == typed);
        let call = if let Some(tool) = tool {
            ParsedCall::Tool(ToolRequest::of(&tool.into(), matches))
        } else {
            let rest = matches.get_many::<OsString>("").into_iter().flatten();
            ParsedCall::Other(typed.to_owned(), rest.cloned().collect())
        };
        Ok(Self { call: Some(call) })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl ToolRequest {
    fn of(tool: &ToolCommand, matches: &ArgMatches) -> Self {
        Self {
            tool: tool.canonical.clone(),
            input: matches.get_one::<String>("input").cloned(),
            as_agent: matches.get_one::<String>("as").cloned(),
            fields: fields_of(tool, matches),
        }
    }
}

/// A tool, as far as the command line cares.
#[derive(Debug, Clone)]
struct ToolCommand {
    /// Its name where all toolsets are together
    name: String,
    canonical: String,
    toolset: String,
    title: String,
    description: String,
    /// The schema of what goes in
    input: Arc<Map<String, Value>>,
}

impl From<&ToolDef> for ToolCommand {
    fn from(tool: &ToolDef) -> Self {
        let described = tool.described();
        Self {
            name: tool.joined(),
            canonical: tool.name.to_owned(),
            toolset: tool.toolset().to_owned(),
            title: described.title.clone(),
            description: described.description.clone(),
            input: Arc::clone(&described.input),
        }
    }
}

/// The schema's fields, in its order.
fn properties(tool: &ToolCommand) -> impl Iterator<Item = (&String, &Value)> {
    tool.input.get("properties").and_then(Value::as_object).into_iter().flatten()
}

/// Flags that every command has.
const RESERVED_FLAGS: [&str; 6] = ["input", "as", "home", "json", "verbose", "help"];

/// A tool as a command.
fn command_of(tool: &ToolCommand) -> Command {
    let required = tool.input.get("required").and_then(Value::as_array);
    let note = |name: &str| match required {
        Some(all) if all.iter().any(|one| one == name) => " [required]",
        _ => "",
    };
    let others = engine::ALIASES.iter().filter(|(_, canonical)| *canonical == tool.canonical);
    let others = others.flat_map(|(alias, _)| [(*alias).to_owned(), engine::joined_of(alias)]);
    let mut command = Command::new(tool.name.clone())
        .alias(tool.canonical.clone())
        .aliases(others)
        .about(tool.title.clone())
        .long_about(paragraphs(&tool.description))
        .after_help(example(tool));
    let mut taken = HashSet::from(RESERVED_FLAGS.map(str::to_owned));
    for (field, schema) in properties(tool) {
        // A field that can have no flag of its own is given with `--input`.
        if taken.insert(kebab(field)) {
            command = command.arg(flag_of(field, schema, note(field)));
        }
    }
    command
        .arg(
            Arg::new("input")
                .long("input")
                .value_name("JSON")
                .help_heading("Call")
                .help("Pass the whole input as JSON, - reads stdin; flags override it"),
        )
        .arg(
            Arg::new("as")
                .long("as")
                .value_name("AGENT")
                .help_heading("Call")
                .help("Act as this agent; only the operator may, and both are recorded"),
        )
}

/// Example call of a tool with its required fields.
fn example(tool: &ToolCommand) -> String {
    let required = tool.input.get("required").and_then(Value::as_array);
    let needed: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
    let mut lines = vec![format!("  adjutant tool {}", tool.name)];
    for (field, schema) in properties(tool).filter(|(field, _)| needed.contains(&field.as_str())) {
        let word = match kind_of(schema) {
            FieldKind::Truth => format!("--{}", kebab(field)),
            FieldKind::Number => format!("--{} N", kebab(field)),
            FieldKind::Text => format!("--{} TEXT", kebab(field)),
            FieldKind::Structure => format!("--{} JSON", kebab(field)),
        };
        match lines.last_mut() {
            Some(last) if last.len() + word.len() < 76 => last.extend([" ", &word]),
            _ => lines.push(format!("    {word}")),
        }
    }
    format!("Example:\n{}", lines.join(" \\\n"))
}

/// A text whose lines were broken for its source, with whole paragraphs.
fn paragraphs(text: &str) -> String {
    let joined = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
    joined.collect::<Vec<_>>().join("\n\n")
}

/// The id of a field's flag within its command, where no other flag has it.
fn flag_id(field: &str) -> String {
    format!("field:{field}")
}

fn flag_of(field: &str, schema: &Value, note: &str) -> Arg {
    let flag = kebab(field);
    let text = schema["description"].as_str().unwrap_or_default();
    let mut arg = Arg::new(flag_id(field))
        .long(flag.clone())
        .help(StyledStr::from(format!("{text}{note}")))
        .action(ArgAction::Append);
    for other in [field.to_owned(), flag.replace('-', "_")] {
        if other != flag {
            arg = arg.alias(other);
        }
    }
    match kind_of(schema) {
        FieldKind::Truth => arg
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_name("BOOL"),
        FieldKind::Number => arg.value_name("N").allow_negative_numbers(true),
        FieldKind::Text => arg.value_name("TEXT").allow_hyphen_values(true),
        FieldKind::Structure => arg.value_name("JSON"),
    }
}

/// Kind of a field's value on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FieldKind {
    Truth,
    Number,
    Text,
    Structure,
}

fn kind_of(schema: &Value) -> FieldKind {
    let mut types = Vec::new();
    collect_types(schema, &mut types);
    let only = |wanted: &[&str]| !types.is_empty() && types.iter().all(|t| wanted.contains(t));
    if only(&["boolean"]) {
        FieldKind::Truth
    } else if only(&["integer", "number"]) {
        FieldKind::Number
    } else if only(&["string"]) {
        FieldKind::Text
    } else {
        FieldKind::Structure
    }
}

/// The types that a schema allows, null apart: absence is how the command line says null.
fn collect_types<'a>(schema: &'a Value, types: &mut Vec<&'a str>) {
    match &schema["type"] {
        Value::String(one) => types.push(one),
        Value::Array(several) => types.extend(several.iter().filter_map(Value::as_str)),
        _ => {}
    }
    for choice in ["anyOf", "oneOf"] {
        for one in schema[choice].as_array().into_iter().flatten() {
            collect_types(one, types);
        }
    }
    types.retain(|one| *one != "null");
}

/// `toAgentId` and `task_id` as flags are typed.
fn kebab(field: &str) -> String {
    field.chars().fold(String::new(), |mut flag, c| {
        if c.is_ascii_uppercase() && !flag.is_empty() {
            flag.push('-');
        }
        flag.push(if c == '_' { '-' } else { c.to_ascii_lowercase() });
        flag
    })
}

fn fields_of(tool: &ToolCommand, matches: &ArgMatches) -> Map<String, Value> {
    properties(tool)
        .filter_map(|(field, schema)| {
            let given = matches.try_get_many::<String>(&flag_id(field)).ok().flatten()?;
            let given: Vec<&String> = given.collect();
            Some((field.clone(), value_of(kind_of(schema), &given)?))
        })
        .collect()
}

/// A field's value. What does not parse goes as text, so that the server says what is wrong.
fn value_of(kind: FieldKind, given: &[&String]) -> Option<Value> {
    let read = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
    let last = given.last()?;
    Some(match kind {
        FieldKind::Text => last.as_str().into(),
        // Several are a list, whatever each of them is.
        FieldKind::Structure if given.len() > 1 => given.iter().map(|text| read(text)).collect(),
        FieldKind::Truth | FieldKind::Number | FieldKind::Structure => read(last),
    })
}

/// Calls the tool, or lists them all.
pub(crate) async fn run(app: &App, args: ToolArgs) -> Result<(), Trouble> {
    match args.call {
        None => list(app).await,
        Some(ParsedCall::Tool(request)) => call(app, request).await,
        Some(ParsedCall::Other(typed, rest)) => templates::run(app, &typed, &rest).await,
    }
}

async fn call(app: &App, request: ToolRequest) -> Result<(), Trouble> {
    let input = input_of(request.input.as_deref(), request.fields)?;
    let client = app.client().await?;
    let answer = app::call(&client, &request.tool, &input, request.as_agent.as_deref()).await?;
    Ok(app.render.answer(&answer, || plain(&format!("{answer:#}")))?)
}

/// `--input`, and the flags on top of it.
fn input_of(given: Option<&str>, fields: Map<String, Value>) -> Result<Value, Trouble> {
    let text = match given {
        Some("-") => read_stdin()?,
        Some(text) => text.to_owned(),
        None => return Ok(Value::Object(fields)),
    };
    let mut input: Value = serde_json::from_str(&text)
        .map_err(|error| Trouble::usage(format!("`--input` is not JSON: {error}")))?;
    match &mut input {
        Value::Object(input) => input.extend(fields),
        _ if fields.is_empty() => {}
        _ => return Err(Trouble::usage("`--input` must be an object to combine it with flags")),
    }
    Ok(input)
}

/// Everything on the standard input.
pub(crate) fn read_stdin() -> Result<String, Trouble> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    Ok(text)
}

/// A text as given, or from the standard input where `-` was given.
pub(crate) fn text_or_stdin(given: String) -> Result<String, Trouble> {
    if given == "-" { read_stdin() } else { Ok(given) }
}

fn unknown(typed: &str) -> Trouble {
    let joined: Vec<String> = TOOLS.iter().map(ToolDef::joined).collect();
    let names = joined.iter().map(String::as_str).chain(TOOLS.iter().map(|tool| tool.name));
    let trouble = Trouble::new(engine::Code::ToolNotFound, format!("there is no tool `{typed}`"))
        .of_tool(typed);
    match nearest(typed, names) {
        Some(near) => trouble.hint(format!("did you mean `{near}`?")),
        None => trouble.hint("`adjutant tool` lists them"),
    }
}

async fn list(app: &App) -> Result<(), Trouble> {
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
    use clap::FromArgMatches as _;

    fn parse(arguments: &[&str]) -> ToolRequest {
        use clap::Args as _;
        let command = ToolArgs::augment_args(Command::new("tool"));
        let matches = command.try_get_matches_from([&["tool"], arguments].concat()).unwrap();
        match ToolArgs::from_arg_matches(&matches).unwrap().call.unwrap() {
            ParsedCall::Tool(request) => request,
            ParsedCall::Other(..) => panic!("{arguments:?} names no tool"),
        }
    }

    #[test]
    fn every_tool_is_a_command_under_both_its_names() {
        for tool in TOOLS {
            for typed in [tool.name, &tool.joined()] {
                assert_eq!(parse(&[typed]).tool, tool.name);
            }
        }
    }

    #[test]
    fn an_alias_is_a_command_too() {
        for (alias, tool) in engine::ALIASES {
            for typed in [*alias, &engine::joined_of(alias)] {
                assert_eq!(parse(&[typed]).tool, *tool);
            }
        }
    }

    #[test]
    fn every_field_is_a_flag_under_its_own_name_too() {
        for tool in TOOLS {
            for (field, schema) in properties(&tool.into()) {
                let value = match kind_of(schema) {
                    FieldKind::Truth => "=true",
                    FieldKind::Number => "=1",
                    FieldKind::Text => "=x",
                    FieldKind::Structure => "=[1]",
                };
                for flag in [field.clone(), kebab(field)] {
                    let request = parse(&[tool.name, &format!("--{flag}{value}")]);
                    assert!(request.fields.contains_key(field), "{}: {flag}", tool.name);
                }
            }
        }
    }

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
        let trouble = unknown("mail_sned");
        assert_eq!(trouble.hints(), ["did you mean `mail_send`?"]);
        assert_eq!(trouble.body()["code"], "TOOL_NOT_FOUND");
    }

    #[test]
    fn values_are_read_by_kind() {
        let one = |kind, text: &str| value_of(kind, &[&text.to_owned()]).unwrap();
        assert_eq!(one(FieldKind::Number, "3"), json!(3));
        assert_eq!(one(FieldKind::Number, "many"), json!("many"));
        assert_eq!(one(FieldKind::Structure, r#"[{"a": 1}]"#), json!([{ "a": 1 }]));
        assert_eq!(one(FieldKind::Structure, "TAS-1"), json!("TAS-1"));
        let two = ["a".to_owned(), "b".to_owned()];
        assert_eq!(
            value_of(FieldKind::Structure, &two.iter().collect::<Vec<_>>()),
            Some(json!(["a", "b"]))
        );
    }
}
