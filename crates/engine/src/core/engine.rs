//! The engine: the record, the settings in force, and everything that acts on them.

use std::ffi::OsString;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use host::clock::Clock;
use host::git::Repo;
use model::Timestamp;
use store::{Store, WriterState};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::call::identity::Tokens;
use crate::call::rate::Rates;
use crate::call::web_access::Guesses;
use crate::core::error::ToolError;
use crate::core::settings::Settings;
use crate::core::topics::{Topics, Waits};
use crate::crew::run::{Crew, MissingVariables};
use crate::delivery::outbox::{Errands, Point};
use crate::views::activity::Doings;
use crate::views::crew::Memo;

/// Interval at which expired texts are removed; so none is kept longer than a day and an hour.
const TEXT_SWEEP_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// What an engine is opened with.
#[derive(Debug, Clone)]
pub struct Options {
    /// The project's root; agents' paths stay inside it
    pub project: PathBuf,
    /// The hash of the operator's token
    pub operator_hash: String,
    /// What tells the time
    pub clock: Clock,
    /// How often a waiting call reports that it still waits
    pub progress_every: Duration,
    /// How long to wait before a transient failure is tried again
    pub retry_after: Duration,
    /// The home, where worktrees and mirrors are
    pub home: PathBuf,
    /// The home's state, where the run folders are
    pub state: PathBuf,
    /// Where agents reach us
    pub url: String,
    /// The program itself, which supervises agents
    pub adjutant: PathBuf,
    /// What every agent's environment has
    pub agent_environment: Vec<(String, String)>,
    /// What the operator's own programs get
    pub operator_environment: Vec<(OsString, OsString)>,
    /// Where the operator's secrets are, which a sandbox hides
    pub secrets: PathBuf,
    /// What GitHub knows the operator by, and signs its own messages with
    pub github: GithubSecrets,
    /// What Slack knows us by
    pub slack: crate::notify::slack::SlackSecrets,
    /// Time in one commit after which the writer counts as stalled
    pub writer_stall: Duration,
    /// Where to die, so that a test can see that nothing is lost
    pub crash_at: Option<Point>,
    /// Where to panic, once, so that a test can see that what panicked is begun again
    pub panic_at: Option<Point>,
}

/// Secrets between GitHub and the operator.
#[derive(Clone, Default)]
pub struct GithubSecrets {
    /// What requests are signed in with
    pub token: Option<String>,
    /// What GitHub signs its messages with
    pub webhook: Option<String>,
}

impl std::fmt::Debug for GithubSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GithubSecrets").finish_non_exhaustive()
    }
}

impl Options {
    /// The usual choices for a project.
    pub fn new(project: PathBuf, operator_hash: String) -> Self {
        Self {
            home: project.join(".adjutant"),
            state: project.join(".adjutant"),
            url: String::new(),
            adjutant: PathBuf::new(),
            agent_environment: Vec::new(),
            operator_environment: Vec::new(),
            secrets: PathBuf::new(),
            github: GithubSecrets::default(),
            slack: crate::notify::slack::SlackSecrets::default(),
            crash_at: None,
            panic_at: None,
            writer_stall: Duration::from_secs(10),
            project,
            operator_hash,
            clock: Clock::System,
            progress_every: Duration::from_secs(15),
            retry_after: Duration::from_secs(1),
        }
    }
}

/// The engine. Cheap to clone; all clones are the same one.
#[derive(Debug, Clone)]
pub struct Engine(Arc<Inner>);

/// What all clones share.
#[derive(Debug)]
pub struct Inner {
    /// The record
    pub(crate) store: Store,
    pub(crate) options: Options,
    settings: RwLock<Arc<Settings>>,
    pub(crate) tokens: Tokens,
    pub(crate) rates: Rates,
    pub(crate) guesses: Guesses,
    pub(crate) heads: crate::call::heads::Heads,
    pub(crate) topics: Topics,
    pub(crate) waits: Waits,
    pub(crate) crew: Crew,
    /// Queued agents that lack environment variables
    pub(crate) missing: MissingVariables,
    /// When this engine was made: agents recorded before are an earlier server's
    pub(crate) started_at: Timestamp,
    /// Counts the times that the settings were replaced
    pub(crate) reloads: watch::Sender<u64>,
    /// What agents did last
    pub(crate) doings: Doings,
    /// Who is live, as it was last looked up
    pub(crate) memo: Memo,
    pub(crate) errands: Errands,
    /// Its one permit is held while something is cleaned
    pub(crate) cleaning: tokio::sync::Semaphore,
    pub(crate) hooking: crate::notify::webhooks::Hooking,
    pub(crate) slacking: crate::notify::slack::Slacking,
    /// The project's repository, once it was needed
    pub(crate) repo: Mutex<Option<Repo>>,
    /// True if it has panicked where it was told to
    has_panicked: AtomicBool,
}

impl Deref for Engine {
    type Target = Inner;
    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl Engine {
    /// An engine over an open record.
    pub fn new(store: Store, settings: Settings, options: Options) -> Self {
        crate::core::redact::learn_options(&options);
        crate::core::redact::learn_settings(&settings);
        Self(Arc::new(Inner {
            store,
            settings: RwLock::new(Arc::new(settings)),
            tokens: Tokens::default(),
            rates: Rates::default(),
            guesses: Guesses::default(),
            heads: crate::call::heads::Heads::default(),
            topics: Topics::default(),
            waits: Waits::default(),
            crew: Crew::default(),
            missing: MissingVariables::default(),
            started_at: options.clock.now(),
            reloads: watch::Sender::new(0),
            doings: Doings::default(),
            memo: Memo::default(),
            errands: Errands::default(),
            cleaning: tokio::sync::Semaphore::new(1),
            hooking: crate::notify::webhooks::Hooking::default(),
            slacking: crate::notify::slack::Slacking::default(),
            repo: Mutex::default(),
            has_panicked: AtomicBool::new(false),
            options,
        }))
    }

    /// The record, for those who only look.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Which agents wait.
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
    pub fn set_settings(&self, settings: Settings) {
        crate::core::redact::learn_settings(&settings);
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(settings);
        self.reloads.send_modify(|count| *count += 1);
    }

    /// Removes exact texts and remembered answers that are older than a day.
    pub async fn forget_expired_texts(&self) -> Result<(), ToolError> {
        let now = self.now();
        while self.store.write(move |tx| Ok::<_, ToolError>(tx.exact_sweep(now)?)).await? {}
        Ok(())
    }

    /// Keeps removing them until `stop`.
    pub async fn forget_texts(self, stop: CancellationToken) {
        loop {
            if let Err(error) = self.forget_expired_texts().await {
                tracing::error!(
                    causes = error.causes(),
                    "failed to remove expired texts; retrying in an hour"
                );
            }
            if stop.run_until_cancelled(tokio::time::sleep(TEXT_SWEEP_INTERVAL)).await.is_none() {
                return;
            }
        }
    }

    /// A place between two steps of an effect on the outside, where tests let the server die or panic.
    pub(crate) fn point(&self, point: Point) {
        if self.options.crash_at == Some(point) {
            tracing::warn!(%point, "dies here because it was told to");
            host::process::die();
        }
        let is_told =
            self.options.panic_at == Some(point) && !self.has_panicked.swap(true, Ordering::SeqCst);
        assert!(!is_told, "told to panic at {point}");
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

    /// What time it is.
    pub fn now(&self) -> Timestamp {
        self.options.clock.now()
    }
}
