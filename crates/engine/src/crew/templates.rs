//! Prepared prompts: checked by name, described as tools, and filled in. Nothing in a template but its arguments is
//! replaced, and what is put in is not looked at again.

use model::nearest::nearest;
use serde_json::{Map, Value, json};

use crate::core::error::ToolError;
use crate::core::settings::{Template, TemplateArgument};

/// Maximum length of an argument.
const ARGUMENT: usize = 64 * 1024;

/// The prompts that are no tools, by names that tools cannot have.
pub const PROMPTS: [&str; 2] = ["analyze-code", "run-tests"];

/// Arguments of every template's tool beside its own.
pub const BESIDES: [&str; 5] =
    ["include_context", "async", "notify_on_complete", "max_cost_usd", "abort_on_budget_exceeded"];

/// True if a template is also a tool.
pub fn is_tool(template: &Template) -> bool {
    is_name(&template.name)
}

/// Problem with an argument's name, if any.
pub fn argument_problem(name: &str) -> Option<String> {
    if !is_argument(name) {
        let message = "must be a letter and then letters, digits or `_`";
        return Some(format!("the argument `{name}` {message}"));
    }
    let is_taken = BESIDES.contains(&name);
    is_taken.then(|| format!("every template's tool takes `{name}` already"))
}

pub(crate) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.len() <= 41
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// The schema of what a template is given.
pub fn input_schema(template: &Template) -> Map<String, Value> {
    let property = |argument: &TemplateArgument| {
        let mut schema = json!({"type": "string", "maxLength": ARGUMENT});
        if !argument.description.is_empty() {
            schema["description"] = argument.description.clone().into();
        }
        (argument.name.clone(), schema)
    };
    let properties: Map<String, Value> = template.arguments.iter().map(property).collect();
    let required: Vec<&str> = template
        .arguments
        .iter()
        .filter(|argument| argument.required)
        .map(|argument| argument.name.as_str())
        .collect();
    let mut schema = Map::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), properties.into());
    if !required.is_empty() {
        schema.insert("required".into(), json!(required));
    }
    schema.insert("additionalProperties".into(), false.into());
    schema
}

/// The prompt that a template makes of these arguments. An optional one that is absent leaves its place empty.
pub fn render(template: &Template, arguments: &Map<String, Value>) -> Result<String, ToolError> {
    let known = || template.arguments.iter().map(|argument| argument.name.as_str());
    for (name, value) in arguments {
        if !known().any(|argument| argument == name) {
            return Err(unknown(name, known()));
        }
        let refuse = |why: String| {
            Err(ToolError::invalid(format!("`{name}`: {why}")).detail("field", name.as_str()))
        };
        match value {
            Value::String(text) if text.chars().count() > ARGUMENT => {
                let length = text.chars().count();
                return refuse(format!("is {length} characters long; the limit is {ARGUMENT}"));
            }
            Value::Array(_) | Value::Object(_) => return refuse("must be text".to_owned()),
            _ => {}
        }
    }
    let is_given = |name: &str| arguments.get(name).is_some_and(|value| !value.is_null());
    let missing: Vec<&str> = template
        .arguments
        .iter()
        .filter(|argument| argument.required && !is_given(&argument.name))
        .map(|argument| argument.name.as_str())
        .collect();
    if let Some(first) = missing.first() {
        let word = if missing.len() == 1 { "argument" } else { "arguments" };
        let message = format!("missing {word} `{}`", missing.join("`, `"));
        return Err(ToolError::invalid(message).detail("field", *first));
    }
    let mut text = String::with_capacity(template.text.len());
    for piece in pieces(&template.text) {
        match piece {
            Piece::Argument(name) if known().any(|argument| argument == name) => {
                match arguments.get(name) {
                    None | Some(Value::Null) => {}
                    Some(Value::String(value)) => text.push_str(value),
                    Some(value) => text.push_str(&value.to_string()),
                }
            }
            Piece::Argument(name) => text.extend(["{{", name, "}}"]),
            Piece::Text(plain) => text.push_str(plain),
        }
    }
    Ok(text)
}

pub(crate) fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> ToolError {
    let known: Vec<&str> = known.collect();
    let error = ToolError::invalid(format!("unknown argument `{name}`")).detail("field", name);
    match nearest(name, known.iter().copied()) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None if known.is_empty() => error.hint("this template takes no arguments"),
        None => error.hint(format!("the arguments are: {}", known.join(", "))),
    }
}

/// A piece of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Stands for itself
    Text(&'a str),
    /// Stands for the argument of this name
    Argument(&'a str),
}

/// Takes a template's text apart. What stands in double braces and is no name is text.
pub fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    let mut next = None;
    std::iter::from_fn(move || {
        if let Some(argument) = next.take() {
            return Some(argument);
        }
        let mut from = 0;
        while let Some(at) = rest.get(from..).and_then(|rest| rest.find("{{")).map(|at| from + at) {
            let inside = rest.get(at + 2..).unwrap_or_default();
            let end = inside.find("}}").unwrap_or(inside.len());
            let name = inside.get(..end).unwrap_or_default().trim();
            if end < inside.len() && is_argument(name) {
                let before = rest.get(..at).unwrap_or_default();
                rest = inside.get(end + 2..).unwrap_or_default();
                next = Some(Piece::Argument(name));
                return if before.is_empty() { next.take() } else { Some(Piece::Text(before)) };
            }
            from = at + 1;
        }
        let last = std::mem::take(&mut rest);
        (!last.is_empty()).then_some(Piece::Text(last))
    })
}

/// True for a valid argument name.
fn is_argument(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.len() <= 41
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests;
