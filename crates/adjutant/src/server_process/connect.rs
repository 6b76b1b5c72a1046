//! Finds the server that owns the home, and starts one in the background where none runs.
//!
//! `server.json` is a hint: a server counts as ours once it has proved that it knows our token.
//!
//! Inside an agent nothing is ever started: an agent must not bring up the server that an operator
//! took down, and the operator's token is not its to use.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use host::files::{self, FileError, Mode};
use host::owner::{self, Holder};
use host::process::{self, Exit, Launch, StartError};
use serde::Deserialize;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use crate::client::{Answer, Client, ClientError, Named, Secrecy, check_secrecy};
use crate::home::ServerFile;

/// Poll interval for a starting server.
const START_POLL_INTERVAL: Duration = Duration::from_millis(1);
/// Start timeout of a server.
const START: Duration = Duration::from_secs(10);
/// Wait of an agent for a server, which it may not start itself.
const AGENT_START_TIMEOUT: Duration = Duration::from_secs(30);
/// Timeout of a health check.
const HEALTH: Duration = Duration::from_secs(2);
/// Beginning of an operator's token.
const OPERATOR_PREFIX: &str = "adjop_";
/// Bytes of the log shown after a failed start.
const TAIL: u64 = 4096;

/// Where the server is looked for, and how one is started.
#[derive(Debug, Clone)]
pub(crate) struct ServerLocation {
    /// `server.json` in the state folder
    pub(crate) server_file: PathBuf,
    /// Where else it may be noted: the copy in the home, and the folder that the state is about to be moved to
    pub(crate) copies: Vec<PathBuf>,
    /// The lock that the server of this home holds
    pub(crate) lock: PathBuf,
    /// Where a server in the background writes what it has to say
    pub(crate) log: PathBuf,
    /// A server that was named by its address: then no other will do
    pub(crate) url_override: Option<NamedServer>,
    /// Token for the server
    pub(crate) token: Token,
    /// True inside an agent
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

/// A server that a person named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedServer {
    /// Its address
    pub(crate) url: String,
    /// Rule for sending its token over a network in the clear
    pub(crate) secrecy: Secrecy,
    /// Name in homes.yaml, unless `ADJUTANT_URL` names it
    pub(crate) name: Option<String>,
}

impl NamedServer {
    /// The setting that a person changes to name another server.
    pub(crate) fn source(&self) -> String {
        match &self.name {
            Some(name) => format!("`{name}` in homes.yaml"),
            None => "`ADJUTANT_URL`".to_owned(),
        }
    }
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
        /// The setting that names it
        source_of_name: String,
    },
    /// A server of this home runs that does not prove who it is, as those before this version did not.
    #[error(
        "the server of this home (process {pid}, version {version}) is too old for this program"
    )]
    Older {
        /// Its process
        pid: u32,
        /// Version noted in `server.json`
        version: String,
    },
    /// An agent found no server, and may not start one.
    #[error("no server started within {} s, and only the operator may start one", after.as_secs())]
    NoneForAgent {
        /// Time waited
        after: Duration,
    },
    /// The server ended while it was starting.
    #[error("the server ended at its start ({exit}){}", last_line(tail))]
    Ended {
        /// Final status
        exit: Ending,
        /// The last lines of its log
        tail: String,
    },
    /// The server did not answer in time.
    #[error("the server did not answer within {} s of its start{}", after.as_secs(), last_line(tail))]
    TooSlow {
        /// Time limit
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

/// Displays how a server ended.
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

fn last_line(tail: &str) -> String {
    if tail.is_empty() { String::new() } else { format!("; its log says:\n{tail}") }
}

/// A client of the server that seems to run. Nothing is sent: the first call shows whether it does, and sends
/// the token only after the server has proved who it is.
pub(crate) fn locate(at: &ServerLocation) -> Result<Option<Client>, ConnectError> {
    if let Some(server) = &at.url_override {
        return Ok(Some(client(&server.url, at, Named::ByEnvironment)?));
    }
    let Some(server) = noted(at) else { return Ok(None) };
    Ok(Some(client(&server.url, at, Named::ByFile)?))
}

fn client(url: &str, at: &ServerLocation, named: Named) -> Result<Client, ConnectError> {
    let Some(token) = at.token.read()? else { return Ok(Client::new(url, None)?) };
    if named == Named::ByEnvironment {
        let secrecy = at.url_override.as_ref().map(|server| server.secrecy).unwrap_or_default();
        check_secrecy(url, secrecy).map_err(ClientError::from)?;
    }
    Ok(match (&at.token, named) {
        // Address and token were given together. A follower can prove nothing about an agent's.
        (Token::Given(_), Named::ByEnvironment) if !token.starts_with(OPERATOR_PREFIX) => {
            Client::new(url, Some(&token))?
        }
        _ => Client::proving(url, &token, named)?,
    })
}

/// A client of the server that a file names.
pub(crate) fn client_of(at: &ServerLocation, server: &ServerFile) -> Result<Client, ConnectError> {
    client(&server.url, at, Named::ByFile)
}

/// Finds the server, or starts one, and returns a client of it. Where several servers share the home, the client waits
/// for an owner as for a server that starts.
pub(crate) async fn connect(at: &ServerLocation) -> Result<Client, ConnectError> {
    Ok(find_or_start(at).await?.waiting_for_owner(START))
}

async fn find_or_start(at: &ServerLocation) -> Result<Client, ConnectError> {
    if let Some(client) = locate(at)? {
        match health(&client).await {
            Health::Ours => return Ok(client),
            Health::NotOurs if at.url_override.is_some() && !at.inside_agent => {
                return Err(ClientError::NotOurs { url: client.url().to_owned() }.into());
            }
            Health::NotOurs => refuse_older(at, client.url())?,
            Health::UnknownToken => refuse_token(at, client.url())?,
            Health::NoTls(error) => return Err(error.into()),
            Health::Silent => {}
        }
    }
    if at.inside_agent {
        return await_for_agent(at, AGENT_START_TIMEOUT).await;
    }
    if let Some(server) = &at.url_override {
        let source_of_name = server.source();
        return Err(ConnectError::NoServer { url: server.url.clone(), source_of_name });
    }
    Ok(start(at, START).await?.1)
}

/// The server that runs, if one does. Starts none.
pub(crate) async fn running(at: &ServerLocation) -> Result<Option<ServerFile>, ConnectError> {
    Ok(answering(at).await?.map(|(server, _)| server))
}

/// The server that runs, if one does, with a client to which it has proved who it is.
async fn answering(at: &ServerLocation) -> Result<Option<(ServerFile, Client)>, ConnectError> {
    let Some(server) = noted(at) else { return Ok(None) };
    let client = client(&server.url, at, Named::ByFile)?;
    match health(&client).await {
        Health::Ours => Ok(Some((server, client))),
        Health::NotOurs => refuse_older(at, &server.url).map(|()| None),
        Health::UnknownToken => refuse_token(at, &server.url).map(|()| None),
        Health::Silent | Health::NoTls(_) => Ok(None),
    }
}

/// Refuses a server that holds our lock and did not prove at this address who it is. Any other is a stranger,
/// and no server of ours.
pub(crate) fn refuse_older(at: &ServerLocation, url: &str) -> Result<(), ConnectError> {
    // Another one may have started since.
    let Some(server) = noted(at).filter(|server| server.url == url) else { return Ok(()) };
    if at.inside_agent || owner::holder(&at.lock)? != Holder::Process(server.pid) {
        return Ok(());
    }
    Err(ConnectError::Older { pid: server.pid, version: server.version })
}

/// Refuses a token that the server of this home does not know. A server of another home is a stranger.
pub(crate) fn refuse_token(at: &ServerLocation, url: &str) -> Result<(), ConnectError> {
    let is_named = at.url_override.is_some();
    // An agent looks in every place before it gives up.
    if at.inside_agent || (!is_named && owner::holder(&at.lock)? == Holder::Nobody) {
        return Ok(());
    }
    Err(ClientError::UnknownToken { url: url.to_owned() }.into())
}

/// The server that runs, else a new one in the background.
pub(crate) async fn ensure(at: &ServerLocation) -> Result<ServerFile, ConnectError> {
    match running(at).await? {
        Some(server) => Ok(server),
        None => Ok(start(at, START).await?.0),
    }
}

/// The server that is noted, unless its process is gone.
fn noted(at: &ServerLocation) -> Option<ServerFile> {
    // An agent in a sandbox sees other process numbers than ours.
    note(at).filter(|server| at.inside_agent || (process::is_alive(server.pid) && can_be_ours(at)))
}

/// Returns whether a server seems to run.
pub(crate) fn is_noted(at: &ServerLocation) -> bool {
    noted(at).is_some()
}

/// Without a token a server can prove nothing, and only our lock tells it from that of a project of which this one is
/// a copy.
fn can_be_ours(at: &ServerLocation) -> bool {
    let is_held = || !matches!(owner::holder(&at.lock), Ok(Holder::Nobody));
    !matches!(at.token.read(), Ok(None)) || is_held()
}

/// Reads `server.json` of a running or crashed server, from the state folder or a copy.
pub(crate) fn note(at: &ServerLocation) -> Option<ServerFile> {
    let mut files = std::iter::once(&at.server_file).chain(&at.copies);
    // A file that cannot be read names no server; the next one to start replaces it.
    files.find_map(|path| read_note(path).ok().flatten())
}

/// Reads `server.json`. What is not ours counts as nothing, be it text or not.
pub(crate) fn read_note(path: &Path) -> Result<Option<ServerFile>, FileError> {
    // Agents can write to the home: nobody waits for a pipe that is put there.
    if !std::fs::metadata(path).is_ok_and(|meta| meta.is_file()) {
        return Ok(None);
    }
    Ok(files::read_optional(path)?.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// Result of probing a server's address.
#[derive(Debug)]
enum Health {
    /// Our server
    Ours,
    /// Something else, or a server that cannot prove that it is ours
    NotOurs,
    /// A server that does not know the token: another home's, or ours if the token is wrong
    UnknownToken,
    /// Something with which no TLS could be agreed on
    NoTls(ClientError),
    /// Nothing
    Silent,
}

/// Answer of `/healthz`, which is the same in every version.
#[derive(Debug, Deserialize)]
struct ServerHealth {
    status: String,
}

async fn health(client: &Client) -> Health {
    let asked = async {
        if client.is_proving() {
            return client.prove().await;
        }
        // Without a token there is nothing to prove by, and nothing to lose.
        let health: Answer<ServerHealth> = client.get("/healthz").await?;
        let is_server = health.status == "ok";
        let not_ours = || ClientError::NotOurs { url: client.url().to_owned() };
        is_server.then_some(()).ok_or_else(not_ours)
    };
    match timeout(HEALTH, asked).await {
        Ok(Ok(())) => Health::Ours,
        Ok(Err(ClientError::NoServer { .. } | ClientError::Broken { .. })) | Err(_) => {
            Health::Silent
        }
        Ok(Err(ClientError::UnknownToken { .. })) => Health::UnknownToken,
        Ok(Err(error @ ClientError::Tls { .. })) => Health::NoTls(error),
        Ok(Err(_)) => Health::NotOurs,
    }
}

/// Returns whether our server answers.
pub(crate) async fn is_well(client: &Client) -> bool {
    matches!(health(client).await, Health::Ours)
}

async fn await_for_agent(at: &ServerLocation, patience: Duration) -> Result<Client, ConnectError> {
    let deadline = Instant::now() + patience;
    let mut look = looks();
    while Instant::now() < deadline {
        look.tick().await;
        // After a restart the server may stand elsewhere than where the agent was told.
        let told = at.url_override.iter();
        let told = told.map(|server| (server.url.clone(), Named::ByEnvironment));
        let noted = noted(at).map(|server| (server.url, Named::ByFile));
        let mut unknown_at = None;
        let mut others = 0;
        for (url, named) in told.chain(noted) {
            let client = client(&url, at, named)?;
            match health(&client).await {
                Health::Ours => return Ok(client),
                Health::UnknownToken => unknown_at = Some(url),
                Health::NoTls(error) => return Err(error.into()),
                Health::NotOurs | Health::Silent => others += 1,
            }
        }
        // Everybody who could know the token answers and does not: it is void.
        if let (Some(url), 0) = (unknown_at, others) {
            return Err(ClientError::UnknownToken { url }.into());
        }
    }
    Err(ConnectError::NoneForAgent { after: patience })
}

/// Starts a server in the background and waits until one answers, be it this one or another's.
async fn start(
    at: &ServerLocation,
    patience: Duration,
) -> Result<(ServerFile, Client), ConnectError> {
    let launch = Launch {
        program: at.exe.clone(),
        arguments: at.start_args.clone(),
        environment: at.environment.clone(),
        directory: at.cwd.clone(),
    };
    if let Some(folder) = at.log.parent() {
        files::make_dir(folder, Mode::Private)?;
    }
    let log_from = std::fs::metadata(&at.log).map_or(0, |is| is.len());
    let mut started = process::start_detached(&launch, &at.log)?;
    let deadline = Instant::now() + patience;
    let mut look = looks();
    while Instant::now() < deadline {
        look.tick().await;
        if let Some(found) = answering(at).await? {
            return Ok(found);
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
    let mut look = interval(START_POLL_INTERVAL);
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
mod tests;
