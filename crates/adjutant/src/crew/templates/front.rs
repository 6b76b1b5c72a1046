//! Front matter of a template file, checked against its text.

use std::fmt;
use std::sync::LazyLock;

use engine::settings::{Template, TemplateArgument};
use engine::templates::{Piece, argument_problem, name_problem, pieces};
use host::agent::KINDS;
use model::nearest::nearest;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};

use crate::crew::front_matter::{self, Names};
use crate::yaml::{self, Problem};

/// Time limits of a template's agent, in seconds.
const TIMEOUT: std::ops::RangeInclusive<u32> = 30..=1800;

/// The front matter.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Front {
    description: String,
    #[serde(default)]
    arguments: Vec<Argument>,
    agent: Option<SpawnableKind>,
    model: Option<String>,
    tools: Option<Names>,
    timeout: Option<u32>,
}

/// Kind of agent that can run a template.
#[derive(Debug, Clone, Copy)]
struct SpawnableKind(&'static str);

/// Names of the kinds that can run templates; the first is the default.
static SPAWNABLE: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let kinds = KINDS.iter().filter(|kind| kind.spawn_defaults().is_some());
    kinds.map(|kind| kind.name()).collect()
});

impl<'de> Deserialize<'de> for SpawnableKind {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        let known = SPAWNABLE.iter().find(|known| **known == name);
        known.copied().map(Self).ok_or_else(|| D::Error::unknown_variant(&name, &SPAWNABLE))
    }
}

/// An argument, or only its name.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Described {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    required: bool,
}

#[derive(Debug)]
struct Argument(Described);

impl<'de> Deserialize<'de> for Argument {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Argument;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an argument's name, or its `name`, `description` and `required`")
            }
            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Argument, E> {
                Ok(Argument(Described { name: name.to_owned(), ..Described::default() }))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Argument, A::Error> {
                Described::deserialize(MapAccessDeserializer::new(map)).map(Argument)
            }
        }
        from.deserialize_any(Either)
    }
}

/// Reads a template's file. `shown` is what it is called in messages.
pub(super) fn read(name: &str, shown: &str, text: &str) -> Result<Template, Box<Problem>> {
    if let Some(problem) = name_problem(name) {
        return Err(Problem::of(shown, problem)
            .with_help(Some("the file's name is the tool's: rename the file".to_owned())));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.len() > yaml::MAX_BYTES {
        return Err(Problem::of(shown, format!("is larger than {} bytes", yaml::MAX_BYTES)));
    }
    let Some((matter, prompt)) = front_matter::cut(text) else {
        let message = "must begin with `---`, YAML with at least a `description`, and `---`";
        return Err(at_line(shown, 1, message.to_owned()));
    };
    let front: Front = yaml::parse(shown, &matter, text)?;
    let at_key = |key: &str, message: String| Problem::at_key(shown, text, key, message);
    if front.description.trim().is_empty() {
        return Err(at_key("description", "`description` is empty".to_owned()));
    }
    if let Some(timeout) = front.timeout.filter(|timeout| !TIMEOUT.contains(timeout)) {
        let (from, to) = (TIMEOUT.start(), TIMEOUT.end());
        let message = format!("`timeout` is {timeout}; it must be {from} to {to} seconds");
        return Err(at_key("timeout", message));
    }
    let mut arguments: Vec<TemplateArgument> = Vec::new();
    for Argument(Described { name, description, required }) in front.arguments {
        if let Some(message) = argument_problem(&name) {
            return Err(at_key("arguments", message));
        }
        if arguments.iter().any(|argument| argument.name == name) {
            return Err(at_key("arguments", format!("the argument `{name}` is there twice")));
        }
        arguments.push(TemplateArgument { name, description, required });
    }
    if prompt.trim().is_empty() {
        let line = text.lines().count().max(1);
        return Err(at_line(shown, line, "has no text under its front matter".to_owned()));
    }
    check_text(shown, text, prompt, &arguments)?;
    Ok(Template {
        name: name.to_owned(),
        description: front.description.trim().to_owned(),
        arguments,
        kind: front
            .agent
            .map_or_else(|| SPAWNABLE.first().copied(), |kind| Some(kind.0))
            .unwrap_or_default()
            .to_owned(),
        model: front.model,
        tools: front.tools.map(|Names(names)| names),
        timeout: front.timeout,
        text: prompt.trim().to_owned(),
    })
}

/// Checks that every argument in the text is one.
fn check_text(
    shown: &str,
    text: &str,
    prompt: &str,
    arguments: &[TemplateArgument],
) -> Result<(), Box<Problem>> {
    let known = || arguments.iter().map(|argument| argument.name.as_str());
    let mut line = text.lines().count() - prompt.lines().count() + 1;
    for piece in pieces(prompt) {
        match piece {
            Piece::Text(plain) => line += plain.matches('\n').count(),
            Piece::Argument(name) if known().any(|argument| argument == name) => {}
            Piece::Argument(name) => {
                let help = match nearest(name, known()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("add `{name}` to its `arguments`"),
                };
                let message = format!("`{{{{{name}}}}}` is not one of its arguments");
                return Err(at_line(shown, line, message).with_help(Some(help)));
            }
        }
    }
    Ok(())
}

fn at_line(shown: &str, line: usize, message: String) -> Box<Problem> {
    let mut problem = Problem::of(shown, message);
    problem.place = format!("{shown}:{line}");
    problem.line = Some(line);
    problem
}
