//! Every figure of the table: which server, which face, which tool, how many clients.

use anyhow::Result;
use serde_json::{Value, json};

use crate::Scale;
use crate::echo::Echo;
use crate::load::{self, Rate, StopCondition};
use crate::report::say;
use crate::subject::{Agent, ServerUnderTest, TASKS_PER_PAGE};
use crate::wire::{Call, Endpoint, Template};

/// What was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// A baseline
    Echo(Echo),
    /// The server on an empty store
    Empty,
    /// The server on a full store
    Full,
}

impl Target {
    /// Its name for people.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Echo(echo) => echo.name(),
            Self::Empty => "empty store",
            Self::Full => "full store",
        }
    }
}

/// One figure.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    /// Who was asked
    pub(crate) place: Target,
    /// Over which face
    pub(crate) face: Endpoint,
    /// For which tool
    pub(crate) tool: &'static str,
    /// By how many at once
    pub(crate) clients: usize,
    /// How fast it was
    pub(crate) rate: Rate,
}

/// The tool of the baselines.
pub(crate) const ECHO: &str = "echo";
/// A read that asks for next to nothing.
pub(crate) const STATUS: &str = "agent_get_status";
/// A read of a page.
pub(crate) const LIST: &str = "task_list";
/// A durable write of nothing but its event and its row.
pub(crate) const DECIDE: &str = "system_log_decision";
/// A durable write with a row of its own.
pub(crate) const SEND: &str = "mail_send";

/// The tools that are measured.
pub(crate) const TOOLS: [&str; 4] = [STATUS, LIST, DECIDE, SEND];

fn call(tool: &'static str, to: &Agent) -> Call {
    let text = "We use the smaller parser, because the larger one is slow where it matters to us.";
    let (canonical, input): (_, Value) = match tool {
        STATUS => ("mcp__agent__get_status", json!({})),
        LIST => ("mcp__task__list", json!({ "limit": TASKS_PER_PAGE })),
        DECIDE => {
            ("mcp__system__log_decision", json!({ "title": "The smaller parser", "body": text }))
        }
        SEND => (
            "mcp__mail__send",
            json!({ "toAgentId": to.id, "subject": "The smaller parser", "body": text }),
        ),
        _ => (ECHO, json!({ "text": text })),
    };
    Call { joined: tool, canonical, input, progress: false }
}

/// Every figure of a baseline.
pub(crate) async fn of_echo(echo: Echo, scale: &Scale) -> Result<Vec<Figure>> {
    say(&format!("measuring a bare {}", echo.name()));
    let (_running, address) = echo.start()?;
    let nobody = Agent { id: String::new(), token: "none".into() };
    let template = Template::new(Endpoint::Mcp, &call(ECHO, &nobody), &nobody.token)?;
    let mut cells = Vec::new();
    for &clients in &scale.clients {
        let templates = vec![template.clone(); clients];
        load::run(address, templates.clone(), StopCondition::Time(scale.time / 4)).await?;
        let rate = load::run(address, templates, StopCondition::Time(scale.time)).await?;
        cells.push(Figure {
            place: Target::Echo(echo),
            face: Endpoint::Mcp,
            tool: ECHO,
            clients,
            rate,
        });
    }
    Ok(cells)
}

/// Every figure of the server.
pub(crate) async fn of_subject(
    subject: &ServerUnderTest,
    place: Target,
    scale: &Scale,
) -> Result<Vec<Figure>> {
    let mut cells = Vec::new();
    for tool in TOOLS {
        for face in [Endpoint::Mcp, Endpoint::Execute] {
            say(&format!("measuring {tool} on {} over {}", place.name(), face.path()));
            for &clients in &scale.clients {
                let templates = templates(subject, face, tool, clients)?;
                let warm = StopCondition::Time(scale.time / 4);
                load::run(subject.address(), templates.clone(), warm).await?;
                let until = StopCondition::Time(scale.time);
                let rate = load::run(subject.address(), templates, until).await?;
                cells.push(Figure { place, face, tool, clients, rate });
            }
        }
    }
    Ok(cells)
}

/// Makes so many calls, half of them reads and half of them writes.
pub(crate) async fn calls(subject: &ServerUnderTest, count: u64) -> Result<()> {
    say(&format!("making {count} calls"));
    for tool in [DECIDE, LIST] {
        let templates = templates(subject, Endpoint::Mcp, tool, 16)?;
        load::run(subject.address(), templates, StopCondition::Calls(count / 2)).await?;
    }
    Ok(())
}

fn templates(
    subject: &ServerUnderTest,
    face: Endpoint,
    tool: &'static str,
    clients: usize,
) -> Result<Vec<Template>> {
    let agents = subject.agents();
    let pairs = agents.iter().zip(agents.iter().cycle().skip(1));
    pairs
        .take(clients)
        .map(|(from, to)| Template::new(face, &call(tool, to), &from.token))
        .collect()
}
