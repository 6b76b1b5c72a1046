//! Finds agents by id, by its beginning or end, or as the last one.

use engine::store::{Agent, AgentPage, StoreError, Tx};
use engine::{Code, ToolError};
use model::AgentId;

/// The agent that was started last.
pub(in crate::api) const LAST: &str = "last";
/// Fewer digits than this name nobody.
const FEWEST: usize = 4;
/// Agents read at once.
const AT_ONCE: u32 = 1000;
/// Matches listed for an ambiguous name.
const MOST_TOLD: usize = 5;

/// The agent of that name. It looks long where the name is not a whole id.
pub(in crate::api) fn find(tx: &Tx<'_>, name: &str) -> Result<Agent, ToolError> {
    if let Ok(id) = name.parse::<AgentId>() {
        return tx.agent_get(id)?.ok_or_else(|| nobody(name));
    }
    if name == LAST {
        return last(tx)?.ok_or_else(|| {
            ToolError::new(Code::AgentNotFound, "no agent was started yet")
                .hint("start one with `adjutant run`")
        });
    }
    let digits = name.strip_prefix(AgentId::PREFIX).unwrap_or(name).to_ascii_lowercase();
    let is_part = (FEWEST..=16).contains(&digits.len())
        && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if !is_part {
        let shown: String = name.chars().take(80).collect();
        let error = ToolError::invalid(format!("`{shown}` names no agent"));
        let advice = "give an id, four or more digits of its beginning or its end, or `last`";
        return Err(error.hint(advice).detail("field", "id"));
    }
    let mut found = fitting(tx, &digits)?;
    match (found.pop(), found.is_empty()) {
        (None, _) => Err(nobody(name)),
        (Some(only), true) => Ok(only),
        (Some(newest), false) => {
            let several = found.len() + 1;
            let error = ToolError::invalid(format!("`{name}` fits {several} agents"));
            let newest_first = std::iter::once(&newest).chain(found.iter().rev());
            Err(newest_first.take(MOST_TOLD).fold(error.detail("field", "id"), |error, agent| {
                error.hint(format!("{} ({}, {})", agent.id, agent.role, agent.state.name()))
            }))
        }
    }
}

fn nobody(name: &str) -> ToolError {
    ToolError::new(Code::AgentNotFound, format!("there is no agent `{name}`"))
        .hint("`adjutant ps --all` lists them")
}

/// The newest agent that Adjutant runs itself.
fn last(tx: &Tx<'_>) -> Result<Option<Agent>, StoreError> {
    let ended = tx.agents_ended(AT_ONCE)?.into_iter().find(|agent| agent.kind != "enlisted");
    Ok(tx.agents_run()?.into_iter().chain(ended).max_by_key(|agent| agent.number))
}

/// Every agent whose id begins or ends with these digits, oldest first. Ids begin with the time, so
/// that it is mostly the end that tells them apart.
fn fitting(tx: &Tx<'_>, digits: &str) -> Result<Vec<Agent>, StoreError> {
    let begins = format!("{}{digits}", AgentId::PREFIX);
    let (mut found, mut after) = (Vec::new(), 0);
    loop {
        let page = tx.agent_page(AgentPage::All, after, AT_ONCE)?;
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
