//! Role files: lists them, finds one by name, and checks a new text.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use model::Policy;

use super::{Source, name_of, parse, shown};
use crate::crew::front_matter;
use crate::home::Home;
use crate::yaml::Problem;

/// No name of a file is longer.
const MAX_NAME_BYTES: usize = 64;

/// A role's file.
#[derive(Debug, Clone)]
pub(crate) struct File {
    /// The role, also where the rest of the file cannot be read
    pub(crate) name: String,
    /// Where it is
    pub(crate) path: PathBuf,
    /// True if it is in the home
    pub(crate) is_own: bool,
    /// Content
    pub(crate) text: String,
    /// Problem, if any
    pub(crate) problem: Option<Problem>,
    /// Warnings
    pub(crate) warnings: Vec<Problem>,
}

/// Every role's file: the home's, and those of Claude Code's that the home's do not stand in for.
pub(crate) fn list(home: &Home, policy: &Policy) -> Vec<File> {
    let (mut all, mut taken) = (Vec::new(), BTreeSet::new());
    for (dir, source) in [(home.roles(), Source::Home), (home.claude_agents(), Source::Claude)] {
        let is_own = source == Source::Home;
        for path in front_matter::markdown_in(&dir).unwrap_or_default() {
            let place = shown(home, &path);
            let text = fs::read_to_string(&path).unwrap_or_default();
            let (name, problem, warnings) = match parse(&place, source, &text, policy) {
                Ok((role, warnings)) => (role.name, None, warnings),
                Err(problem) => (name_of(&path, &text), Some(*problem), Vec::new()),
            };
            if is_own || !taken.contains(&name) {
                taken.insert(name.clone());
                all.push(File { name, path, is_own, text, problem, warnings });
            }
        }
    }
    all
}

/// The file that a role of that name has, or would have: always one of the home's.
pub(crate) fn path_of(home: &Home, policy: &Policy, name: &str) -> Result<PathBuf, String> {
    let own = list(home, policy).into_iter().find(|file| file.is_own && file.name == name);
    if let Some(file) = own {
        return Ok(file.path);
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if begins && name.len() <= MAX_NAME_BYTES && name.chars().all(fits) {
        return Ok(home.roles().join(format!("{name}.md")));
    }
    Err(format!(
        "`{}` cannot be a file's name: up to {MAX_NAME_BYTES} letters, digits, `-`, `_` and `.`",
        name.chars().take(MAX_NAME_BYTES).collect::<String>()
    ))
}

/// Problems and warnings of a role's new text.
pub(crate) fn check(
    place: &str,
    name: &str,
    text: &str,
    policy: &Policy,
) -> Result<Vec<Problem>, Box<Problem>> {
    let (role, warnings) = parse(place, Source::Home, text, policy)?;
    if role.name != name {
        let message = format!("this is the role `{name}`, and its text names `{}`", role.name);
        let help = format!("write `name: {name}`, or make a new role of the other name");
        return Err(Problem::at_key(place, text, "name", message).with_help(Some(help)));
    }
    Ok(warnings)
}
