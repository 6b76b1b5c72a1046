//! Finds agents by id, by its beginning or end, or as the last one.

use model::{AgentId, TaskRef};
use store::{Agent, AgentPage, StoreError, Tx};

use crate::core::error::{Code, ToolError};
use crate::delivery::reviews::view::ReviewSelection;
use crate::views::service::Views;

/// An agent that Adjutant runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunAgent {
    /// Its id
    pub id: AgentId,
    /// Number of its present attempt
    pub attempt: u32,
    /// Its role
    pub role: String,
    /// Its kind
    pub kind: String,
    /// Where it works; `None` is the project
    pub cwd: Option<String>,
}

/// Name of the agent that was started last.
const LAST: &str = "last";
/// Minimum number of digits of a part of an id.
const MIN_DIGITS: usize = 4;
/// Agents read at once.
const PAGE_SIZE: u32 = 1000;
/// Matches listed for an ambiguous name.
const MAX_MATCHES_LISTED: usize = 5;

/// The agent of that name. It looks long where the name is not a whole id.
pub(in crate::views) fn find(tx: &Tx<'_>, name: &str) -> Result<Agent, ToolError> {
    if let Ok(id) = name.parse::<AgentId>() {
        return get(tx, id);
    }
    if name == LAST {
        return last(tx)?.ok_or_else(|| {
            ToolError::new(Code::AgentNotFound, "no agent was started yet")
                .hint("start one with `adjutant run`")
        });
    }
    let digits = name.strip_prefix(AgentId::PREFIX).unwrap_or(name).to_ascii_lowercase();
    let is_part = (MIN_DIGITS..=16).contains(&digits.len())
        && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if !is_part {
        let shown: String = name.chars().take(80).collect();
        let error = ToolError::invalid(format!("`{shown}` is not an agent"));
        let advice = "pass an id, at least four digits of its beginning or its end, or `last`";
        return Err(error.hint(advice).detail("field", "id"));
    }
    let mut found = fitting(tx, &digits)?;
    match (found.pop(), found.is_empty()) {
        (None, _) => Err(nobody(name)),
        (Some(only), true) => Ok(only),
        (Some(newest), false) => {
            let several = found.len() + 1;
            let error = ToolError::invalid(format!("`{name}` matches {several} agents"));
            let newest_first = std::iter::once(&newest).chain(found.iter().rev());
            Err(newest_first.take(MAX_MATCHES_LISTED).fold(
                error.detail("field", "id"),
                |error, agent| {
                    error.hint(format!("{} ({}, {})", agent.id, agent.role, agent.state.name()))
                },
            ))
        }
    }
}

fn nobody(name: &str) -> ToolError {
    ToolError::new(Code::AgentNotFound, format!("there is no agent `{name}`"))
        .hint("`adjutant ps --all` lists them")
}

/// The newest agent that Adjutant runs itself.
fn last(tx: &Tx<'_>) -> Result<Option<Agent>, StoreError> {
    let ended = tx.agents_ended(PAGE_SIZE)?.into_iter().find(|agent| agent.kind != "enlisted");
    Ok(tx.agents_run()?.into_iter().chain(ended).max_by_key(|agent| agent.number))
}

/// Every agent whose id begins or ends with these digits, oldest first. Ids begin with the time, so
/// that it is mostly the end that tells them apart.
fn fitting(tx: &Tx<'_>, digits: &str) -> Result<Vec<Agent>, StoreError> {
    let begins = format!("{}{digits}", AgentId::PREFIX);
    let (mut found, mut after) = (Vec::new(), 0);
    loop {
        let page = tx.agent_page(AgentPage::All, after, PAGE_SIZE)?;
        found.extend(page.items.into_iter().filter(|agent| {
            let id = agent.id.to_string();
            id.starts_with(&begins) || id.ends_with(digits)
        }));
        match page.next {
            Some(next) => after = next,
            None => return Ok(found),
        }
    }
}

/// The agent or the task that a name means. What could be both is an agent.
fn subject(tx: &Tx<'_>, name: &str) -> Result<ReviewSelection, ToolError> {
    let found = find(tx, name);
    if let Ok(task) = name.parse::<TaskRef>()
        && found.is_err()
        && tx.task_find(&task)?.is_some()
    {
        return Ok(ReviewSelection::Task(task));
    }
    let error = match found {
        Ok(agent) => return Ok(ReviewSelection::Agent(agent.id)),
        Err(error) => error,
    };
    let is_id = name.starts_with(AgentId::PREFIX) || name == LAST;
    match name.parse::<TaskRef>() {
        // The engine names the nearest one.
        Ok(task) if !is_id => Ok(ReviewSelection::Task(task)),
        _ => Err(error),
    }
}

/// The agent of an id, or an error that says how to list them.
pub(in crate::views) fn get(tx: &Tx<'_>, id: AgentId) -> Result<Agent, ToolError> {
    tx.agent_get(id)?.ok_or_else(|| nobody(&id.to_string()))
}

impl Views {
    /// Checks that there is an agent of that id.
    pub fn check_agent(&self, id: AgentId) -> Result<(), ToolError> {
        self.store.read(|tx| get(tx, id).map(drop))
    }

    /// An agent that Adjutant runs itself. Nobody else's can be read or typed to.
    pub fn run_agent(&self, id: AgentId) -> Result<RunAgent, ToolError> {
        let agent = self.store.read(|tx| get(tx, id))?;
        if agent.kind == "enlisted" {
            let message = format!("agent `{id}` is not run by Adjutant");
            return Err(ToolError::wrong_state(message).hint("`adjutant mail send` reaches it"));
        }
        let Agent { attempt, role, kind, cwd, .. } = agent;
        Ok(RunAgent { id, attempt, role, kind, cwd })
    }

    /// The newest live enlisted agent.
    pub fn last_enlisted(&self) -> Result<AgentId, ToolError> {
        let live = self.store.read(|tx| tx.crew_live())?;
        let newest = live.iter().rev().find(|agent| !agent.ours);
        newest.map(|agent| agent.id).ok_or_else(|| {
            ToolError::new(Code::AgentNotFound, "no enlisted agent is live").hint(
                "`adjutant ps` lists live agents; `adjutant kill` ends those that Adjutant runs",
            )
        })
    }

    /// The agent that a name means: an id, the beginning or the end of one, or `last`.
    pub async fn agent_named(&self, name: String) -> Result<AgentId, ToolError> {
        self.store.scan(move |tx| Ok(find(tx, &name)?.id)).await
    }

    /// The agent or the task whose reviews a name means.
    pub async fn review_subject(&self, name: String) -> Result<ReviewSelection, ToolError> {
        self.store.scan(move |tx| subject(tx, &name)).await
    }
}
