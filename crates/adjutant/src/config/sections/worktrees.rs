//! Section `worktrees`: their folder, their categories and their set-up.

use std::path::PathBuf;

use engine::settings::{SetupSettings, WorktreeSettings};
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use serde_saphyr::Spanned;

use super::review::Check as Command;
use crate::home::worktrees::WorktreesPathError;
use crate::yaml::{self, Problem};

/// Worktree settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Worktrees {
    /// The folder below which the worktrees of this home lie; the user's data folder if absent
    #[serde(deserialize_with = "path")]
    pub(crate) path: Option<String>,
    /// The categories whose agents get one of their own, where their role does not decide
    pub(crate) fresh: Vec<String>,
    /// True if commits to files reserved by others are refused
    pub(crate) guard: bool,
    /// True if submodules are checked out
    pub(crate) submodules: bool,
    /// The command that runs in each new one before its agent
    pub(crate) setup: Option<Command>,
    /// Its time limit in seconds
    #[serde(deserialize_with = "super::check_timeout")]
    pub(crate) setup_timeout: u32,
    /// Patterns of ignored files that are copied into each
    #[serde(deserialize_with = "patterns")]
    pub(crate) copy: Vec<String>,
    /// Patterns of ignored files that are linked into each
    #[serde(deserialize_with = "patterns")]
    pub(crate) link: Vec<String>,
}

impl Default for Worktrees {
    fn default() -> Self {
        let WorktreeSettings { fresh, guard, submodules, copy, link, .. } =
            WorktreeSettings::default();
        let setup_timeout = SetupSettings::TIMEOUT_S;
        Self { path: None, fresh, guard, submodules, setup: None, setup_timeout, copy, link }
    }
}

impl Worktrees {
    /// Converts to the engine's settings, with the folder of this home's worktrees.
    pub(crate) fn settings(&self, folder: Option<PathBuf>) -> WorktreeSettings {
        let Self { path: _, fresh, guard, submodules, setup, setup_timeout, copy, link } =
            self.clone();
        let setup =
            setup.map(|Command(command)| SetupSettings { command, timeout_s: setup_timeout });
        WorktreeSettings { fresh, guard, submodules, folder, setup, copy, link }
    }
}

fn path<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    match Option::<String>::deserialize(from)? {
        Some(text) if text.trim().is_empty() || text.contains('\0') => {
            Err(D::Error::custom("must name a folder, as `~/worktrees`; `null` is the usual one"))
        }
        given => Ok(given),
    }
}

/// Patterns of files below the project, in the syntax of `.gitignore`.
fn patterns<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let all = Vec::<String>::deserialize(from)?;
    for pattern in &all {
        let bare = pattern.strip_prefix('!').unwrap_or(pattern);
        let why = if bare.trim().is_empty() {
            "names no file"
        } else if bare.starts_with('/') || bare.starts_with('~') {
            "is not relative to the project"
        } else if bare.split('/').any(|part| part == "..") {
            "leads out of the project"
        } else if bare.chars().any(char::is_control) {
            "has a control character in it"
        } else {
            continue;
        };
        return Err(D::Error::custom(format!(
            "`{pattern}` {why}; write it as `.env` or `config/*.local`"
        )));
    }
    Ok(all)
}

/// Finds the line of a path that cannot be used.
pub(crate) fn locate_worktrees_path(
    name: &str,
    text: &str,
    error: &WorktreesPathError,
) -> Box<Problem> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Places {
        worktrees: PathPlace,
    }
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct PathPlace {
        path: Option<Spanned<String>>,
    }
    let message = format!("`worktrees.path`: {error}");
    // It parsed once, so it parses again; if it does not, the message alone is still right.
    let places: Places = yaml::parse(name, text, text).unwrap_or_default();
    match places.worktrees.path {
        Some(path) => Problem::at(name, text, path.referenced, message),
        None => Problem::of(name, message),
    }
}
