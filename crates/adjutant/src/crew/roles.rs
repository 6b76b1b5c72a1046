//! Roles: Markdown files with YAML front matter over a prompt, from `.adjutant/roles/` and then
//! from `.claude/agents/`. A broken file is reported and does not stop the others.

pub(crate) mod files;
mod front;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use engine::settings::Role;
use model::Policy;
use model::nearest::nearest;

use crate::crew::front_matter;
use crate::home::Home;
use crate::yaml::Problem;

/// The roles that were read, and what was wrong with the rest.
#[derive(Debug, Clone, Default)]
pub(crate) struct Report {
    /// The roles by name
    pub(crate) roles: BTreeMap<String, Role>,
    /// Files that are not used
    pub(crate) errors: Vec<Problem>,
    /// Oddities of files that are
    pub(crate) warnings: Vec<Problem>,
}

/// Where a role's file comes from, which decides how strictly its keys are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// `.adjutant/roles/`
    Home,
    /// `.claude/agents/`: keys that only Claude Code knows are let pass
    Claude,
}

/// Reads every role of a home. The first file of a name wins, also when it is broken: otherwise a mistake in a file would put
/// another one with fewer rules in its place.
pub(crate) fn load(home: &Home, policy: &Policy) -> Report {
    let mut report = Report::default();
    let mut taken = BTreeSet::new();
    for (dir, source) in [(home.roles(), Source::Home), (home.claude_agents(), Source::Claude)] {
        let mut here = BTreeSet::new();
        let paths = match front_matter::markdown_in(&dir) {
            Ok(paths) => paths,
            Err(problem) => {
                report.errors.push(*problem);
                // Which roles the folder has is unknown, so none may take their place.
                break;
            }
        };
        for path in paths {
            let name = shown(home, &path);
            let text = fs::read(&path);
            let read = match &text {
                Ok(bytes) => std::str::from_utf8(bytes).map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            };
            let read = read
                .map_err(|error| Problem::of(&name, format!("cannot be read: {error}")))
                .and_then(|text| parse(&name, source, text, policy));
            match read {
                Ok((role, _)) if here.contains(&role.name) => report.warnings.push(*Problem::of(
                    &name,
                    format!("another file is the role `{}` already", role.name),
                )),
                // The home's own role stands in for Claude Code's: that is how one changes it.
                Ok((role, _)) if taken.contains(&role.name) => {}
                Ok((role, warnings)) => {
                    here.insert(role.name.clone());
                    report.roles.insert(role.name.clone(), role);
                    report.warnings.extend(warnings);
                }
                Err(problem) => {
                    let text = String::from_utf8_lossy(text.as_deref().unwrap_or_default());
                    here.insert(name_of(&path, &text));
                    report.errors.push(*problem);
                }
            }
        }
        taken.append(&mut here);
    }
    report
}

/// The role that a broken file is meant to be: what a line `name:` says, or the file's own name where no line does.
pub(crate) fn name_of(path: &Path, text: &str) -> String {
    let mut matter = text
        .trim_start_matches('\u{feff}')
        .lines()
        .skip(1)
        .take_while(|line| line.trim_end() != "---");
    let output = matter.find_map(|line| line.strip_prefix("name:"));
    let output = output.map(|name| name.trim().trim_matches(['"', '\'']).to_owned());
    let stem = || path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    output.filter(|name| !name.is_empty()).unwrap_or_else(stem)
}

/// Reads one role. `name` is what the file is called in messages.
pub(crate) fn parse(
    name: &str,
    source: Source,
    text: &str,
    policy: &Policy,
) -> Result<(Role, Vec<Problem>), Box<Problem>> {
    let (role, warnings) = front::read(name, source, text)?;
    if policy.get(&role.category).is_none() {
        let message = format!("unknown category `{}`", role.category);
        let help = match nearest(&role.category, policy.names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known: {}", policy.names().collect::<Vec<_>>().join(", ")),
        };
        return Err(Problem::at_key(name, text, "category", message).with_help(Some(help)));
    }
    Ok((role, warnings))
}

/// A file's name in messages: from the project's root.
pub(crate) fn shown(home: &Home, path: &Path) -> String {
    let path = home.original(path);
    path.strip_prefix(&home.root).unwrap_or(&path).display().to_string()
}

#[cfg(test)]
mod tests;
