//! Choices and secrets that an engine is opened with.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use host::clock::Clock;

use crate::core::point::Point;
use crate::core::shared_home::SharedHome;

/// Options of an engine.
#[derive(Debug, Clone)]
pub struct Options {
    /// The project's root; agents' paths stay inside it
    pub project: PathBuf,
    /// The hash of the operator's token
    pub operator_hash: String,
    /// Clock
    pub clock: Clock,
    /// Interval of progress reports from waiting calls
    pub progress_every: Duration,
    /// Delay before a transient failure is retried
    pub retry_after: Duration,
    /// The home, where worktrees and mirrors are
    pub home: PathBuf,
    /// The home's state, where the run folders are
    pub state: PathBuf,
    /// Where agents reach us
    pub url: String,
    /// The program itself, which supervises agents
    pub adjutant: PathBuf,
    /// Environment of every agent
    pub agent_environment: Vec<(String, String)>,
    /// Environment of the operator's own programs
    pub operator_environment: Vec<(OsString, OsString)>,
    /// Where the operator's secrets are, which a sandbox hides
    pub secrets: PathBuf,
    /// GitHub token and webhook secret
    pub github: GithubSecrets,
    /// Slack tokens
    pub slack: SlackSecrets,
    /// Time in one commit after which the writer counts as stalled
    pub writer_stall: Duration,
    /// Ownership of the home, where several servers share it
    pub shared_home: Option<SharedHome>,
    /// Where to die, so that a test can see that nothing is lost
    pub crash_at: Option<Point>,
    /// Where to panic, once, so that a test can see that what panicked is begun again
    pub panic_at: Option<Point>,
}

/// Secrets between GitHub and the operator.
#[derive(Clone, Default)]
pub struct GithubSecrets {
    /// API token
    pub token: Option<String>,
    /// Webhook secret
    pub webhook: Option<String>,
}

impl std::fmt::Debug for GithubSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GithubSecrets").finish_non_exhaustive()
    }
}

impl Options {
    /// The machine that has the run folders of this server, where a home has several.
    pub(crate) fn machine(&self) -> Option<&str> {
        self.shared_home.as_ref().map(SharedHome::machine)
    }

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
            slack: SlackSecrets::default(),
            shared_home: None,
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

/// Tokens between Slack and the operator.
#[derive(Clone, Default)]
pub struct SlackSecrets {
    /// Bot token
    pub bot: Option<String>,
    /// App token
    pub app: Option<String>,
}

impl std::fmt::Debug for SlackSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SlackSecrets").finish_non_exhaustive()
    }
}
