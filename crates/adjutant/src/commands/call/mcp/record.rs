//! Records the changes of `install`, outside the project, so that `uninstall` leaves every
//! byte as it was. Where the file was changed since, the entry alone is taken out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use host::files::{self, Mode};
use serde::{Deserialize, Serialize};

use crate::cli_error::CliError;
use crate::environment::Environment;
use crate::home::{FOLDER, Home};

/// Changes to one file.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    /// True if the file was created
    pub(super) created: bool,
    /// The uppermost folder that was not there before
    pub(super) folder: Option<PathBuf>,
    /// Changes by name
    pub(super) changes: BTreeMap<String, Change>,
}

/// One change: in a text of this hash, so many bytes from there on were others before.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Change {
    hash: String,
    at: usize,
    length: usize,
    was: String,
}

impl Change {
    /// The change from one text to another.
    pub(super) fn between(before: &str, after: &str) -> Self {
        let same = |(one, other): &(char, char)| one == other;
        let width = |(one, _): (char, char)| one.len_utf8();
        let at: usize = before.chars().zip(after.chars()).take_while(same).map(width).sum();
        let (old, new) =
            (before.get(at..).unwrap_or_default(), after.get(at..).unwrap_or_default());
        let end: usize = old.chars().rev().zip(new.chars().rev()).take_while(same).map(width).sum();
        Self {
            hash: engine::hash_token(after),
            at,
            length: new.len() - end,
            was: old.get(..old.len() - end).unwrap_or_default().to_owned(),
        }
    }

    /// The text before the change, if nothing else has changed since.
    pub(super) fn undone(&self, text: &str) -> Option<String> {
        if engine::hash_token(text) != self.hash {
            return None;
        }
        let behind = text.get(self.at.checked_add(self.length)?..)?;
        Some(format!("{}{}{behind}", text.get(..self.at)?, self.was))
    }
}

/// Where records are: beside the operator's secrets, for what was there before may be one.
#[derive(Debug)]
pub(super) struct Records {
    folder: PathBuf,
}

impl Records {
    pub(super) fn new(env: &Environment) -> Result<Self, CliError> {
        // The folder is the same for every home.
        let any = Home::unplaced(env.cwd.clone(), env.cwd.join(FOLDER));
        Ok(Self { folder: any.secrets(env)?.join("clients") })
    }

    fn place(&self, file: &Path) -> PathBuf {
        // The file may not be there yet, its folder neither: what there is is found behind all links.
        let there = file.ancestors().find_map(|part| Some((part, part.canonicalize().ok()?)));
        let path = match there {
            Some((part, real)) if part != file => {
                file.strip_prefix(part).map_or(real.clone(), |rest| real.join(rest))
            }
            Some((_, real)) => real,
            None => file.to_owned(),
        };
        let hash = engine::hash_token(&path.display().to_string());
        self.folder.join(format!("{}.json", hash.get(..16).unwrap_or(&hash)))
    }

    /// Recorded changes of a file; an unreadable record counts as none.
    pub(super) fn of(&self, file: &Path) -> Result<Record, CliError> {
        let text = files::read(&self.place(file))?.unwrap_or_default();
        Ok(serde_json::from_str(&text).unwrap_or_default())
    }

    /// Remembers this, or forgets it where there is nothing in it.
    pub(super) fn keep(&self, file: &Path, record: &Record) -> Result<(), CliError> {
        if record.changes.is_empty() {
            return Ok(files::remove(&self.place(file))?);
        }
        files::make_dir(&self.folder, Mode::Private)?;
        let text = serde_json::to_string(record).map_err(std::io::Error::other)?;
        Ok(files::write(&self.place(file), &text, Mode::Private)?)
    }
}
