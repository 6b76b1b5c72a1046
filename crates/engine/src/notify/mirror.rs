//! Mirror files: projections of the record for people and git. Written, never read back.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use host::files::{self, FileError, Mode};
use model::event::EventKind;
use model::{EventKinds, TaskId, TaskRef};
use store::{Event, EventFilter};
use tokio_util::sync::CancellationToken;

use crate::core::error::ToolError;
use crate::core::follow::{EventReaction, NextRun};
use crate::core::handle::Core;
use crate::core::redact::redact;
use crate::core::visible::{visible, visible_json};
use crate::crew::context::task_context;
use crate::crew::projection;

/// Changes that come in a burst are written once.
const BATCH_DELAY: Duration = Duration::from_millis(100);

/// At its start a mirror writes the tasks anew that so many last events told of.
const MAX_CATCH_UP_EVENTS: i64 = 10_000;

/// Tasks whose files are still written once the server ends. The next start writes the others: an end
/// must not take longer the more there is to tell.
const LAST_TASKS: usize = 2_000;

/// Why a mirror file was not written.
#[derive(Debug, thiserror::Error)]
pub enum MirrorError {
    /// The record could not be read.
    #[error("could not read the record: {}", .0.message)]
    Record(ToolError),
    /// The file could not be written.
    #[error("could not write a mirror file")]
    File(#[from] FileError),
}

impl From<MirrorError> for ToolError {
    fn from(error: MirrorError) -> Self {
        match error {
            MirrorError::Record(error) => error,
            MirrorError::File(_) => Self::internal(error),
        }
    }
}

impl From<ToolError> for MirrorError {
    fn from(error: ToolError) -> Self {
        Self::Record(error)
    }
}

/// Keeps the mirror files in `dir` up to date until `stop`.
#[derive(Debug, Clone)]
pub struct Mirror {
    engine: Core,
    dir: PathBuf,
    /// The last event that the files tell of.
    seen: i64,
    /// The day of the last entry of `IAC.md`.
    day: String,
    /// True until the files were written as a whole, and again after an error.
    is_behind: bool,
    /// Cancelled when the server ends.
    stop: CancellationToken,
}

impl Mirror {
    /// A mirror of the engine's record in `dir`.
    pub fn new(engine: &Core, dir: PathBuf) -> Self {
        Self {
            engine: engine.clone(),
            dir,
            seen: 0,
            day: String::new(),
            is_behind: true,
            stop: CancellationToken::new(),
        }
    }

    /// Follows the record until `stop`, and tells of all that happened before it. A file that cannot be
    /// written is tried again.
    pub async fn run(mut self, stop: CancellationToken) {
        self.stop = stop.clone();
        let engine = self.engine.clone();
        engine.follow(&mut self, &stop).await;
        // What came before the end is still written.
        if let Err(error) = self.write().await {
            let (message, causes) = (&error.message, error.causes());
            tracing::warn!(
                message,
                causes,
                "the mirror files are behind; the next start writes them"
            );
        }
    }

    /// Writes what changed since the last time, if anything did.
    async fn write(&mut self) -> Result<(), ToolError> {
        let until = *self.engine.store.last_event().borrow();
        if !self.is_behind && until <= self.seen {
            return Ok(());
        }
        let (mut mirror, whole) = (self.clone(), self.is_behind);
        self.is_behind = true;
        let written = tokio::task::spawn_blocking(move || {
            let written = if whole { mirror.rebuild(until) } else { mirror.follow(until) };
            written.map(|()| mirror)
        });
        *self = written.await.map_err(ToolError::internal)??;
        self.is_behind = false;
        Ok(())
    }

    /// Writes the pages anew, and the log of runs from its beginning.
    pub fn rebuild(&mut self, until: i64) -> Result<(), MirrorError> {
        let (log, day) = self.engine.store.read(|tx| projection::iac_whole(tx, until))?;
        files::write_derived(&self.dir.join("IAC.md"), &visible(&redact(log)), Mode::Private)?;
        // A folder of an earlier version was everybody's.
        files::restrict_dir(&self.dir.join("tasks"))?;
        self.write_context()?;
        self.day = day;
        // A server that was killed may have left files of tasks behind; not further than this.
        self.seen = until;
        let mut after = until.saturating_sub(MAX_CATCH_UP_EVENTS).max(0);
        let mut tasks = BTreeSet::new();
        while after < until {
            let events = self.events(after)?;
            let Some(newest) = events.last().map(|event| event.number) else { break };
            tasks.extend(events.iter().filter_map(|event| event.task));
            after = newest;
        }
        self.write_tasks(tasks)
    }

    fn events(&self, after: i64) -> Result<Vec<Event>, MirrorError> {
        let filter = EventFilter { after, kind: None };
        let events = self.engine.store.read(|tx| tx.event_list(&filter, 1000));
        Ok(events.map_err(ToolError::from)?)
    }

    fn write_tasks(&self, tasks: BTreeSet<TaskId>) -> Result<(), MirrorError> {
        let all = tasks.len();
        for (written, task) in tasks.into_iter().enumerate() {
            if written >= LAST_TASKS && self.stop.is_cancelled() {
                let left = all - written;
                tracing::info!(left, "server is shutting down; the next start writes the rest");
                return Ok(());
            }
            self.write_task(task)?;
        }
        Ok(())
    }

    /// Writes what changed since the last time.
    fn follow(&mut self, until: i64) -> Result<(), MirrorError> {
        let mut tasks = BTreeSet::new();
        let mut crew = false;
        while self.seen < until {
            let events = self.events(self.seen)?;
            let Some(last) = events.last().map(|event| event.number) else { break };
            let mut log = String::new();
            for event in &events {
                let day = &mut self.day;
                log.extend(self.engine.store.read(|tx| projection::iac_entry(tx, event, day))?);
                crew |= matches!(event.kind, EventKind::AgentStarted | EventKind::AgentFinished);
                tasks.extend(event.task);
            }
            if !log.is_empty() {
                files::append_as(&self.dir.join("IAC.md"), &visible(&redact(log)), Mode::Private)?;
            }
            self.seen = last;
        }
        if crew {
            self.write_context()?;
        }
        self.write_tasks(tasks)
    }

    fn write_context(&self) -> Result<(), MirrorError> {
        let now = self.engine.now();
        let page = self.engine.store.read(|tx| projection::context_page(tx, now, &|_| Ok(true)))?;
        Ok(files::write_derived(
            &self.dir.join("CONTEXT.md"),
            &visible(&redact(page)),
            Mode::Private,
        )?)
    }

    fn write_task(&self, task: TaskId) -> Result<(), MirrorError> {
        let found = self.engine.store.read(|tx| {
            let Some(task) = tx.task_find(&TaskRef::Id(task))? else { return Ok(None) };
            Ok::<_, ToolError>(Some((
                task.slug.clone(),
                projection::task_file(tx, &task)?,
                task_context(tx, &task)?,
            )))
        })?;
        let Some((slug, json, context)) = found else { return Ok(()) };
        let dir: &Path = &self.dir.join("tasks").join(slug);
        files::make_dir(dir, Mode::Private)?;
        let json = visible_json(&redact(format!("{json:#}\n")));
        files::write_derived(&dir.join("task.json"), &json, Mode::Private)?;
        let context = visible(&redact(context));
        Ok(files::write_derived(&dir.join("context.md"), &context, Mode::Private)?)
    }
}

impl EventReaction for Mirror {
    fn name(&self) -> String {
        "the mirror".to_owned()
    }

    fn kinds(&self) -> EventKinds {
        EventKinds::ALL
    }

    async fn react(&mut self) -> Result<NextRun, ToolError> {
        if !self.is_behind {
            // Cut short by the end, after which the rest is written.
            _ = self.stop.run_until_cancelled(tokio::time::sleep(BATCH_DELAY)).await;
        }
        self.write().await?;
        Ok(NextRun::News)
    }
}
