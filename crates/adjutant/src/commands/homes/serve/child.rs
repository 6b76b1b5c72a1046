//! The server of one home under `adjutant serve`: a process of its own, which is started again when it ends.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead as _, BufReader, PipeReader};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use host::files::{self, FileError, Mode};
use host::process::{self, Exit, Launch, StartError, Tied};
use tokio::time::Instant;

use crate::environment::Environment;
use crate::home::FOLDER;
use crate::server_process::FENCED;
use crate::server_process::connect::{self, Ending};
use crate::terminal::render;

/// Delay before a server that has failed once is started again; it doubles with each failure in a row.
const FIRST_DELAY: Duration = Duration::from_millis(500);
/// Longest delay.
const MAX_DELAY: Duration = Duration::from_secs(60);
/// Lifetime after which an end is no failure in a row.
const STEADY: Duration = Duration::from_secs(60);
/// Time for a server to end once it was asked to.
const END_TIMEOUT: Duration = Duration::from_secs(15);
/// Longest line that is kept of what a server said.
const MAX_LINE: usize = 300;

/// Variables that say which home or which server is meant: every server gets its own.
const OWN_VARIABLES: [&str; 15] = [
    "ADJUTANT_HOME",
    "ADJUTANT_STATE",
    "ADJUTANT_URL",
    "ADJUTANT_TOKEN",
    "ADJUTANT_PORT",
    "ADJUTANT_DATABASE",
    "ADJUTANT_SERVER_HOST",
    "ADJUTANT_SERVER_PORT",
    "ADJUTANT_CLUSTER_HOME",
    "ADJUTANT_CLUSTER_URL",
    "ADJUTANT_CLUSTER_LEASE",
    "ADJUTANT_SERVE_TOKEN",
    "MCP_SERVER_PORT",
    "MCP_DATABASE_PATH",
    "PWD",
];

/// Settings that the servers of all homes share.
#[derive(Debug)]
pub(super) struct Launcher {
    program: PathBuf,
    environment: Vec<(OsString, OsString)>,
    /// Folder of all homes
    homes: PathBuf,
    /// Address of this host
    url: String,
}

impl Launcher {
    /// Servers of homes of this PostgreSQL, with their state below a folder, on the host at this address.
    pub(super) fn new(
        env: &Environment,
        folder: &Path,
        database: &str,
        url: &str,
        lease: u32,
    ) -> std::io::Result<Self> {
        let is_own = |name: &OsStr| OWN_VARIABLES.iter().any(|own| name == *own);
        let mut environment: Vec<_> =
            env.vars.iter().filter(|(name, _)| !is_own(name)).cloned().collect();
        let lease = lease.to_string();
        // Requests come through this host alone, so it listens for nobody else.
        for (name, value) in [
            ("ADJUTANT_DATABASE", database),
            ("ADJUTANT_SERVER_HOST", "127.0.0.1"),
            ("ADJUTANT_SERVER_PORT", "0"),
            ("ADJUTANT_CLUSTER_LEASE", &lease),
        ] {
            environment.push((name.into(), value.into()));
        }
        let (homes, url) = (folder.join("homes"), url.to_owned());
        Ok(Self { program: std::env::current_exe()?, environment, homes, url })
    }

    /// Address of a home at this host.
    pub(super) fn url_of(&self, home: &str) -> String {
        format!("{}/homes/{home}", self.url)
    }

    fn start(&self, home: &str) -> Result<Child, ChildError> {
        let folder = self.homes.join(home);
        let (project, state) = (folder.join("project"), folder.join("state"));
        files::make_dir(&state, Mode::Private)?;
        files::make_dir(&project.join(FOLDER), Mode::Private)?;
        let mut environment = self.environment.clone();
        for (name, value) in
            [("ADJUTANT_CLUSTER_HOME", home), ("ADJUTANT_CLUSTER_URL", &self.url_of(home))]
        {
            environment.push((name.into(), value.into()));
        }
        let arguments: [&OsStr; 8] = [
            "--home".as_ref(),
            project.as_ref(),
            "--state".as_ref(),
            state.as_ref(),
            "up".as_ref(),
            "--background".as_ref(),
            "hosted".as_ref(),
            "--port=0".as_ref(),
        ];
        let arguments = arguments.map(OsStr::to_owned).into();
        let launch =
            Launch { program: self.program.clone(), arguments, environment, directory: project };
        let Tied { process, output, tie } = process::start_tied(&launch)?;
        let line = Arc::new(Mutex::new(String::new()));
        pass_on(home, output, Arc::clone(&line))?;
        let server_file = state.join("server.json");
        Ok(Child { process, _tie: tie, line, server_file, began: Instant::now(), end_by: None })
    }
}

/// Why a server could not be started.
#[derive(Debug, thiserror::Error)]
enum ChildError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{0}: {source}", source = std::error::Error::source(.0).map(ToString::to_string).unwrap_or_default())]
    Start(#[from] StartError),
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

/// Writes what a server says to the standard error, with the name of its home, and keeps the last line.
fn pass_on(home: &str, output: PipeReader, last: Arc<Mutex<String>>) -> std::io::Result<()> {
    let home = home.to_owned();
    let read = move || {
        let mut output = BufReader::new(output);
        let mut bytes = Vec::new();
        while output.read_until(b'\n', &mut bytes).is_ok_and(|count| count > 0) {
            let text = String::from_utf8_lossy(&bytes);
            let line = text.trim_end();
            // Its reader may be gone; the server goes on.
            drop(render::print_raw_aside(format!("{home} | {line}\n").as_bytes()));
            if !line.is_empty() {
                *last.lock().unwrap_or_else(PoisonError::into_inner) =
                    render::short(line, MAX_LINE);
            }
            bytes.clear();
        }
    };
    std::thread::Builder::new().name("home-output".to_owned()).spawn(read).map(drop)
}

/// A server that runs.
#[derive(Debug)]
struct Child {
    process: process::Started,
    _tie: std::io::PipeWriter,
    line: Arc<Mutex<String>>,
    server_file: PathBuf,
    began: Instant,
    /// When it is killed, once it was asked to end
    end_by: Option<Instant>,
}

impl Child {
    /// Where it listens, once it knows who owns its home.
    fn url(&self) -> Option<String> {
        let noted = connect::read_note(&self.server_file).ok().flatten();
        noted.filter(|noted| noted.pid == self.process.pid()).map(|noted| noted.url)
    }
}

/// A home that this host serves, or is to serve.
#[derive(Debug)]
pub(super) struct Slot {
    /// Name of the home
    pub(super) home: String,
    /// Times in a row that its server has failed
    pub(super) failures: u32,
    /// Its last failure
    pub(super) last_exit: Option<String>,
    /// The last line that it wrote before that
    pub(super) last_line: Option<String>,
    child: Option<Child>,
    /// When it may be started again
    start_at: Option<Instant>,
    /// Where its server listens, as it was looked up last
    url: Option<String>,
}

impl Slot {
    pub(super) fn new(home: &str) -> Self {
        let home = home.to_owned();
        let (last_exit, last_line, child, start_at, url) = (None, None, None, None, None);
        Self { home, failures: 0, last_exit, last_line, child, start_at, url }
    }

    /// Where its server listens, once it knows who owns the home.
    pub(super) fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }

    /// The process of its server.
    pub(super) fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(|child| child.process.pid())
    }

    /// True while a server runs that was asked to end.
    pub(super) fn is_ending(&self) -> bool {
        self.child.as_ref().is_some_and(|child| child.end_by.is_some())
    }

    /// Starts the server where none runs, unless it has just failed.
    pub(super) fn keep_up(&mut self, launcher: &Launcher, now: Instant) {
        self.look(now);
        if self.child.is_some() || self.start_at.is_some_and(|at| now < at) {
            return;
        }
        match launcher.start(&self.home) {
            Ok(child) => {
                tracing::debug!(home = self.home, pid = child.process.pid(), "server started");
                self.child = Some(child);
            }
            Err(error) => self.failed(&error.to_string(), None, now),
        }
    }

    /// Asks the server to end, and hand the home over. Returns true once it has ended.
    pub(super) fn end(&mut self, now: Instant) -> bool {
        self.look(now);
        let Some(child) = &mut self.child else { return true };
        let pid = child.process.pid();
        // It may have ended since.
        match child.end_by {
            None => {
                drop(process::terminate(pid));
                child.end_by = Some(now + END_TIMEOUT);
            }
            Some(end_by) if now >= end_by => {
                tracing::warn!(home = self.home, pid, "server does not end; killing it");
                drop(process::kill(pid));
                child.end_by = Some(now + END_TIMEOUT);
            }
            Some(_) => {}
        }
        false
    }

    /// Looks whether the server has ended, and where it listens.
    fn look(&mut self, now: Instant) {
        let Some(child) = &mut self.child else { return };
        let exit = match child.process.exited() {
            Ok(None) => {
                self.url = child.url().filter(|_| child.end_by.is_none());
                return;
            }
            Ok(Some(exit)) => exit,
            Err(error) => {
                tracing::error!(home = self.home, %error, "server cannot be followed");
                return;
            }
        };
        let was_asked = child.end_by.is_some();
        let has_lasted = now.duration_since(child.began) >= STEADY;
        let line = child.line.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (self.child, self.url) = (None, None);
        if was_asked {
            (self.failures, self.start_at) = (0, None);
        } else if exit == Exit::Code(i32::from(FENCED)) {
            // That is how a server ends whose home another one has taken.
            tracing::info!(home = self.home, "another server has taken the home");
            (self.failures, self.start_at) = (0, None);
        } else {
            if has_lasted {
                self.failures = 0;
            }
            self.failed(&Ending(exit).to_string(), Some(line), now);
        }
    }

    fn failed(&mut self, why: &str, line: Option<String>, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        let delay = FIRST_DELAY.saturating_mul(1 << (self.failures - 1).min(16)).min(MAX_DELAY);
        let (home, failures) = (&self.home, self.failures);
        let seconds = delay.as_secs_f64();
        let said = line.as_deref().unwrap_or_default();
        tracing::warn!(
            home,
            why,
            said,
            failures,
            "server failed; starting it again in {seconds} s"
        );
        self.last_exit = Some(why.to_owned());
        self.last_line = line.filter(|line| !line.is_empty());
        self.start_at = Some(now + delay);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_fails_is_started_ever_later_and_not_after_more_than_a_minute() {
        let mut slot = Slot::new("shop");
        let now = Instant::now();
        let mut delays = Vec::new();
        for _ in 0..20 {
            slot.failed("exit code 2", Some("no".to_owned()), now);
            delays.push(slot.start_at.unwrap().duration_since(now));
        }
        assert_eq!(delays[..3], [500, 1000, 2000].map(Duration::from_millis));
        assert!(delays.is_sorted());
        assert_eq!(delays[19], MAX_DELAY);
        assert_eq!(slot.last_exit.as_deref(), Some("exit code 2"));
        assert_eq!(slot.last_line.as_deref(), Some("no"));
    }

    #[test]
    fn a_server_gets_the_hosts_environment_without_what_means_another_home() {
        let vars = [
            ("PGPASSWORD", "secret"),
            ("GITHUB_TOKEN", "x"),
            ("ADJUTANT_HOME", "/elsewhere"),
            ("ADJUTANT_STATE", "/elsewhere"),
            ("ADJUTANT_CLUSTER_HOME", "other"),
            ("ADJUTANT_LIMITS_RUNNING", "3"),
        ];
        let env = Environment::from_vars("/", vars);
        let url = "http://crew-1:3000";
        let database = "postgres://crew@db/adjutant";
        let launcher = Launcher::new(&env, Path::new("/srv"), database, url, 7).unwrap();
        let mut told: Vec<(&str, &str)> = launcher
            .environment
            .iter()
            .map(|(name, value)| (name.to_str().unwrap(), value.to_str().unwrap()))
            .collect();
        told.sort_unstable();
        let expected = [
            ("ADJUTANT_CLUSTER_LEASE", "7"),
            ("ADJUTANT_DATABASE", database),
            ("ADJUTANT_LIMITS_RUNNING", "3"),
            ("ADJUTANT_SERVER_HOST", "127.0.0.1"),
            ("ADJUTANT_SERVER_PORT", "0"),
            ("GITHUB_TOKEN", "x"),
            ("PGPASSWORD", "secret"),
        ];
        assert_eq!(told, expected);
        assert_eq!(launcher.url_of("shop"), "http://crew-1:3000/homes/shop");
    }
}
