//! A world for the real binary: a project of its own, a cleared environment, and an end of every
//! server that was started in it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use axum::http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

/// How long a server may take to end.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// A project, and the binary that is tried in it.
#[derive(Debug)]
pub struct World {
    binary: PathBuf,
    dir: TempDir,
    variables: Vec<(String, String)>,
}

/// What a command left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOutput {
    /// Its exit code; none where a signal ended it
    pub code: Option<i32>,
    /// What it wrote to its standard output
    pub stdout: String,
    /// What it wrote to its standard error
    pub stderr: String,
}

impl CommandOutput {
    /// The standard output as JSON.
    pub fn json(&self) -> Result<Value> {
        serde_json::from_str(&self.stdout).with_context(|| format!("{self:?}"))
    }

    /// The standard error as JSON.
    pub fn error(&self) -> Result<Value> {
        serde_json::from_str(&self.stderr).with_context(|| format!("{self:?}"))
    }

    /// The same, if it ended well.
    pub fn ok(self) -> Result<Self> {
        ensure!(self.code == Some(0), "{self:?}");
        Ok(self)
    }
}

/// An agent that was enlisted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Its id
    pub id: String,
    /// Its token
    pub token: String,
}

impl World {
    /// An empty project without a home.
    pub fn bare(binary: impl Into<PathBuf>) -> Result<Self> {
        let dir = TempDir::new()?;
        std::fs::create_dir(dir.path().join("project"))?;
        let variables = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("ADJUTANT_SERVER_PORT", "0"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ];
        let mut variables: Vec<(String, String)> =
            variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        for (name, folder) in [("HOME", "user"), ("XDG_STATE_HOME", "state"), ("TMPDIR", "tmp")] {
            let folder = dir.path().join(folder);
            std::fs::create_dir(&folder)?;
            variables.push((name.to_owned(), folder.display().to_string()));
        }
        Ok(Self { binary: binary.into(), dir, variables })
    }

    /// A project with a home.
    pub async fn new(binary: impl Into<PathBuf>) -> Result<Self> {
        let world = Self::bare(binary)?;
        // Named, so that a home or a repository further up cannot be taken for the project's.
        let project = world.project().display().to_string();
        world.run(&["init", "--home", &project]).await?.ok()?;
        Ok(world)
    }

    /// The project's folder.
    pub fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    /// The home.
    pub fn home(&self) -> PathBuf {
        self.project().join(".adjutant")
    }

    /// The folder of the record, the run folders, the lock and the log: in the repository, if there is one.
    pub fn state_dir(&self) -> PathBuf {
        let inside = std::fs::read_dir(self.project().join(".git/adjutant"));
        let only = inside.into_iter().flatten().flatten().map(|entry| entry.path()).next();
        only.unwrap_or_else(|| self.home().join("state"))
    }

    /// The folder of the worktrees, in the user's data folder. Without one yet, where it would not be found.
    pub fn worktrees(&self) -> PathBuf {
        let base = self.user().join(".local/share/adjutant/worktrees");
        let inside = std::fs::read_dir(&base).into_iter().flatten().flatten();
        let mut folders = inside.filter(|entry| entry.file_name() != ".ports");
        folders.next().map_or(base, |entry| entry.path())
    }

    /// The user's own folder.
    pub fn user(&self) -> PathBuf {
        self.dir.path().join("user")
    }

    /// Where the operator's secrets are.
    pub fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    /// Where scratch files go.
    pub fn scratch(&self) -> PathBuf {
        self.dir.path().join("tmp")
    }

    /// Takes another binary for every command from now on, such as one that was installed.
    pub fn use_binary(&mut self, binary: impl Into<PathBuf>) {
        self.binary = binary.into();
    }

    /// Sets a variable for every command from now on.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), value.into()));
    }

    /// The binary with these arguments, about to be started in the project.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(arguments)
            .env_clear()
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.project())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    /// Runs a command to its end.
    pub async fn run(&self, arguments: &[&str]) -> Result<CommandOutput> {
        ran(self.command(arguments)).await
    }

    /// Runs a script of commands in the project, with their errors among their answers.
    pub async fn shell(&self, script: &str) -> Result<CommandOutput> {
        self.shell_in(&self.project(), script).await
    }

    /// Runs a script of commands in another folder, with their errors among their answers.
    pub async fn shell_in(&self, dir: &Path, script: &str) -> Result<CommandOutput> {
        let mut command = Command::new("bash");
        command
            .args(["-c", &format!("exec 2>&1\n{script}")])
            .env_clear()
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(dir)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        ran(command).await
    }

    /// Runs a command to its end, as an agent would inside its own environment.
    pub async fn run_as(&self, agent: &Agent, arguments: &[&str]) -> Result<CommandOutput> {
        let mut command = self.command(arguments);
        command.env("ADJUTANT_AGENT_ID", &agent.id).env("ADJUTANT_TOKEN", &agent.token);
        ran(command).await
    }

    /// Runs a command that reads this text.
    pub async fn run_with_input(&self, arguments: &[&str], input: &str) -> Result<CommandOutput> {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn()?;
        let mut stdin = child.stdin.take().context("it has a standard input")?;
        stdin.write_all(input.as_bytes()).await?;
        drop(stdin);
        Ok(ran_of(child.wait_with_output().await?))
    }

    /// Starts a server that ends with the value returned.
    pub async fn up(&self) -> Result<Server> {
        self.start(&["up"]).await
    }

    /// The same, with its log in a file.
    pub async fn up_logging_to(&self, log: &Path) -> Result<Server> {
        self.start_with(&["up"], Stdio::from(std::fs::File::create(log)?)).await
    }

    /// Starts a server by another command, such as one of many homes.
    pub async fn start(&self, arguments: &[&str]) -> Result<Server> {
        self.start_with(arguments, Stdio::inherit()).await
    }

    async fn start_with(&self, arguments: &[&str], stderr: Stdio) -> Result<Server> {
        let mut child = self.command(&[arguments, &["--json"]].concat()).stderr(stderr).spawn()?;
        let stdout = child.stdout.take().context("it has a standard output")?;
        let mut lines = BufReader::new(stdout).lines();
        let Some(line) = lines.next_line().await? else {
            bail!("the server ended at once: {:?}", child.wait().await?);
        };
        let file: Value = serde_json::from_str(&line)?;
        let url = file["url"].as_str().with_context(|| format!("no url in {line}"))?.to_owned();
        Ok(Server { url, child, lines })
    }

    /// The operator's token.
    pub async fn operator(&self) -> Result<String> {
        Ok(self.run(&["token"]).await?.ok()?.stdout.trim().to_owned())
    }

    /// Makes an agent, with more arguments if need be.
    pub async fn enlist(&self, role: &str, more: &[&str]) -> Result<Agent> {
        let arguments = [&["enlist", "--json", "--role", role], more].concat();
        let answer = self.run(&arguments).await?.ok()?.json()?;
        let part = |key: &str| {
            answer[key].as_str().map(str::to_owned).with_context(|| format!("no `{key}`: {answer}"))
        };
        Ok(Agent { id: part("agentId")?, token: part("token")? })
    }

    /// The permissions of a file or folder, as `0o600`.
    pub fn mode(path: &Path) -> Result<u32> {
        let meta = std::fs::metadata(path).with_context(|| path.display().to_string())?;
        Ok(meta.permissions().mode() & 0o777)
    }

    /// What `server.json` says, if it is there.
    pub fn server_file(&self) -> Result<Option<Value>> {
        match std::fs::read_to_string(self.home().join("server.json")) {
            Ok(text) => Ok(Some(serde_json::from_str(&text)?)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        end_server(&self.home());
        end_agents(&self.home());
        expect_equal_replica(&self.state_dir().join("server.log"));
        // Commands that ran side by side may each have started a server, and the last of them may
        // only now find the home free: where the path is gone it gives up.
        let gone = self.dir.path().join("gone");
        if std::fs::rename(self.project(), &gone).is_ok() {
            end_server(&gone.join(".adjutant"));
        }
    }
}

/// Ends the agents that a failed test has left: each tells in its environment whose it is, and its
/// supervisor ends with it.
fn end_agents(home: &Path) {
    let mark = format!("ADJUTANT_HOME={}", home.display());
    for process in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
        let mut variables = environment.split(|byte| *byte == 0);
        let pid = process.file_name().to_str().and_then(|name| name.parse().ok());
        if let Some(pid) = pid.filter(|_| variables.any(|variable| variable == mark.as_bytes())) {
            // Best effort: the process may be gone already.
            drop(host::process::kill(pid));
        }
    }
}

/// Ends the server in the background, if there is one: it would outlive its folder.
fn end_server(home: &Path) {
    let file = home.join("server.json");
    let Ok(text) = std::fs::read_to_string(&file) else { return };
    let noted: Value = serde_json::from_str(&text).unwrap_or_default();
    let Some(pid) = noted["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok()) else { return };
    // Best effort: the process may be gone already.
    drop(host::process::terminate(pid));
    if !host::process::wait_gone(pid, START_TIMEOUT) {
        drop(std::fs::remove_file(&file));
        drop(host::process::kill(pid));
    }
}

/// Fails the test if a server in the background ended because its replica differed: a debug build replays what it
/// writes into a second database, and its log alone says so.
fn expect_equal_replica(log: &Path) {
    let log = std::fs::read_to_string(log).unwrap_or_default();
    let difference = log.lines().find(|line| line.contains("the replica differs from the log"));
    // A test that has failed already says why itself.
    assert!(difference.is_none() || std::thread::panicking(), "{difference:?}");
}

async fn ran(mut command: Command) -> Result<CommandOutput> {
    Ok(ran_of(command.output().await.context("could not run the binary")?))
}

fn ran_of(output: std::process::Output) -> CommandOutput {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    CommandOutput {
        code: output.status.code(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// A server in the foreground. It is killed when this value is dropped.
#[derive(Debug)]
pub struct Server {
    /// Where it listens
    pub url: String,
    child: Child,
    /// Kept open: a server that cannot write would fail for the wrong reason
    lines: Lines<BufReader<ChildStdout>>,
}

impl Server {
    /// Its process.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Kills it in the middle of whatever it does.
    pub async fn kill(mut self) -> Result<()> {
        Ok(self.child.kill().await?)
    }

    /// Asks it to end as Ctrl-C or a service manager does, and returns its exit code.
    pub async fn stop(mut self) -> Result<Option<i32>> {
        host::process::terminate(self.pid().context("it has ended already")?)?;
        Ok(self.ended().await?.code())
    }

    /// Waits until it ends by itself.
    pub async fn ended(&mut self) -> Result<std::process::ExitStatus> {
        while self.lines.next_line().await?.is_some() {}
        Ok(self.child.wait().await?)
    }
}

/// A client of a server, with a token.
#[derive(Debug, Clone)]
pub struct Http {
    pool: Client<HttpConnector, Full<Bytes>>,
    url: String,
    token: String,
}

impl Http {
    /// A client of the server at `url`.
    pub fn new(url: impl Into<String>, token: impl Into<String>) -> Self {
        let pool = Client::builder(TokioExecutor::new()).build_http();
        Self { pool, url: url.into(), token: token.into() }
    }

    /// The same connections under another token.
    #[must_use]
    pub fn with_token(&self, token: impl Into<String>) -> Self {
        Self { token: token.into(), ..self.clone() }
    }

    /// Asks for a document. What is not JSON comes as a string.
    pub async fn get(&self, path: &str) -> Result<(StatusCode, Value)> {
        self.send(Method::GET, path, Bytes::new(), &[]).await
    }

    /// Sends a document.
    pub async fn post(&self, path: &str, body: &Value) -> Result<(StatusCode, Value)> {
        self.post_with(path, body, &[]).await
    }

    /// Sends a document with more headers.
    pub async fn post_with(
        &self,
        path: &str,
        body: &Value,
        headers: &[(&str, &str)],
    ) -> Result<(StatusCode, Value)> {
        self.send(Method::POST, path, body.to_string().into(), headers).await
    }

    /// Calls a tool by its canonical name; a failed one gives the body of its error.
    pub async fn call(
        &self,
        tool: &str,
        input: Value,
    ) -> Result<std::result::Result<Value, Value>> {
        let body = json!({ "toolName": tool, "input": input });
        let (_, mut answer) = self.post("/mcp/execute", &body).await?;
        match answer["success"].as_bool() {
            Some(true) => Ok(Ok(answer["data"].take())),
            Some(false) => Ok(Err(answer["error"].take())),
            None => bail!("no answer of a tool: {answer}"),
        }
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
        headers: &[(&str, &str)],
    ) -> Result<(StatusCode, Value)> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token))
            .header(header::CONTENT_TYPE, "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(body))?;
        let response = self.pool.request(request).await?;
        let status = response.status();
        let bytes = response.into_body().collect().await?.to_bytes();
        let value = serde_json::from_slice(&bytes)
            .unwrap_or_else(|_| Value::from(String::from_utf8_lossy(&bytes).into_owned()));
        Ok((status, value))
    }
}
