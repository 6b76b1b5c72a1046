//! Backups: one tar file with the record, the configuration, roles and templates, the archives of the
//! audit chain, and of each run how it ended.
//!
//! `manifest.json` comes first and says who wrote the file; `SHA256SUMS` comes second and names every
//! other entry, as `sha256sum -c` reads it. What is not named there is refused. Tokens, worktrees and
//! git's branches are not part of a backup.

mod read;
mod swap;
mod write;

use std::path::{Path, PathBuf};

use model::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

pub(crate) use self::read::unpack;
pub(crate) use self::swap::{Swap, is_pending};
pub(crate) use self::write::Backup;
use crate::cli_error::CliError;
use crate::config::Config;
use crate::environment::Environment;
use crate::home::Home;
use crate::home::state::hex;

/// Version of the layout of the file.
const FORMAT: u32 = 1;
/// Name of the first entry.
const MANIFEST: &str = "manifest.json";
/// Name of the second entry.
const SUMS: &str = "SHA256SUMS";
/// Name of the record, wherever the configuration puts it.
const DATABASE: &str = "state.db";
/// Files and folders of the home that people write.
const WRITTEN_BY_PEOPLE: [&str; 5] =
    [".gitignore", "config.yaml", "review.md", "roles", "templates"];
/// Folders that the server keeps beside the record.
const KEPT_BY_SERVER: [&str; 2] = ["archive", "runs"];
/// Mirror files; they are rebuilt from the record, so a restore only removes them.
const DERIVED: [&str; 3] = ["IAC.md", "CONTEXT.md", "tasks"];

/// Version and time of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Manifest {
    /// Version of the layout
    pub(crate) format: u32,
    /// Version of Adjutant
    pub(crate) adjutant: String,
    /// Schema of the record
    pub(crate) schema: i64,
    /// When it was written
    pub(crate) created_at: Timestamp,
}

/// Where the parts of a backup belong.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// The folder with what people write
    home: PathBuf,
    /// The folder with what the server keeps
    pub(crate) state: PathBuf,
    /// The record
    pub(crate) database: PathBuf,
}

impl Places {
    /// The places of a home.
    pub(crate) fn of(home: &Home, config: &Config) -> Self {
        Self {
            home: home.dir.clone(),
            state: state_dir(home),
            database: config.database_path(home),
        }
    }

    /// The same to be read from: where nothing that people wrote is left in the home, the copy of it counts.
    pub(crate) fn to_read(home: &Home, config: &Config) -> Self {
        Self { home: home.written(), ..Self::of(home, config) }
    }

    /// Every part, by its name in the file, with its place.
    pub(crate) fn parts(&self) -> Vec<(&'static str, PathBuf)> {
        let mut parts = vec![(DATABASE, self.database.clone())];
        parts.extend(WRITTEN_BY_PEOPLE.map(|name| (name, self.home.join(name))));
        parts.extend(KEPT_BY_SERVER.map(|name| (name, self.state.join(name))));
        parts
    }

    /// Finds a path that a restore would destroy: state of a server, or a file that differs from the backup
    /// that is unpacked in `staging` has it.
    pub(crate) fn in_the_way(&self, staging: &Path) -> Result<Option<PathBuf>, CliError> {
        for (name, place) in self.parts() {
            let is_state = name == DATABASE || name == "archive";
            // The server's folder of runs may be there and have nothing of worth.
            let may_stay = name == "runs" || (!is_state && is_same(&staging.join(name), &place)?);
            if place.exists() && !may_stay {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// Files that are made anew from the record.
    fn derived(&self) -> Vec<(&'static str, PathBuf)> {
        DERIVED.map(|name| (name, self.home.join(name))).into()
    }
}

/// Returns whether two files or folders say the same.
fn is_same(a: &Path, b: &Path) -> Result<bool, CliError> {
    if !a.is_dir() || !b.is_dir() {
        let read = |path: &Path| std::fs::read(path).ok();
        return Ok(read(a) == read(b) && a.is_dir() == b.is_dir());
    }
    let names = host::files::list(a)?;
    if names != host::files::list(b)? {
        return Ok(false);
    }
    for name in names {
        if !is_same(&a.join(&name), &b.join(&name))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Where the server keeps its state. The one place that says so to backups.
pub(crate) fn state_dir(home: &Home) -> PathBuf {
    home.state_dir().to_owned()
}

/// Where a backup is unpacked before it counts.
pub(crate) fn staging_dir(home: &Home) -> PathBuf {
    state_dir(home).join("restore")
}

/// Finishes a restore that was decided on and did not come to its end; says whether there was one.
/// The caller holds the home's lock.
pub(crate) fn finish_restore(home: &Home, env: &Environment) -> Result<bool, CliError> {
    let staging = staging_dir(home);
    if !is_pending(&staging) {
        return Ok(false);
    }
    let places = staged_places(home, env, &staging)?;
    Swap::new(&places, &staging, env).finish()?;
    Ok(true)
}

/// The places of a home once it has the configuration of a backup. That may be moved in already.
pub(crate) fn staged_places(
    home: &Home,
    env: &Environment,
    staging: &Path,
) -> Result<Places, CliError> {
    let staged = Home::unplaced(home.root.clone(), staging.to_owned());
    let from = if staged.config().is_file() { &staged } else { home };
    let config = if from.config().is_file() || from.dir == home.dir {
        Config::load(from, env, &[])?.config
    } else {
        Config::default()
    };
    Ok(Places::of(home, &config))
}

/// Returns whether a name may stand in a backup: one of ours, relative, and nothing that leads elsewhere.
fn is_ours(name: &str) -> bool {
    let mut parts = name.split('/');
    let first = parts.next().unwrap_or_default();
    let plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    let is_file = matches!(name, DATABASE | ".gitignore" | "config.yaml" | "review.md");
    let is_within = matches!(first, "roles" | "templates" | "archive" | "runs")
        && name.contains('/')
        && name.split('/').all(plain);
    !name.contains(|c: char| c.is_control() || c == '\\') && (is_file || is_within)
}

fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Lets the process die at a place that a test names.
pub(crate) fn point(env: &Environment, at: engine::Point) {
    if env.crash_at.as_deref() == Some(at.name()) {
        host::process::die();
    }
}

#[cfg(test)]
mod tests;
