//! The handle that every room stands on: the record, the options, the settings in force, the clock, and who waits
//! for which events.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use host::git::Repo;
use model::{EventKinds, Timestamp};
use store::{Store, WriterState};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::core::error::ToolError;
use crate::core::follow::{self, EventReaction, NextRun};
use crate::core::handed_on::HandedOnValues;
use crate::core::heads::Heads;
use crate::core::options::Options;
use crate::core::point::Point;
use crate::core::redact;
use crate::core::settings::Settings;
use crate::core::topics::{Topics, Waits};

/// Handle to the record and everything that all rooms share. Cheap to clone; all clones are the same one.
#[derive(Debug, Clone)]
pub struct Core(Arc<CoreState>);

/// State behind every clone of a [`Core`].
#[derive(Debug)]
pub struct CoreState {
    pub(crate) store: Store,
    pub(crate) options: Options,
    settings: RwLock<Arc<Settings>>,
    pub(crate) topics: Topics,
    pub(crate) waits: Waits,
    pub(crate) heads: Heads,
    /// Environment variables that people handed on to agents
    pub(crate) handed_on: HandedOnValues,
    /// When this engine was made: agents recorded before are an earlier server's
    pub(crate) started_at: Timestamp,
    /// Counts the times that the settings were replaced
    pub(crate) reloads: watch::Sender<u64>,
    /// The project's repository, once it was needed
    pub(crate) repo: Mutex<Option<Repo>>,
    /// True if it has panicked where it was told to
    has_panicked: AtomicBool,
}

impl Deref for Core {
    type Target = CoreState;

    fn deref(&self) -> &CoreState {
        &self.0
    }
}

impl Core {
    /// A handle to an open record.
    pub(crate) fn new(store: Store, settings: Settings, options: Options) -> Self {
        redact::learn_options(&options);
        redact::learn_settings(&settings);
        Self(Arc::new(CoreState {
            store,
            settings: RwLock::new(Arc::new(settings)),
            topics: Topics::default(),
            waits: Waits::default(),
            heads: Heads::default(),
            handed_on: HandedOnValues::default(),
            started_at: options.clock.now(),
            reloads: watch::Sender::new(0),
            repo: Mutex::default(),
            has_panicked: AtomicBool::new(false),
            options,
        }))
    }

    /// Agents with waiting calls.
    pub fn waits(&self) -> &Waits {
        &self.waits
    }

    /// The project's root.
    pub fn project(&self) -> &std::path::Path {
        &self.options.project
    }

    /// The settings in force.
    pub fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the settings.
    pub fn set_settings(&self, mut settings: Settings) {
        settings.end_reactions = self.settings().end_reactions;
        redact::learn_settings(&settings);
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(settings);
        self.reloads.send_modify(|count| *count += 1);
    }

    /// Runs a reaction after each event of its kinds, and again after an error, until `shutdown`.
    pub async fn follow(&self, reaction: &mut impl EventReaction, shutdown: &CancellationToken) {
        let reloads = self.reloads.subscribe();
        let mut reaction = WhileHeld { core: self, reaction };
        follow::follow(&self.store, Some(reloads), &mut reaction, shutdown).await;
    }

    /// Waits until an effect on the outside may begin: at once, unless a home that several servers share has no
    /// PostgreSQL at the moment.
    pub(crate) async fn may_act(&self) {
        if let Some(home) = &self.options.shared_home {
            home.held().await;
        }
    }

    /// A place between two steps of an effect on the outside, where tests let the server die or panic.
    pub(crate) fn point(&self, point: Point) {
        if self.options.crash_at == Some(point) {
            tracing::warn!(%point, "exiting at a crash point, as configured");
            host::process::die();
        }
        let is_told =
            self.options.panic_at == Some(point) && !self.has_panicked.swap(true, Ordering::SeqCst);
        assert!(!is_told, "panic requested at {point}");
    }

    /// Monotonic time; use it for ages kept in memory, because the wall clock may be set back.
    pub fn elapsed(&self) -> Duration {
        self.options.clock.elapsed()
    }

    /// Why the server cannot do its work, if it cannot.
    pub fn unhealthy(&self) -> Option<String> {
        match self.store.writer_state() {
            WriterState::Stopped => Some("the database writer has stopped".to_owned()),
            WriterState::Busy(time) if time >= self.options.writer_stall => Some(format!(
                "the database writer has been busy with one commit for {} s",
                time.as_secs()
            )),
            WriterState::Busy(_) | WriterState::Idle => {
                self.store.check_files().err().map(|error| error.to_string())
            }
        }
    }

    /// Current wall-clock time.
    pub fn now(&self) -> Timestamp {
        self.options.clock.now()
    }
}

/// A reaction that runs only while the home is this server's.
struct WhileHeld<'a, R> {
    core: &'a Core,
    reaction: &'a mut R,
}

impl<R: EventReaction> EventReaction for WhileHeld<'_, R> {
    fn name(&self) -> String {
        self.reaction.name()
    }

    fn kinds(&self) -> EventKinds {
        self.reaction.kinds()
    }

    async fn react(&mut self) -> Result<NextRun, ToolError> {
        self.core.may_act().await;
        self.reaction.react().await
    }

    async fn rung(&mut self) {
        self.reaction.rung().await;
    }
}
