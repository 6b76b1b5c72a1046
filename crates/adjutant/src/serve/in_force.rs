//! Settings in force: read from the files when a person asks for it, and otherwise from the copy that was made then.
//!
//! What is read, is read once: the files are copied first, and the settings come from the copy. So nothing comes into
//! force that was not shown, although an agent can change a file at any moment.

use std::path::{Path, PathBuf};

use host::files::FileError;
use wire::server::SettingsChange;

use super::Stage;
use crate::cli_error::CliError;
use crate::config::changes::{self, Reading};
use crate::home::good::{self, WrittenFiles};
use crate::terminal::render::{Page, dim, line, odd};

/// Settings that were read, and the files that they come from.
#[derive(Debug)]
pub(crate) struct InForce {
    /// What people have written
    pub(crate) files: WrittenFiles,
    /// What it says
    pub(crate) reading: Reading,
    /// What is odd about it
    pub(crate) warnings: Vec<String>,
    /// Where they were written, until they are in force
    next: Option<PathBuf>,
}

impl InForce {
    /// Reads the copy; none where there is no copy yet.
    pub(crate) fn from_copy(stage: &Stage) -> Result<Option<Self>, CliError> {
        let Some(copy) = good::current(stage.home.state_dir()) else { return Ok(None) };
        let files = WrittenFiles::read_copy(&copy)?;
        let (reading, warnings) = stage.reading(copy).read()?;
        Ok(Some(Self { files, reading, warnings, next: None }))
    }

    /// Reads the files of a home in PostgreSQL from where they were written for this server.
    fn from_shared(stage: &Stage, folder: &Path, files: WrittenFiles) -> Result<Self, CliError> {
        let (reading, warnings) = stage.reading(folder.to_owned()).read()?;
        Ok(Self { files, reading, warnings, next: None })
    }

    /// Reads files that were collected, and writes them beside the copy. They are in force once the caller commits them.
    pub(crate) fn prepare(stage: &Stage, files: WrittenFiles) -> Result<Self, CliError> {
        if let Some(folder) = &stage.shared_files {
            return Self::from_shared(stage, folder, files);
        }
        let next = files.write_next(stage.home.state_dir())?;
        let (reading, warnings) = stage.reading(next.clone()).read()?;
        Ok(Self { files, reading, warnings, next: Some(next) })
    }

    /// Makes what was prepared the copy that servers start with.
    pub(crate) fn commit(&mut self, stage: &Stage) -> Result<(), FileError> {
        match self.next.take() {
            Some(next) => good::commit(stage.home.state_dir(), &next),
            None => Ok(()),
        }
    }

    /// What comes into force with other settings.
    pub(crate) fn changes_to(&self, next: &Self) -> Vec<SettingsChange> {
        changes::between(&self.reading, &next.reading)
    }
}

impl Stage {
    /// What people have written by now.
    pub(crate) fn written(&self) -> Result<WrittenFiles, CliError> {
        if let Some(folder) = &self.shared_files {
            return Ok(WrittenFiles::read_copy(folder)?);
        }
        let home = &self.home;
        Ok(WrittenFiles::read(&home.root, &home.dir, home.state_dir())?)
    }

    /// The same home as the next server reads it: its copy, else its files.
    pub(crate) fn accepted(&self) -> Self {
        match good::current(self.home.state_dir()) {
            Some(copy) => self.reading(copy),
            None => self.clone(),
        }
    }

    /// Takes what people have written for the next server, because a person starts one. Returns what that changes.
    pub(crate) fn accept(&self) -> Result<Vec<SettingsChange>, CliError> {
        let state = self.home.state_dir();
        if good::current(state).is_none() {
            // The first server of this home reads the files.
            return Ok(Vec::new());
        }
        let files = self.written()?;
        // A copy that cannot be used any more is replaced, and nothing can be compared.
        let before = InForce::from_copy(self).ok().flatten();
        if before.as_ref().is_some_and(|before| before.files == files) {
            return Ok(Vec::new());
        }
        let mut next = InForce::prepare(self, files)?;
        next.commit(self)?;
        Ok(before.map(|before| before.changes_to(&next)).unwrap_or_default())
    }
}

/// Adds what files change to a page, with a mark where agents may do more than before.
pub(crate) fn add_changes(page: &mut Page, changes: &[SettingsChange]) {
    for SettingsChange { subject, change, widens } in changes {
        let mark = if *widens { odd("more:") } else { dim("changed:") };
        page.line(format_args!("  {mark} {}: {}", line(subject), line(change)));
    }
}

/// What changed since the server before; nothing where nothing did.
pub(crate) fn accepted_text(changes: &[SettingsChange]) -> Option<String> {
    let mut page = Page::default();
    page.line("Changed since the last server:");
    add_changes(&mut page, changes);
    (!changes.is_empty()).then(|| page.into_text().trim_end().to_owned())
}
