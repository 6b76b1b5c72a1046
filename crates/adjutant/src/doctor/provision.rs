//! Checks that agents' worktrees have what the project needs and git ignores.

use std::path::{Path, PathBuf};
use std::time::Duration;

use host::git::{Checkout, Git, IgnorePatterns};

use super::{Check, Status, which};
use crate::config::Config;
use crate::environment::Environment;
use crate::home::Home;
use crate::init::detect;

/// Timeout of a git query.
const GIT_TIMEOUT: Duration = Duration::from_secs(10);
/// Ignored files that a project often cannot run without, and whether they are copied or linked.
const NEEDED: [(&str, ProvisionMode); 3] = [
    (".env", ProvisionMode::Copy),
    (".venv", ProvisionMode::Link),
    ("node_modules", ProvisionMode::Link),
];

/// How a file gets into a worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProvisionMode {
    Copy,
    Link,
}

/// Checks the folder of worktrees, and that nothing the project needs is left out of them.
pub(super) fn look(home: &Home, config: &Config, env: &Environment) -> Vec<Check> {
    let mut checks: Vec<Check> = folder(home, config, env).into_iter().collect();
    checks.extend(left_out(&home.root, config, env));
    checks
}

fn folder(home: &Home, config: &Config, env: &Environment) -> Option<Check> {
    const NAME: &str = "worktrees.path";
    let folder = match config.worktrees_folder(home, env) {
        Ok(folder) => folder,
        Err(error) => return Some(Check::warn(NAME, error.to_string(), error.help())),
    };
    let there = folder.ancestors().find(|above| above.exists())?;
    let shown = there.display();
    if !there.is_dir() {
        let next = "make it a folder, or name another one with `worktrees.path`";
        return Some(Check::fail(NAME, format!("`{shown}` is not a folder"), next));
    }
    if !host::files::is_writable(there) {
        let next = "make it yours, or name another folder with `worktrees.path`";
        return Some(Check::fail(NAME, format!("you may not write in `{shown}`"), next));
    }
    if folder.starts_with(&home.root) {
        let message = format!("`{}` is inside the project", folder.display());
        let next = "name a folder outside it with `worktrees.path`, so that your own tests do not find worktrees";
        return Some(Check::warn(NAME, message, next));
    }
    if there == folder {
        let check = super::private(NAME, &folder, 0o700);
        return (check.status != Status::Ok).then_some(check);
    }
    None
}

/// The folders in which a list of files to copy may lie: the project, and the top of its repository.
fn include_folders(project: &Path) -> impl Iterator<Item = PathBuf> {
    let top = Checkout::around(project).map(|checkout| checkout.top);
    top.into_iter().chain([project.to_owned()])
}

fn left_out(project: &Path, config: &Config, env: &Environment) -> Option<Check> {
    let worktrees = &config.worktrees;
    let is_configured = worktrees.setup.is_some()
        || !worktrees.copy.is_empty()
        || !worktrees.link.is_empty()
        || include_folders(project).any(|folder| folder.join(".worktreeinclude").exists());
    if is_configured {
        return None;
    }
    which("git", env.path.as_deref())?;
    let git = Git::on_path(env.path.as_deref().unwrap_or_default());
    let repo = git.open(project, GIT_TIMEOUT).ok()?;
    let patterns: Vec<String> = NEEDED.iter().map(|(name, _)| format!("/{name}")).collect();
    let list = IgnorePatterns { dir: project, patterns: &patterns };
    let found = repo.ignored_matching(&[list]).ok()?;
    let has = |name: &str| {
        found.iter().any(|entry| entry.path.file_name().is_some_and(|found| found == name))
    };
    let names = |way: Option<ProvisionMode>| -> Vec<&str> {
        let wanted = |needed: &&(&str, ProvisionMode)| {
            way.is_none_or(|way| needed.1 == way) && has(needed.0)
        };
        NEEDED.iter().filter(wanted).map(|(name, _)| *name).collect()
    };
    let all = names(None);
    if all.is_empty() {
        return None;
    }
    let made = detect::detect(project).setup;
    let mut lines = vec!["worktrees:".to_owned()];
    lines.extend(made.as_ref().map(|(setup, _)| format!("  setup: {}", detect::quoted(setup))));
    for (key, way) in [("copy", ProvisionMode::Copy), ("link", ProvisionMode::Link)] {
        let names = names(Some(way));
        // A set-up makes them anew, so that nobody's own are changed or tested in their place.
        if !names.is_empty() && (way == ProvisionMode::Copy || made.is_none()) {
            lines.push(format!("  {key}: [{}]", names.join(", ")));
        }
    }
    let quoted: Vec<String> = all.iter().map(|name| format!("`{name}`")).collect();
    let message = format!("git ignores {}, so agents' worktrees do not have it", quoted.join(", "));
    let instead = match made {
        Some(_) => "",
        None => ", or name a command that makes it with `worktrees.setup`",
    };
    let next = format!("write this into the configuration{instead}:\n{}", lines.join("\n"));
    Some(Check::warn("worktree files", message, next))
}
