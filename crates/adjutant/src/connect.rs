//! Finds the server that owns the home, and starts one in the background where none runs.
//!
//! Inside an agent nothing is ever started: an agent must not bring up the server that an operator
//! took down, and the operator's token is not its to use.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use host::files::{self, FileError};
use host::process::{self, Exit, Launch, StartError};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use crate::client::{Client, ClientError};
use crate::home::ServerFile;

/// How often a starting server is looked for.
const LOOK: Duration = Duration::from_millis(2);
/// How long a server may take to start.
const START: Duration = Duration::from_secs(10);
/// How long an agent waits for a server that somebody else must start.
const AGENT_PATIENCE: Duration = Duration::from_secs(30);
/// How long a server may take to say that it is well.
const HEALTH: Duration = Duration::from_secs(2);
/// How much of the log a failed start shows.
const TAIL: u64 = 4096;

/// Where the server is looked for, and how one is started.
#[derive(Debug, Clone)]
pub(crate) struct Where {
    /// `server.json`
    pub(crate) server_file: PathBuf,
    /// Where a server in the background writes what it has to say
    pub(crate) log: PathBuf,
    /// A server that was named by its address: then no other will do
    pub(crate) url_override: Option<String>,
    /// What we show the server
    pub(crate) token: Token,
    /// Whether this program runs inside an agent
    pub(crate) inside_agent: bool,
    /// Our own program
    pub(crate) exe: PathBuf,
    /// The arguments with which it is a server in the background
    pub(crate) start_args: Vec<OsString>,
    /// The environment of that server
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// The working directory of that server
    pub(crate) cwd: PathBuf,
}

/// Where the token comes from. The operator's is made by the first start, so it is read late.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// It was given to us
    Given(String),
    /// It lies in a file
    File(PathBuf),
    /// There is none
    Missing,
}

impl Token {
    /// The token of `ADJUTANT_TOKEN`, else the operator's, which an agent never falls back to.
    pub(crate) fn choose(given: Option<&str>, agent: Option<&str>, operator: PathBuf) -> Self {
        match (given, agent) {
            (Some(token), _) => Self::Given(token.to_owned()),
            (None, None) => Self::File(operator),
            (None, Some(_)) => Self::Missing,
        }
    }

    /// Reads the token, if there is one by now.
    pub(crate) fn read(&self) -> Result<Option<String>, FileError> {
        Ok(match self {
            Self::Given(token) => Some(token.clone()),
            Self::File(path) => files::read(path)?.map(|text| text.trim().to_owned()),
            Self::Missing => None,
        }
        .filter(|token| !token.is_empty()))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given(_) => f.write_str("Given(..)"),
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Missing => f.write_str("Missing"),
        }
    }
}

/// Why there is no server to talk to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    /// The server that was named does not answer.
    #[error("no server answers at `{url}`")]
    NoServer {
        /// Its address
        url: String,
    },
    /// An agent found no server, and may not start one.
    #[error("no server has come up within {} s, and an agent does not start one", after.as_secs())]
    NoneForAgent {
        /// How long it waited
        after: Duration,
    },
    /// The server ended while it was starting.
    #[error("the server ended at its start ({exit}){}", said(tail))]
    Ended {
        /// How it ended
        exit: Ending,
        /// The last lines of its log
        tail: String,
    },
    /// The server did not answer in time.
    #[error("the server did not answer within {} s of its start{}", after.as_secs(), said(tail))]
    TooSlow {
        /// How long it had
        after: Duration,
        /// The last lines of its log
        tail: String,
    },
    /// The program did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The address or the token is of no use.
    #[error(transparent)]
    Client(#[from] ClientError),
}

/// How a server ended, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ending(pub(crate) Exit);

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Exit::Code(code) => write!(f, "exit code {code}"),
            Exit::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

fn said(tail: &str) -> String {
    if tail.is_empty() { String::new() } else { format!("; its log says:\n{tail}") }
}

/// A client of the server that seems to run. Nothing is sent: the first call shows whether it does.
pub(crate) fn locate(at: &Where) -> Result<Option<Client>, ConnectError> {
    let url = match &at.url_override {
        Some(url) => url.clone(),
        None => match noted(at) {
            Some(server) => server.url,
            None => return Ok(None),
        },
    };
    Ok(Some(Client::new(&url, at.token.read()?.as_deref())?))
}

/// Finds the server, or starts one, and returns a client of it.
pub(crate) async fn connect(at: &Where) -> Result<Client, ConnectError> {
    if let Some(client) = locate(at)?
        && is_well(&client).await
    {
        return Ok(client);
    }
    if at.inside_agent {
        return await_for_agent(at, AGENT_PATIENCE).await;
    }
    if let Some(url) = &at.url_override {
        return Err(ConnectError::NoServer { url: url.clone() });
    }
    let server = start(at, START).await?;
    Ok(Client::new(&server.url, at.token.read()?.as_deref())?)
}

/// The server that runs, if one does. Starts none.
pub(crate) async fn running(at: &Where) -> Result<Option<ServerFile>, ConnectError> {
    let Some(server) = noted(at) else { return Ok(None) };
    Ok(is_well(&Client::new(&server.url, None)?).await.then_some(server))
}

/// The server that runs, else a new one in the background.
pub(crate) async fn ensure(at: &Where) -> Result<ServerFile, ConnectError> {
    match running(at).await? {
        Some(server) => Ok(server),
        None => start(at, START).await,
    }
}

/// The server that `server.json` names, unless its process is gone.
fn noted(at: &Where) -> Option<ServerFile> {
    // A file that cannot be read names no server; the next one to start replaces it.
    let server = read_note(&at.server_file).ok()??;
    // An agent in a sandbox sees other process numbers than ours.
    (at.inside_agent || process::is_alive(server.pid)).then_some(server)
}

/// Reads `server.json`. What is not ours counts as nothing.
pub(crate) fn read_note(path: &Path) -> Result<Option<ServerFile>, FileError> {
    Ok(files::read(path)?.and_then(|text| serde_json::from_str(&text).ok()))
}

async fn is_well(client: &Client) -> bool {
    matches!(timeout(HEALTH, client.get_json("/healthz")).await, Ok(Ok(_)))
}

async fn await_for_agent(at: &Where, patience: Duration) -> Result<Client, ConnectError> {
    let token = at.token.read()?;
    let deadline = Instant::now() + patience;
    let mut look = looks();
    while Instant::now() < deadline {
        look.tick().await;
        // After a restart the server may stand elsewhere than where the agent was told.
        let noted = noted(at).map(|server| server.url);
        for url in at.url_override.iter().chain(&noted) {
            let client = Client::new(url, token.as_deref())?;
            if is_well(&client).await {
                return Ok(client);
            }
        }
    }
    Err(ConnectError::NoneForAgent { after: patience })
}

/// Starts a server in the background and waits until one answers, be it this one or another's.
async fn start(at: &Where, patience: Duration) -> Result<ServerFile, ConnectError> {
    let launch = Launch {
        program: at.exe.clone(),
        arguments: at.start_args.clone(),
        environment: at.environment.clone(),
        directory: at.cwd.clone(),
    };
    let log_from = std::fs::metadata(&at.log).map_or(0, |is| is.len());
    let mut started = process::start_detached(&launch, &at.log)?;
    let deadline = Instant::now() + patience;
    let mut look = looks();
    while Instant::now() < deadline {
        look.tick().await;
        if let Some(server) = running(at).await? {
            return Ok(server);
        }
        // One that ends content has found another server and left the field to it.
        if let Ok(Some(exit)) = started.exited()
            && !exit.is_success()
        {
            let tail = tail(&at.log, log_from);
            return Err(ConnectError::Ended { exit: Ending(exit), tail });
        }
    }
    Err(ConnectError::TooSlow { after: patience, tail: tail(&at.log, log_from) })
}

fn looks() -> tokio::time::Interval {
    let mut look = interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    look
}

/// The end of a log, from an offset on; all of it where it has become shorter, so is a new one.
fn tail(log: &Path, from: u64) -> String {
    let read = || {
        let mut file = File::open(log)?;
        let length = file.metadata()?.len();
        let from = if from > length { 0 } else { from };
        file.seek(SeekFrom::Start(from.max(length.saturating_sub(TAIL))))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        std::io::Result::Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    };
    // A log that cannot be read adds nothing to the error it would explain.
    read().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::routing::get;

    fn at(dir: &Path, script: &str) -> Where {
        Where {
            server_file: dir.join("server.json"),
            log: dir.join("server.log"),
            url_override: None,
            token: Token::Given("t".to_owned()),
            inside_agent: false,
            exe: "/bin/sh".into(),
            start_args: vec!["-c".into(), script.into()],
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
            cwd: dir.to_owned(),
        }
    }

    /// A server that is well, and its `server.json`.
    async fn well() -> (String, tokio::task::JoinSet<()>) {
        let router = Router::new().route("/healthz", get(|| async { "{\"status\":\"ok\"}" }));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let mut tasks = tokio::task::JoinSet::new();
        tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
        (url, tasks)
    }

    fn note(url: &str, pid: u32) -> String {
        let started_at = model::Timestamp::from_millis(0);
        let server = ServerFile { url: url.into(), pid, version: "0".into(), started_at };
        serde_json::to_string(&server).unwrap()
    }

    #[test]
    fn an_agent_never_falls_back_to_the_operators_token() {
        let file = PathBuf::from("/operator.token");
        assert_eq!(Token::choose(Some("t"), Some("sp_1"), file.clone()), Token::Given("t".into()));
        assert_eq!(Token::choose(None, Some("sp_1"), file.clone()), Token::Missing);
        assert_eq!(Token::choose(None, None, file.clone()), Token::File(file));
        assert_eq!(format!("{:?}", Token::Given("secret".into())), "Given(..)");
    }

    #[tokio::test]
    async fn a_running_server_is_found_and_none_is_started() {
        let (dir, (url, _tasks)) = (tempfile::tempdir().unwrap(), well().await);
        let at = at(dir.path(), "exit 1");
        std::fs::write(&at.server_file, note(&url, std::process::id())).unwrap();
        assert_eq!(connect(&at).await.unwrap().url(), url);
        assert_eq!(ensure(&at).await.unwrap().url, url);
        assert!(!at.log.exists());
    }

    #[tokio::test]
    async fn a_file_of_a_dead_server_is_not_believed() {
        let (dir, (url, _tasks)) = (tempfile::tempdir().unwrap(), well().await);
        let new = note(&url, std::process::id());
        // Whoever listens on the dead server's port is not our server.
        let at = at(dir.path(), &format!("echo '{new}' > next; mv next server.json"));
        std::fs::write(&at.server_file, note(&url, u32::MAX)).unwrap();
        assert_eq!(running(&at).await.unwrap(), None);
        assert!(locate(&at).unwrap().is_none());
        assert_eq!(ensure(&at).await.unwrap().pid, std::process::id());
    }

    #[tokio::test]
    async fn a_failed_start_shows_its_own_log() {
        let dir = tempfile::tempdir().unwrap();
        let at = at(dir.path(), "echo 'port on fire' >&2; exit 4");
        std::fs::write(&at.log, "an older story\n").unwrap();
        let error = connect(&at).await;
        assert_eq!(
            error.unwrap_err().to_string(),
            "the server ended at its start (exit code 4); its log says:\nport on fire"
        );
    }

    #[tokio::test]
    async fn an_agent_waits_and_starts_nothing() {
        let (dir, (url, _tasks)) = (tempfile::tempdir().unwrap(), well().await);
        let at = Where {
            url_override: Some("http://127.0.0.1:1".into()),
            inside_agent: true,
            ..at(dir.path(), "echo started")
        };
        let error = await_for_agent(&at, Duration::from_millis(20)).await.unwrap_err();
        assert!(matches!(error, ConnectError::NoneForAgent { .. }));
        // The process number is of another namespace.
        std::fs::write(&at.server_file, note(&url, u32::MAX)).unwrap();
        assert_eq!(connect(&at).await.unwrap().url(), url);
        assert!(!at.log.exists());
    }

    #[tokio::test]
    async fn a_named_server_that_is_not_there_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let url = Some("http://127.0.0.1:1".to_owned());
        let at = Where { url_override: url, ..at(dir.path(), "echo started") };
        assert!(matches!(connect(&at).await, Err(ConnectError::NoServer { .. })));
        assert!(!at.log.exists());
    }
}
