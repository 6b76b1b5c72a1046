//! A server that runs agents: small programs that print a word, or wait at a gate until it is opened.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::client::Client;
use crate::program;
use crate::subject::{ServerUnderTest, state_of};
use crate::wire::Call;

/// The smallest program that says something.
pub(crate) const ECHO: [&str; 2] = ["/bin/echo", "hi"];
/// The role of those who print a word.
pub(crate) const SPEAKS: &str = "speaks";
/// The role of those who wait at the gate.
pub(crate) const RESTS: &str = "rests";
/// The role of those who stay for a while, wherever they are.
pub(crate) const STAYS: &str = "stays";
/// The role of those who leave a file behind and fail, so that their worktrees stay.
pub(crate) const LEAVES: &str = "leaves";
/// Whatever takes longer is stuck.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The server and who asks it.
#[derive(Debug)]
pub(crate) struct Crew {
    subject: ServerUnderTest,
    token: String,
}

/// A request for an agent.
fn draft(role: &str) -> Call {
    let input = json!({ "role": role, "prompt": "Say a word." });
    let (joined, canonical) = ("draft_agent", "mcp__harness__draft_agent");
    Call { joined, canonical, input, progress: false }
}

/// A request to wait for an agent, as long as a call may.
pub(crate) fn wait(agent: &str) -> Call {
    let input = json!({ "agentId": agent, "waitSeconds": 240 });
    let (joined, canonical) = ("await_agent", "mcp__harness__await_agent");
    Call { joined, canonical, input, progress: true }
}

/// A request for the end of an agent.
pub(crate) fn kill(agent: &str) -> Call {
    let input = json!({ "agentId": agent });
    let (joined, canonical) = ("kill_agent", "mcp__harness__kill_agent");
    Call { joined, canonical, input, progress: false }
}

impl Crew {
    /// Starts a server where so many agents may run at once.
    pub(crate) async fn start(file: &Path, running: u32) -> Result<Self> {
        let roles: [(&str, &[&str]); 4] = [
            (SPEAKS, &ECHO),
            (RESTS, &["cat", "{cwd}/gate"]),
            (STAYS, &["sleep", "5"]),
            (LEAVES, &["sh", "-c", "echo kept > left.txt; exit 1"]),
        ];
        let subject = ServerUnderTest::crew(file, running, &roles).await?;
        program::make_gate(&subject.project().join("gate"))?;
        let token = subject.operator()?;
        Ok(Self { subject, token })
    }

    /// The server.
    pub(crate) fn subject(&self) -> &ServerUnderTest {
        &self.subject
    }

    /// The operator's token.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// A client of its own.
    pub(crate) async fn client(&self) -> Result<Client> {
        Client::new(self.subject.address(), &self.token).await
    }

    /// The file of an agent's first run.
    pub(crate) fn file(&self, agent: &str, name: &str) -> PathBuf {
        state_of(self.subject.project()).join("runs").join(agent).join("1").join(name)
    }

    /// Has so many agents come to rest, and gives their ids.
    pub(crate) async fn rest(&self, count: usize) -> Result<Vec<String>> {
        let mut client = self.client().await?;
        let mut agents = Vec::new();
        for _ in 0..count {
            agents.push(start(&mut client, RESTS).await?);
        }
        let began = Instant::now();
        for agent in &agents {
            while !self.file(agent, "supervisor.json").exists() {
                ensure!(began.elapsed() < TIMEOUT, "agent {agent} does not start");
                sleep(Duration::from_millis(20)).await;
            }
        }
        Ok(agents)
    }

    /// Lets all go who rest, and waits until they are over.
    pub(crate) async fn let_go(&self, agents: &[String]) -> Result<()> {
        self.open_gate()?;
        let mut client = self.client().await?;
        for agent in agents {
            over(&mut client, agent).await?;
        }
        Ok(())
    }

    /// Opens the gate.
    pub(crate) fn open_gate(&self) -> Result<()> {
        program::open_gate(&self.subject.project().join("gate"))
    }

    /// The process that supervises an agent.
    pub(crate) fn supervisor(&self, agent: &str) -> Result<u32> {
        let file = self.file(agent, "supervisor.json");
        let text = std::fs::read_to_string(file).context("no supervisor")?;
        let record: Value = serde_json::from_str(&text).context("supervisor.json")?;
        let pid = record["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok());
        pid.context("a supervisor without a number")
    }
}

/// Starts an agent, and gives its id.
pub(crate) async fn start(client: &mut Client, role: &str) -> Result<String> {
    let answer = client.call(&draft(role)).await?;
    answer["agentId"].as_str().map(str::to_owned).context("no agent")
}

/// Waits for the end of an agent, which must be a good one.
pub(crate) async fn over(client: &mut Client, agent: &str) -> Result<()> {
    let answer = client.call(&wait(agent)).await?;
    ensure!(answer["status"] == "completed", "agent {agent} did not end well: {answer}");
    Ok(())
}
