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

use crate::home::Home;
use crate::matter;
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

/// Reads every role of a home. The first file of a name wins.
pub(crate) fn load(home: &Home, policy: &Policy) -> Report {
    let mut report = Report::default();
    let mut taken = BTreeSet::new();
    for dir in [home.roles(), home.claude_agents()] {
        let mut here = BTreeSet::new();
        let paths = matter::markdown_in(&dir).unwrap_or_else(|problem| {
            report.errors.push(*problem);
            Vec::new()
        });
        for path in paths {
            let name = shown(home, &path);
            let read = fs::read_to_string(&path)
                .map_err(|error| Problem::of(&name, format!("cannot be read: {error}")))
                .and_then(|text| parse(&name, &text, policy));
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
                Err(problem) => report.errors.push(*problem),
            }
        }
        taken.append(&mut here);
    }
    report
}

/// Reads one role. `name` is what the file is called in messages.
pub(crate) fn parse(
    name: &str,
    text: &str,
    policy: &Policy,
) -> Result<(Role, Vec<Problem>), Box<Problem>> {
    let (role, warnings) = front::read(name, text)?;
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
    path.strip_prefix(&home.root).unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests;
