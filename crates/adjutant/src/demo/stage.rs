//! Where the demo plays: a folder with a repository and a home in it, and a server that can be killed.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::Code;
use host::files::{self, Mode};
use host::process::{self, Launch};
use host::run::{RunFolder, RunStatus};
use serde_json::json;
use tokio::time::{Instant, interval, timeout};
use wire::agents::KilledAgent;
use wire::mail::{InboxAnswer, SentMail};

use super::check::Check;
use super::teller::Teller;
use crate::app::{App, call_tool};
use crate::cli::{DemoArgs, Global};
use crate::cli_error::CliError;
use crate::client::{Answer, Client};
use crate::environment::Environment;
use crate::home::Home;
use crate::init;
use crate::server_process::connect::{self, ServerLocation};
use crate::server_process::{self, StopTimeouts};

/// Scenario of the agents.
const SCENARIO: &str = include_str!("crew.yaml");

/// The roles: a name, a category, and further front matter.
const ROLES: [(&str, &str, &str); 7] = [
    ("lead", "supervisor", "worktree: none\n"),
    ("writer", "coding", ""),
    ("reviewer", "review", ""),
    ("tester", "worker", ""),
    ("spender", "worker", "worktree: none\nbudget: {usd: 0.10}\n"),
    ("clerk", "worker", "worktree: none\n"),
    ("runner", "worker", "worktree: none\n"),
];

/// Prompt of a reviewer: the first word chooses its scenario.
const ASK: &str = "{{instructions}}\n\nThe work of {{coder}}, for the {{iteration}}. time.\n";

/// The file that tells the runner that there is no server.
const NO_SERVER: &str = "no-server";
/// Time limit for a git command.
const GIT_TIMEOUT: Duration = Duration::from_secs(30);
/// Time limit for the end of a process or an agent.
const END_TIMEOUT: Duration = Duration::from_secs(30);
/// Poll interval for an agent's end.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A folder that is gone when this value is, unless it was to be kept.
#[derive(Debug)]
struct Scratch {
    path: PathBuf,
    keep: bool,
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.keep {
            // Whatever is left is the system's to sweep.
            drop(fs::remove_dir_all(&self.path));
        }
    }
}

/// Where it plays.
#[derive(Debug)]
pub(super) struct Stage {
    scratch: Scratch,
    home: Home,
    env: Environment,
    at: ServerLocation,
    /// Every server there was
    servers: Vec<u32>,
}

impl Stage {
    /// Makes a folder with a repository, a home, roles and a scenario.
    pub(super) fn build(app: &App) -> Result<Self, CliError> {
        let bits = host::random::bits().map_err(std::io::Error::other)?;
        let path = std::env::temp_dir().join(format!("adjutant-demo-{bits:016x}"));
        files::make_dir(&path, Mode::Private)?;
        let scratch = Scratch { path: path.canonicalize()?, keep: false };
        let [project, user, state, data] =
            ["project", "user", "state", "data"].map(|name| scratch.path.join(name));
        for folder in [&project, &user] {
            files::make_dir(folder, Mode::Private)?;
        }
        // Nothing of the user's own but where programs are: no settings, no other home, no hooks of git.
        let mut vars = app.env.for_agents();
        vars.retain(|(name, _)| name != "HOME");
        vars.extend([
            ("HOME".to_owned(), user.display().to_string()),
            ("XDG_STATE_HOME".to_owned(), state.display().to_string()),
            ("XDG_DATA_HOME".to_owned(), data.display().to_string()),
            ("ADJUTANT_SERVER_PORT".to_owned(), "0".to_owned()),
        ]);
        let env = Environment::from_vars(&project, vars);
        let home = Home::for_init(Some(&project), &env);
        let global = Global { home: Some(project), json: false, verbose: 0 };
        init::init(&home)?;
        let app = App::new(env.clone(), global);
        let at = app.place(&["--background", "needed"])?;
        let mut stage = Self { scratch, home, env, at, servers: Vec::new() };
        stage.furnish()?;
        // Now that there is a repository, the state lies in it.
        (stage.home, stage.at) = (app.home()?, app.place(&["--background", "needed"])?);
        Ok(stage)
    }

    fn furnish(&self) -> Result<(), CliError> {
        for (name, category, more) in ROLES {
            let text = format!(
                "---\nname: {name}\ncategory: {category}\nagent: script\nscript: crew.yaml\n{more}---\n\
                 You are the {name}.\n"
            );
            files::write(&self.home.roles().join(format!("{name}.md")), &text, Mode::Shared)?;
        }
        files::write(&self.home.root.join("crew.yaml"), SCENARIO, Mode::Shared)?;
        files::write(&self.home.review_template(), ASK, Mode::Shared)?;
        self.git(&["init", "--quiet"])?;
        self.git(&["add", "-A"])?;
        let me = ["-c", "user.name=You", "-c", "user.email=you@adjutant.invalid"];
        let commit = ["-c", "commit.gpgSign=false", "commit", "--quiet", "-m", "Begin"];
        self.git(&[&me[..], &commit].concat())?;
        Ok(())
    }

    /// The messages of all commits.
    pub(super) fn history(&self) -> Result<String, CliError> {
        self.git(&["log", "--format=%s", "--branches=adjutant/epic/*"])
    }

    fn git(&self, arguments: &[&str]) -> Result<String, CliError> {
        let launch = Launch {
            program: "git".into(),
            arguments: arguments.iter().map(Into::into).collect(),
            environment: self.env.vars.clone(),
            directory: self.home.root.clone(),
        };
        let failed = |why: String| {
            CliError::new(Code::ExternalError, format!("git failed: {why}"))
                .hint("the demo works in a repository of its own; `adjutant doctor` looks at git")
        };
        let ran = process::run(&launch, GIT_TIMEOUT).map_err(|error| failed(error.to_string()))?;
        if !ran.exit.is_success() {
            return Err(failed(String::from_utf8_lossy(&ran.stderr).trim().to_owned()));
        }
        Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
    }

    /// The folder in which everything is.
    pub(super) fn folder(&self) -> &Path {
        &self.scratch.path
    }

    /// Commands to look at it afterwards.
    pub(super) fn commands(&self) -> String {
        let (state, home) = (self.scratch.path.join("state"), self.home.root.display());
        let adjutant = format!("XDG_STATE_HOME={} adjutant --home {home}", state.display());
        format!("{adjutant} ps --all\n  {adjutant} open")
    }

    /// A client of the server, as the operator.
    pub(super) fn client(&self) -> Result<Client, CliError> {
        connect::locate(&self.at)?.ok_or_else(|| CliError::no_server("the demo's server is gone"))
    }

    /// Starts the server and says where it is.
    pub(super) async fn up(&mut self) -> Result<String, CliError> {
        let server = connect::ensure(&self.at).await?;
        self.servers.push(server.pid);
        Ok(server.url)
    }

    /// Kills the server in the middle of everything, waits until an agent has ended without one, and
    /// starts it again. Says where it is then.
    pub(super) async fn outage(
        &mut self,
        runner: &Path,
        teller: &mut Teller<'_>,
    ) -> Result<String, CliError> {
        let pid = self.servers.last().copied().unwrap_or_default();
        process::kill(pid)?;
        let waited = tokio::task::spawn_blocking(move || process::wait_gone(pid, END_TIMEOUT));
        waited.await.map_err(std::io::Error::other)?;
        teller.say("you", &format!("kill the server (process {pid}, SIGKILL) under its agents"))?;
        let sign = self.home.root.join(NO_SERVER);
        files::write(&sign, "", Mode::Shared)?;
        let runner = RunFolder::open(runner);
        let deadline = Instant::now() + END_TIMEOUT;
        let mut look = interval(POLL_INTERVAL);
        let ended = loop {
            look.tick().await;
            let ended = matches!(runner.standing()?, RunStatus::Ended(_));
            if ended || Instant::now() >= deadline {
                break ended;
            }
        };
        files::remove(&sign)?;
        let what =
            if ended { "ends all the same, and leaves word on disk" } else { "does not end" };
        teller.say("runner", what)?;
        let url = self.up().await?;
        let pid = self.servers.last().copied().unwrap_or_default();
        teller.say("adjutant", &format!("is back at {url} (process {pid})"))?;
        Ok(url)
    }

    /// Answers the mail that waits for a human, as `adjutant mail reply` does.
    pub(super) async fn answer(&self) -> Result<(), CliError> {
        let client = self.client()?;
        let inbox: Answer<InboxAnswer> =
            call_tool(&client, "mcp__mail__list_inbox", &json!({})).await?;
        let question = inbox.mails.first().map(|mail| mail.id);
        let reply = json!({ "originalMailId": question, "body": "Hello, world" });
        call_tool::<SentMail>(&client, "mcp__mail__reply", &reply).await?;
        Ok(())
    }

    /// Ends all agents that still run, and returns whether any would have been left over.
    pub(super) async fn clear(mut self, args: &DemoArgs) -> Result<Check, CliError> {
        if let Ok(client) = self.client() {
            // No agent should run now: the demo was interrupted, or failed.
            let live = crate::commands::crew::agents::live(&client);
            let live = timeout(END_TIMEOUT, live).await.unwrap_or_else(|_| Ok(Vec::new()));
            for agent in live.unwrap_or_default() {
                let kill = json!({ "agentId": agent.id });
                let killed = call_tool::<KilledAgent>(&client, "mcp__harness__kill_agent", &kill);
                // What does not go when asked is ended below.
                drop(timeout(END_TIMEOUT, killed).await);
            }
        }
        let patience =
            StopTimeouts { asked: Duration::from_secs(5), signalled: Duration::from_secs(2) };
        let down = server_process::down(&self.at, &self.at.lock, patience).await;
        let left = processes(&self.scratch.path);
        let alive = self.servers.iter().filter(|pid| process::is_alive(**pid));
        let all: Vec<u32> = left.iter().chain(alive).copied().collect();
        for pid in &all {
            process::kill(*pid)?;
            let pid = *pid;
            drop(tokio::task::spawn_blocking(move || process::wait_gone(pid, END_TIMEOUT)).await);
        }
        down?;
        self.scratch.keep = args.keep;
        Ok(Check { what: "no process is left over".to_owned(), holds: all.is_empty() })
    }
}

/// Our processes, where the system lets us look: those with the folder in their environment, and the
/// supervisors, which have none, by their arguments.
fn processes(folder: &Path) -> Vec<u32> {
    let folder = folder.as_os_str().as_bytes();
    let supervise = [b"supervise\0", folder].concat();
    let Ok(all) = fs::read_dir("/proc") else { return Vec::new() };
    let has = |path: PathBuf, mark: &[u8]| {
        let bytes = fs::read(path).unwrap_or_default();
        bytes.windows(mark.len()).any(|window| window == mark)
    };
    all.flatten()
        .map(|entry| entry.path())
        .filter(|one| has(one.join("environ"), folder) || has(one.join("cmdline"), &supervise))
        .filter_map(|one| one.file_name()?.to_str()?.parse().ok())
        .collect()
}
