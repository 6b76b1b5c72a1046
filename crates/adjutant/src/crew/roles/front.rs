//! Front matter of a role file.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use engine::settings::{Budget, McpChoice, Programs, Role, Sandbox, Worktree};
use host::agent::{RoleKey, role_keys};
use model::Line;
use model::nearest::nearest;
use model::policy::Rules;
use model::review::ReviewRequired;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

use super::Source;
use crate::config::{CapConfig, Kind, Pattern};
use crate::crew::front_matter::{Names, cut};
use crate::yaml::{self, Problem};

/// Every key that means something, but for those that name programs.
const KEYS: [&str; 19] = [
    "name",
    "category",
    "displayName",
    "description",
    "agent",
    "model",
    "tools",
    "disallowedTools",
    "mcp",
    "allow",
    "deny",
    "cwd",
    "timeout",
    "inactivity",
    "budget",
    "worktree",
    "tmux",
    "sandbox",
    "review",
];

/// Every key that means something, as they are listed: those of programs come behind the kind.
static ALL_KEYS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let mut keys = KEYS.to_vec();
    let behind_kind = keys.iter().position(|key| *key == "agent").map_or(0, |at| at + 1);
    keys.splice(behind_kind..behind_kind, role_keys().into_iter().map(|(_, key)| key.name));
    keys
});

/// Keys that bound an agent: mistyped they would bound nothing.
const RESTRICTING_KEYS: [&str; 10] = [
    "category",
    "mcp",
    "tools",
    "disallowedTools",
    "deny",
    "timeout",
    "inactivity",
    "budget",
    "sandbox",
    "review",
];

/// Keys that Claude Code gives a meaning to and Adjutant does not. They bound nothing here, so they may stand.
const CLAUDE_KEYS: [&str; 12] = [
    "background",
    "color",
    "effort",
    "hooks",
    "initialPrompt",
    "isolation",
    "maxTurns",
    "mcpServers",
    "memory",
    "permissionMode",
    "skills",
    "version",
];

/// The front matter. Unknown keys are found by a second reading.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Front {
    name: Line<100>,
    category: Option<String>,
    display_name: Option<String>,
    description: Option<String>,
    agent: Option<Kind>,
    model: Option<String>,
    tools: Option<Names>,
    disallowed_tools: Option<Names>,
    mcp: Option<Names>,
    #[serde(default)]
    allow: Vec<Pattern>,
    #[serde(default)]
    deny: Vec<Pattern>,
    cwd: Option<String>,
    #[serde(default, deserialize_with = "some_timeout")]
    timeout: Option<u32>,
    inactivity: Option<u32>,
    #[serde(default)]
    budget: CapConfig,
    worktree: Option<WorktreeName>,
    #[serde(default)]
    tmux: bool,
    #[serde(default)]
    sandbox: SandboxName,
    #[serde(default)]
    review: ReviewOfRole,
}

/// Review of what the role's agents leave.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReviewOfRole {
    required: Option<ReviewRequired>,
}

/// A timeout of 0 would end every agent before it began.
fn some_timeout<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    match Option::<u32>::deserialize(from)? {
        Some(0) => {
            Err(D::Error::custom("is 0, with which nothing could run; it must be at least 1"))
        }
        given => Ok(given),
    }
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum WorktreeName {
    None,
    Fresh,
    Parent,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SandboxName {
    #[default]
    None,
    Bwrap,
}

/// Reads a role's file.
pub(super) fn read(
    name: &str,
    source: Source,
    text: &str,
) -> Result<(Role, Vec<Problem>), Box<Problem>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.len() > yaml::MAX_BYTES {
        return Err(Problem::of(name, format!("is larger than {} bytes", yaml::MAX_BYTES)));
    }
    let (matter, prompt) = cut(text).ok_or_else(|| {
        let message = "must begin with `---`, YAML with at least a `name`, and `---`";
        let mut problem = Problem::of(name, message);
        problem.place = format!("{name}:1");
        problem.line = Some(1);
        problem
    })?;
    let mut warnings = Vec::new();
    let front: Front = match yaml::parse::<serde_json::Value>(name, &matter, text) {
        Ok(_) => yaml::parse(name, &matter, text)?,
        // Not YAML. Claude Code takes such files, so what it takes is taken.
        Err(first) => {
            let (mended, keys) = mend(&matter);
            let front = yaml::parse(name, &mended, text).map_err(|_| first)?;
            warnings.extend(keys.iter().map(|key| {
                let message = format!("`{key}` is not valid YAML and was read as plain text");
                let help = Some("put it in quotes, or under `>-`".to_owned());
                *Problem::at_key(name, text, key, message).with_help(help)
            }));
            return finish(name, source, text, front, &mended, prompt, warnings);
        }
    };
    finish(name, source, text, front, &matter, prompt, warnings)
}

fn finish(
    name: &str,
    source: Source,
    text: &str,
    front: Front,
    matter: &str,
    prompt: &str,
    mut warnings: Vec<Problem>,
) -> Result<(Role, Vec<Problem>), Box<Problem>> {
    let mut other: BTreeMap<String, serde_json::Value> = yaml::parse(name, matter, text)?;
    other.retain(|key, _| !KEYS.contains(&key.as_str()));
    let programs = take_programs(&mut other)
        .map_err(|(key, message)| Problem::at_key(name, text, key, message))?;
    for key in other.keys() {
        let near = match source {
            Source::Home => nearest(key, ALL_KEYS.iter().copied()),
            // Claude Code's files may have keys that nobody here has heard of.
            Source::Claude => nearest(key, RESTRICTING_KEYS),
        };
        let is_claudes = CLAUDE_KEYS.contains(&key.as_str());
        if is_claudes || (source == Source::Claude && near.is_none()) {
            let message = format!("key `{key}` has no effect in Adjutant");
            warnings.push(*Problem::at_key(name, text, key, message));
            continue;
        }
        // A mistyped `deny` would deny nothing.
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known: {}", ALL_KEYS.join(", ")),
        };
        let message = format!("unknown key `{key}`");
        return Err(Problem::at_key(name, text, key, message).with_help(Some(help)));
    }
    let named = front.agent;
    let mut role = Role {
        name: front.name.into_inner(),
        category: front.category.unwrap_or_else(|| "worker".to_owned()),
        display_name: front.display_name,
        description: front.description,
        kind: None,
        programs,
        model: front.model,
        tools: front.tools.map(|Names(names)| names),
        disallowed_tools: front.disallowed_tools.map(|Names(names)| names).unwrap_or_default(),
        mcp: mcp_choice(front.mcp),
        cwd: front.cwd,
        timeout: front.timeout,
        inactivity: front.inactivity,
        budget: Budget::from(front.budget),
        worktree: front.worktree.map(|name| match name {
            WorktreeName::None => Worktree::None,
            WorktreeName::Fresh => Worktree::Fresh,
            WorktreeName::Parent => Worktree::Parent,
        }),
        tmux: front.tmux,
        sandbox: match front.sandbox {
            SandboxName::None => Sandbox::None,
            SandboxName::Bwrap => Sandbox::Bwrap,
        },
        review_required: front.review.required,
        rules: Rules {
            allow: front.allow.into_iter().map(|Pattern(glob)| glob).collect(),
            deny: front.deny.into_iter().map(|Pattern(glob)| glob).collect(),
        },
        other,
        prompt: prompt.trim().to_owned(),
    };
    let kind =
        kind(named, &role).map_err(|message| Problem::at_key(name, text, "agent", message))?;
    role.kind = kind.map(|kind| kind.name().to_owned());
    Ok((role, warnings))
}

/// The MCP servers that are named; `all` and `none` are words.
fn mcp_choice(names: Option<Names>) -> McpChoice {
    let names = names.map(|Names(names)| names);
    match names.as_deref() {
        None => McpChoice::All,
        Some([word]) if word == "all" => McpChoice::All,
        Some([]) => McpChoice::None,
        Some([word]) if word == "none" => McpChoice::None,
        Some(names) => McpChoice::Names(names.to_vec()),
    }
}

/// Takes the keys that name programs out of all others. An error has its key.
fn take_programs(
    fields: &mut BTreeMap<String, serde_json::Value>,
) -> Result<Programs, (&'static str, String)> {
    let mut programs = Vec::new();
    for (_, key) in role_keys() {
        let words = match fields.remove(key.name) {
            None => continue,
            Some(serde_json::Value::Null) => Vec::new(),
            Some(serde_json::Value::String(path)) if key.is_path => vec![path],
            Some(list @ serde_json::Value::Array(_)) if !key.is_path => {
                let words = serde_json::from_value(list);
                words.map_err(|_| (key.name, format!("`{}` must be a list of texts", key.name)))?
            }
            Some(_) if key.is_path => {
                return Err((key.name, format!("`{}` must be a path", key.name)));
            }
            Some(_) => {
                let message =
                    format!("`{}` must be a list: the program and its arguments", key.name);
                return Err((key.name, message));
            }
        };
        programs.push((key.name.to_owned(), words));
    }
    Ok(programs.into_iter().collect())
}

/// The kind that is named, else the one whose program is given.
fn kind(named: Option<Kind>, role: &Role) -> Result<Option<Kind>, String> {
    let is_missing = |key: &RoleKey| key.is_required && role.programs.get(key.name).is_empty();
    if let Some(kind) = named {
        return match kind.role_key().filter(is_missing) {
            Some(key) => Err(format!("an agent of kind `{}` needs `{}`", kind.name(), key.name)),
            None => Ok(Some(kind)),
        };
    }
    let given = role_keys().into_iter().find(|(kind, _)| !role.program_of(*kind).is_empty());
    Ok(given.and_then(|(kind, _)| Kind::of_name(kind.name())))
}

/// Quotes the values of keys at the margin that YAML would stumble over, such as a description
/// with `Context: …` in it. Says which.
fn mend(matter: &str) -> (String, Vec<String>) {
    let mut mended = String::with_capacity(matter.len() + 16);
    let mut keys = Vec::new();
    for line in matter.lines() {
        match line.split_once(": ") {
            Some((key, value))
                if key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
                    && (value.contains(": ") || value.contains(" #") || value.ends_with(':'))
                    && !value.trim_start().starts_with(['"', '\'', '[', '{', '|', '>']) =>
            {
                mended.extend([key, ": '", &value.trim().replace('\'', "''"), "'"]);
                keys.push(key.to_owned());
            }
            _ => mended.push_str(line),
        }
        mended.push('\n');
    }
    (mended, keys)
}
