//! The server under test: the real program, on a home in a temporary folder.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use crate::fill::{self, StoreContent};
use crate::program::{self, Program, Running};

/// At most so many clients are measured at once; each is an agent of its own.
pub(crate) const MAX_CLIENTS: usize = 64;
/// So many tasks a list shows; an empty store gets them too, so that answers are equally long.
pub(crate) const TASKS_PER_PAGE: usize = 10;
/// A server that is not up after this is stuck.
const TIMEOUT: Duration = Duration::from_secs(60);

/// An agent that was enlisted.
#[derive(Debug, Clone)]
pub(crate) struct Agent {
    /// Its id
    pub(crate) id: String,
    /// Its token
    pub(crate) token: String,
}

/// The server and its home.
#[derive(Debug)]
pub(crate) struct ServerUnderTest {
    program: Program,
    server: Running,
    address: SocketAddr,
    agents: Vec<Agent>,
    /// Last, so that the server ends before its home does
    _folder: TempDir,
}

/// A home in which nobody serves yet.
struct PreparedHome {
    program: Program,
    folder: TempDir,
}

impl PreparedHome {
    /// Makes a home. What stands in its configuration is replaced as the pairs say.
    fn lay(file: &Path, changes: &[(&str, &str)]) -> Result<Self> {
        let folder = tempfile::tempdir().context("no temporary folder")?;
        let project = folder.path().join("project");
        std::fs::create_dir(&project).context("no project")?;
        let mut environment = program::surroundings();
        environment.push(("XDG_STATE_HOME", folder.path().join("state")));
        environment.push(("XDG_DATA_HOME", folder.path().join("data")));
        let program = Program { file: file.to_owned(), folder: project.clone(), environment };
        program.output(&["init"])?;
        configure(&project.join(".adjutant/config.yaml"), changes)?;
        Ok(Self { program, folder })
    }

    fn home(&self) -> PathBuf {
        self.program.folder.join(".adjutant")
    }

    /// Starts the server.
    async fn open(self) -> Result<ServerUnderTest> {
        let Self { program, folder } = self;
        let server = program.start(&["up", "--port", "0"])?;
        let address = wait_until_up(&program, &program.folder).await?;
        Ok(ServerUnderTest { program, server, address, agents: Vec::new(), _folder: folder })
    }
}

impl ServerUnderTest {
    /// Starts the program on a new home, which is filled first, with agents who may call.
    pub(crate) async fn start(file: &Path, filling: Option<&StoreContent>) -> Result<Self> {
        let plot = PreparedHome::lay(file, &[])?;
        if let Some(filling) = filling {
            fill::fill(&plot.home().join("state.db"), filling).await?;
        }
        plot.open().await?.with_agents()
    }

    /// Enlists the agents who may call, and makes the tasks that they list.
    fn with_agents(mut self) -> Result<Self> {
        for _ in 0..MAX_CLIENTS {
            let answer = self.program.output(&["enlist", "--role", "supervisor", "--json"])?;
            let answer: Value = serde_json::from_str(&answer).context("enlist")?;
            let text = |key: &str| answer[key].as_str().map(str::to_owned).context("enlist");
            self.agents.push(Agent { id: text("agentId")?, token: text("token")? });
        }
        for number in 0..TASKS_PER_PAGE {
            let input = serde_json::json!({ "title": format!("Task {number}") }).to_string();
            self.program.output(&["tool", "task_create", "--input", &input])?;
        }
        Ok(self)
    }

    /// Starts the program on a new home in PostgreSQL, with agents who may call.
    pub(crate) async fn shared(file: &Path, database: &str) -> Result<Self> {
        let plot = PreparedHome::lay(file, &[])?;
        plot.program.output(&["home", "create", "bench", "--database", database])?;
        plot.open().await?.with_agents()
    }

    /// Starts the program on a new home, where so many agents may run at once, each a program with its
    /// arguments under the name of a role.
    pub(crate) async fn crew(file: &Path, running: u32, roles: &[(&str, &[&str])]) -> Result<Self> {
        let running = format!("running: {running}");
        let plot = PreparedHome::lay(file, &[("running: 8", &running)])?;
        for (name, command) in roles {
            let command = serde_json::json!(command);
            let text = format!(
                "---\nname: {name}\ncategory: worker\nagent: command\ncommand: {command}\n---\n"
            );
            let file = plot.home().join("roles").join(format!("{name}.md"));
            std::fs::write(file, text).context("could not write a role")?;
        }
        plot.open().await
    }

    /// The operator's token.
    pub(crate) fn operator(&self) -> Result<String> {
        Ok(self.program.output(&["token"])?.trim().to_owned())
    }

    /// The project's folder.
    pub(crate) fn project(&self) -> &Path {
        &self.program.folder
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.server.pid()
    }

    /// Those who may call.
    pub(crate) fn agents(&self) -> &[Agent] {
        &self.agents
    }

    /// The program in its surroundings, for other ways to start it.
    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    /// Ends the server.
    pub(crate) async fn stop(&self) -> Result<()> {
        self.program.output(&["down"])?;
        let home = self.program.folder.join(".adjutant/server.json");
        let began = Instant::now();
        while home.exists() {
            ensure!(began.elapsed() < TIMEOUT, "the server does not end");
            sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    }
}

/// Takes away what would measure something else.
fn configure(file: &Path, changes: &[(&str, &str)]) -> Result<()> {
    let mut text = std::fs::read_to_string(file).context("no config.yaml")?;
    let usual = [
        ("callsPerMinute: 6000", "callsPerMinute: 0"),
        ("mirror: true", "mirror: false"),
        ("logLevel: info", "logLevel: warn"),
    ];
    for &(from, to) in usual.iter().chain(changes) {
        ensure!(text.contains(from), "config.yaml has no `{from}`");
        text = text.replace(from, to);
    }
    std::fs::write(file, text).context("could not write config.yaml")
}

/// The folder of a project's record and run folders, wherever the version that is measured keeps it.
pub(crate) fn state_of(project: &Path) -> PathBuf {
    let inside = std::fs::read_dir(project.join(".git/adjutant"));
    let inside = inside.into_iter().flatten().flatten().map(|entry| entry.path()).next();
    let home = project.join(".adjutant");
    let own = Some(home.join("state")).filter(|state| state.is_dir());
    inside.or(own).unwrap_or(home)
}

async fn wait_until_up(program: &Program, project: &Path) -> Result<SocketAddr> {
    let file: PathBuf = project.join(".adjutant/server.json");
    let began = Instant::now();
    while !(file.exists() && program.output(&["status"]).is_ok()) {
        ensure!(began.elapsed() < TIMEOUT, "the server does not start");
        sleep(Duration::from_millis(10)).await;
    }
    let text = std::fs::read_to_string(&file).context("no server.json")?;
    let server: Value = serde_json::from_str(&text).context("server.json")?;
    let url = server["url"].as_str().unwrap_or_default();
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    address.parse().with_context(|| format!("`{url}` is no address"))
}
