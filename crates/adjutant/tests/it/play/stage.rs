//! Where scenarios are played, and what is left of a play.

use std::cell::Cell;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Agent, Http, Server, World};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout};

use crate::{BINARY, world};

/// How long a play may take to end.
const SOON: Duration = Duration::from_secs(60);

/// A project in which scenarios are played.
pub(super) struct Stage {
    pub(super) world: World,
    /// The server and the agent, where there are some
    pub(super) server: Option<(Server, Agent)>,
    /// Each play is an attempt of its own, as it would be: what one called is not the other's
    attempts: Cell<u32>,
}

/// What was left of a play.
pub(super) struct PageOutcome {
    pub(super) code: Option<i32>,
    pub(super) lines: Vec<String>,
    pub(super) stderr: String,
}

impl PageOutcome {
    /// The last line.
    pub(super) fn result(&self) -> Value {
        serde_json::from_str(self.lines.last().unwrap()).unwrap()
    }

    /// The summary of one that failed.
    pub(super) fn failure(&self) -> String {
        let result = self.result();
        assert_eq!((self.code, &result["status"]), (Some(1), &json!("failed")), "{:?}", self.lines);
        result["summary"].as_str().unwrap().to_owned()
    }

    /// What it said before its result, if it ended well.
    pub(super) fn said(&self) -> &[String] {
        assert_eq!(self.code, Some(0), "{:?} {}", self.lines, self.stderr);
        let (_, said) = self.lines.split_last().unwrap();
        said
    }
}

impl Stage {
    /// Without a server: most steps need none.
    pub(super) fn bare() -> Self {
        Self { world: World::bare(BINARY).unwrap(), server: None, attempts: Cell::new(0) }
    }

    pub(super) async fn with_server(role: &str) -> Self {
        let world = world().await;
        let server = world.up().await.unwrap();
        let agent = world.enlist(role, &[]).await.unwrap();
        Self { world, server: Some((server, agent)), attempts: Cell::new(0) }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.world.project().join(name)
    }

    pub(super) fn http(&self) -> Http {
        let (server, agent) = self.server.as_ref().unwrap();
        Http::new(&server.url, &agent.token)
    }

    /// Starts a play; the prompt is what stdin has.
    pub(super) async fn start(&self, scenario: &str, prompt: &str) -> Child {
        std::fs::write(self.path("s.yaml"), scenario).unwrap();
        self.attempts.set(self.attempts.get() + 1);
        let mut command = self.world.command(&["play", "s.yaml"]);
        command.env("ADJUTANT_ATTEMPT", self.attempts.get().to_string());
        if let Some((server, agent)) = &self.server {
            command
                .env("ADJUTANT_URL", &server.url)
                .env("ADJUTANT_TOKEN", &agent.token)
                .env("ADJUTANT_AGENT_ID", &agent.id)
                .env("ADJUTANT_TASK", "fix-it");
        }
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(prompt.as_bytes()).await.unwrap();
        child
    }

    pub(super) async fn play(&self, scenario: &str) -> PageOutcome {
        self.play_for(scenario, "").await
    }

    pub(super) async fn play_for(&self, scenario: &str, prompt: &str) -> PageOutcome {
        let child = self.start(scenario, prompt).await;
        let output = child.wait_with_output().await.unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        PageOutcome {
            code: output.status.code(),
            lines: text(output.stdout).lines().map(str::to_owned).collect(),
            stderr: text(output.stderr),
        }
    }
}

/// The lines of a play that is under way.
pub(super) fn lines(child: &mut Child) -> Lines<BufReader<ChildStdout>> {
    BufReader::new(child.stdout.take().unwrap()).lines()
}

pub(super) async fn ended(mut child: Child) -> ExitStatus {
    tokio::time::timeout(SOON, child.wait()).await.unwrap().unwrap()
}
