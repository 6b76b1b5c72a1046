//! Choices and secrets that an engine is opened with.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use host::clock::Clock;

use crate::core::point::Point;

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
    pub slack: SlackSecrets,
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
            slack: SlackSecrets::default(),
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
    /// What messages are sent with
    pub bot: Option<String>,
    /// What sockets are opened with
    pub app: Option<String>,
}

impl std::fmt::Debug for SlackSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SlackSecrets").finish_non_exhaustive()
    }
}
