//! Validation of results against a given JSON Schema.
//!
//! Agents give schemas, so nothing is fetched for them, and none may take long: how large one is once its references
//! are followed is found out first.

use std::collections::HashMap;
use std::path::{Component, Path};

use host::inside::{self, InsideError};
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use crate::core::error::ToolError;
use crate::crew::context::clip;

/// A schema may have so many bytes…
const BYTES: u64 = 256 * 1024;
/// …so many rules with its references followed…
const WEIGHT: u64 = 20_000;
/// …and so many inside each other.
const DEPTH: usize = 100;
/// Limit on rules times values that are checked at all…
const EFFORT: u64 = 20_000_000;
/// …and so many where every mistake is wanted.
const DETAILED: u64 = 500_000;
/// Number of reported violations, and bytes of each.
const PROBLEMS: usize = 20;
const PROBLEM: usize = 300;
/// Maximum size of a compiled pattern.
const PATTERN: usize = 1024 * 1024;

/// Puts the schema in the place of the file that `structured_output` of an input names. Blocks.
pub(crate) fn load_schema_file(project: &Path, input: &mut Value) -> Result<(), ToolError> {
    let Some(given) = input.get_mut("structured_output") else { return Ok(()) };
    let Some(path) = given.as_str().filter(|text| !is_schema(text)) else { return Ok(()) };
    let schema = match load_schema(project, path)? {
        // As objects, which say the same: other text would be taken for the name of a file.
        Value::Bool(true) => Value::Object(serde_json::Map::new()),
        Value::Bool(false) => serde_json::json!({ "not": {} }),
        schema => schema,
    };
    *given = Value::String(schema.to_string());
    Ok(())
}

/// Returns whether a text is a schema itself and not the name of its file.
fn is_schema(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// The schema that `structured_output` has as text. Its file was put in its place before.
pub(crate) fn parse_schema(given: &str) -> Result<Value, ToolError> {
    if is_schema(given) {
        return load_schema(Path::new(""), given);
    }
    Err(ToolError::invalid(
        "`structured_output` is neither a schema nor the path of a file with one",
    )
    .detail("field", "structured_output"))
}

/// A schema: a file inside the project, or the schema itself as text.
pub(super) fn load_schema(project: &Path, given: &str) -> Result<Value, ToolError> {
    let refuse = |why: String| {
        ToolError::invalid(format!("`structured_output`: {why}"))
            .detail("field", "structured_output")
    };
    let (name, text) = if is_schema(given) {
        if u64::try_from(given.len()).is_ok_and(|length| length > BYTES) {
            return Err(refuse(format!("the schema is larger than {BYTES} bytes")));
        }
        ("the schema".to_owned(), given.to_owned())
    } else {
        let name = format!("`{}`", clip(given, PROBLEM));
        (name.clone(), read(project, given).map_err(|why| refuse(format!("{name}: {why}")))?)
    };
    let schema: Value = serde_json::from_str(&text)
        .map_err(|error| refuse(format!("{name} is not JSON: {error}")))?;
    let survey = Survey::of(&schema).and_then(|survey| build(&schema).map(|_| survey));
    match survey {
        Ok(_) => Ok(schema),
        Err(why) => Err(refuse(format!("{name} cannot be used: {why}"))
            .hint("it must be a JSON Schema whose references stay within it, as in `#/$defs/…`")),
    }
}

fn read(project: &Path, given: &str) -> Result<String, String> {
    let found = match inside::read(project, Path::new(given), BYTES) {
        Ok(found) => found,
        Err(InsideError::Unreadable(error)) => {
            return Err(format!("it could not be read: {error}"));
        }
        Err(error) => return Err(error.to_string()),
    };
    // Adjutant's own files hold tokens; no error and no prompt may quote them.
    let is_private =
        |part: Component<'_>| matches!(part.as_os_str().to_str(), Some(".adjutant" | ".git"));
    if found.path.components().any(is_private) {
        return Err("it is in a folder where schemas are not allowed".to_owned());
    }
    if found.size > BYTES {
        return Err(format!("it is larger than {BYTES} bytes"));
    }
    String::from_utf8(found.bytes).map_err(|_| "it is not UTF-8".to_owned())
}

/// Lists the violations of a schema by a value.
pub(super) fn check(schema: &Value, value: &Value) -> Vec<String> {
    let unusable = |why: String| vec![format!("the schema cannot be used: {why}")];
    let survey = match Survey::of(schema) {
        Ok(survey) => survey,
        Err(why) => return unusable(why),
    };
    let effort = survey.weight.saturating_mul(size(value));
    if effort > EFFORT {
        return vec!["the value is too large to validate".to_owned()];
    }
    match build(schema) {
        Ok(validator) if validator.is_valid(value) => return Vec::new(),
        Ok(_) => {}
        Err(why) => return unusable(why),
    }
    let mut problems = Vec::new();
    if effort <= DETAILED
        && let Ok(validator) = build(&survey.without_loops(schema))
    {
        for error in validator.iter_errors(value).take(PROBLEMS) {
            let place = match error.instance_path().as_str() {
                "" => String::new(),
                path => format!("`{path}`: "),
            };
            problems.push(clip(&format!("{place}{}", error.masked()), PROBLEM).into_owned());
        }
    }
    if problems.is_empty() {
        problems.push("the value does not match its schema".to_owned());
    }
    problems
}

/// Makes a schema ready for use, without going anywhere for it. Patterns take time in proportion to the text.
fn build(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .offline()
        .with_pattern_options(PatternOptions::regex().size_limit(PATTERN).dfa_size_limit(PATTERN))
        .build(schema)
        .map_err(|error| {
            let place = match error.instance_path().as_str() {
                "" => String::new(),
                path => format!("at `{path}`, "),
            };
            clip(&format!("{place}{error}"), PROBLEM).into_owned()
        })
}

/// Number of nested values.
fn size(value: &Value) -> u64 {
    match value {
        Value::Array(items) => items.iter().map(size).sum::<u64>() + 1,
        Value::Object(fields) => fields.values().map(size).sum::<u64>() + 1,
        _ => 1,
    }
}

/// Survey of a schema before its use.
struct Survey {
    /// Number of rules, following references but no cycles
    weight: u64,
    /// Where the references are that lead back to where they stand
    loops: Vec<String>,
}

impl Survey {
    fn of(schema: &Value) -> Result<Self, String> {
        let mut surveyor =
            Surveyor { root: schema, open: vec!["#"], known: HashMap::new(), loops: Vec::new() };
        let weight = surveyor.weigh(schema, "", 0)?;
        Ok(Self { weight, loops: surveyor.loops })
    }

    /// The schema with the references cut that lead back: what lies deeper fits as it is.
    fn without_loops(&self, schema: &Value) -> Value {
        let mut schema = schema.clone();
        for place in &self.loops {
            if let Some(Value::Object(fields)) = schema.pointer_mut(place) {
                fields.remove("$ref");
            }
        }
        schema
    }
}

struct Surveyor<'a> {
    root: &'a Value,
    /// The references that are being followed
    open: Vec<&'a str>,
    /// Weights of references already followed
    known: HashMap<&'a str, u64>,
    loops: Vec<String>,
}

impl<'a> Surveyor<'a> {
    /// Number of rules of a schema. `at` is its position in the root schema.
    fn weigh(&mut self, schema: &'a Value, at: &str, depth: usize) -> Result<u64, String> {
        if depth > DEPTH {
            return Err(format!("its rules are nested more than {DEPTH} levels deep"));
        }
        let Value::Object(fields) = schema else { return Ok(1) };
        let mut weight = 1_u64;
        for (key, value) in fields {
            let place = || format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
            let more = match (key.as_str(), value) {
                ("const" | "enum" | "default" | "examples", _) => 1,
                ("$ref", Value::String(to)) => self.follow(to, at, depth)?,
                ("$dynamicRef" | "$recursiveRef", _) => {
                    return Err(format!("`{key}` is not supported"));
                }
                ("$id", Value::String(_)) if !at.is_empty() => {
                    return Err("a `$id` below the first level is not supported".to_owned());
                }
                (
                    "properties" | "patternProperties" | "$defs" | "definitions"
                    | "dependentSchemas" | "dependencies",
                    Value::Object(schemas),
                ) => {
                    let mut sum = 0_u64;
                    for (name, schema) in schemas {
                        let name = name.replace('~', "~0").replace('/', "~1");
                        let place = format!("{}/{name}", place());
                        sum = sum.saturating_add(self.weigh(schema, &place, depth + 1)?);
                    }
                    sum
                }
                (_, Value::Object(_)) => self.weigh(value, &place(), depth + 1)?,
                (_, Value::Array(schemas)) => {
                    let mut sum = 0_u64;
                    for (index, schema) in schemas.iter().enumerate() {
                        let place = format!("{}/{index}", place());
                        sum = sum.saturating_add(self.weigh(schema, &place, depth + 1)?);
                    }
                    sum
                }
                _ => 1,
            };
            weight = weight.saturating_add(more);
        }
        if weight > WEIGHT {
            return Err(format!("it has more than {WEIGHT} rules with its references followed"));
        }
        Ok(weight)
    }

    /// Follows a reference.
    fn follow(&mut self, to: &'a str, at: &str, depth: usize) -> Result<u64, String> {
        let shown = clip(to, 100);
        let Some(place) = to.strip_prefix('#').and_then(decoded) else {
            return Err(format!("it refers to `{shown}`; external references are not supported"));
        };
        if self.open.contains(&to) {
            self.loops.push(at.to_owned());
            return Ok(1);
        }
        if let Some(weight) = self.known.get(to) {
            return Ok(*weight);
        }
        let target = self
            .root
            .pointer(&place)
            .ok_or_else(|| format!("it refers to `{shown}`, which it does not have"))?;
        self.open.push(to);
        let weight = self.weigh(target, &place, depth + 1)?;
        self.open.pop();
        self.known.insert(to, weight);
        Ok(weight)
    }
}

/// The characters that `%` and two digits stand for in a reference.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let (high, low) = (rest.next().and_then(digit)?, rest.next().and_then(digit)?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}
