//! Loops: one agent after the other works on the same specification until it is done, by itself.
//!
//! The record says of each loop what it does at the moment (`model::session::Phase`). A follower of the events drives those that
//! have something to do, each in a task of its own and one step after the other. An iteration's row and its agent are written in
//! one transaction, and agents outlive the server; so a server that dies goes on where it was.

mod acts;
mod begin;
mod commit;
mod drive;
mod hook;
pub(crate) mod prompt;
mod template;
pub(crate) mod view;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use model::EventKinds;
use model::event::EventKind;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::core::error::ToolError;
use crate::core::follow::{EventReaction, NextRun};
use crate::core::handle::Core;

pub use acts::{LoopChange, LoopStart, PauseWhen};
pub(crate) use hook::hook_folder_name;
pub use template::{Unknown, unknown};

/// The text of a loop's prompt that is built in.
pub const LOOP_TEMPLATE: &str = template::BUILT_IN;

/// Events after which a loop may have something to do that had nothing to do before.
const KINDS: EventKinds =
    EventKinds::of(&[EventKind::LoopStarted, EventKind::LoopResumed, EventKind::LoopStopping]);

/// Drives loops until it is told to end.
#[derive(Debug)]
pub struct Loops {
    engine: Core,
    tasks: TaskTracker,
    shutdown: CancellationToken,
    /// Those that are driven
    driven: Arc<Mutex<HashSet<String>>>,
}

impl Loops {
    /// Creates the service that drives an engine's loops.
    pub fn new(engine: &Core, tasks: TaskTracker, shutdown: CancellationToken) -> Self {
        Self { engine: engine.clone(), tasks, shutdown, driven: Arc::default() }
    }

    /// Drives.
    pub async fn run(mut self) {
        let (engine, shutdown) = (self.engine.clone(), self.shutdown.clone());
        engine.follow(&mut self, &shutdown).await;
    }

    /// Begins to drive every loop that has something to do and is not driven.
    fn begin_all(&self) -> Result<(), ToolError> {
        for row in self.engine.store.read(|tx| tx.loops_live())? {
            let mut driven = self.driven.lock().unwrap_or_else(PoisonError::into_inner);
            if !driven.insert(row.session.clone()) {
                continue;
            }
            drop(driven);
            let (engine, shutdown) = (self.engine.clone(), self.shutdown.clone());
            let (driven, session) = (Arc::clone(&self.driven), row.session);
            self.tasks.spawn(async move {
                loop {
                    drive::drive(engine.clone(), session.clone(), shutdown.clone()).await;
                    let mut driven = driven.lock().unwrap_or_else(PoisonError::into_inner);
                    driven.remove(&session);
                    // It may have been told to go on since it was last looked at.
                    let found = engine.store.read(|tx| tx.loop_get(&session)).ok().flatten();
                    if shutdown.is_cancelled() || !found.is_some_and(|row| row.is_live()) {
                        return;
                    }
                    driven.insert(session.clone());
                }
            });
        }
        Ok(())
    }
}

impl EventReaction for Loops {
    fn name(&self) -> String {
        "loops".to_owned()
    }

    fn kinds(&self) -> EventKinds {
        KINDS
    }

    async fn react(&mut self) -> Result<NextRun, ToolError> {
        self.begin_all()?;
        Ok(NextRun::News)
    }
}
