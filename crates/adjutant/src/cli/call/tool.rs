//! The grammar of `adjutant tool`: every tool of the registry is a command, its flags and help come from its schema.
//!
//! Nothing is checked here that the server checks: a wrong field gets the same answer through every interface.

use std::collections::HashSet;
use std::ffi::OsString;
use std::sync::Arc;

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, ArgMatches, Command};
use engine::{TOOLS, ToolDef};
use serde_json::{Map, Value};

/// Tool with its arguments.
#[derive(Debug, Default)]
pub(crate) struct ToolArgs {
    pub(crate) call: Option<ParsedCall>,
}

/// Parsed command line.
#[derive(Debug)]
pub(crate) enum ParsedCall {
    /// A tool that there always is
    Tool(ToolRequest),
    /// Possibly a template, with the rest of the line
    Other(String, Vec<OsString>),
}

/// A call of a tool, as it was typed.
#[derive(Debug)]
pub(crate) struct ToolRequest {
    /// The canonical name
    pub(crate) tool: String,
    /// Value of `--input`
    pub(crate) input: Option<String>,
    /// Value of `--as`
    pub(crate) as_agent: Option<String>,
    /// Fields that were given as flags
    pub(crate) fields: Map<String, Value>,
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
    /// Reads the flags of a tool.
    pub(crate) fn of(tool: &ToolCommand, matches: &ArgMatches) -> Self {
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
pub(crate) struct ToolCommand {
    /// Its name where all toolsets are together
    pub(crate) name: String,
    /// Its canonical name
    pub(crate) canonical: String,
    /// Its toolset
    pub(crate) toolset: String,
    /// Its title
    pub(crate) title: String,
    /// Its description
    pub(crate) description: String,
    /// The schema of what goes in
    pub(crate) input: Arc<Map<String, Value>>,
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
pub(crate) fn command_of(tool: &ToolCommand) -> Command {
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use clap::FromArgMatches as _;
    use serde_json::json;

    /// The call that these arguments of `adjutant tool` are.
    pub(crate) fn parse(arguments: &[&str]) -> ToolRequest {
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
