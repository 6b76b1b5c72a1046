//! The crew as people look at it: a tree that unfolds, flat lists, and the frame around every page.

mod lanes;
mod live;
mod needs;
mod overview;
mod row;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use model::AgentId;
use store::{Agent, CrewPageOrder, CrewStateFilter, Page, Tx};
use wire::crew::{Crew, CrewRows, RoleSummary, Roles};

use crate::call::cx::find_agent;
use crate::core::error::ToolError;
use crate::views::service::Views;
use live::Live;
pub(crate) use live::Memo;
pub use overview::About;
use row::Look;

/// Age after which an ended agent without live descendants counts as past.
const PAST_MS: i64 = 10 * 60 * 1000;

/// Treatment of past agents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PastAgents {
    /// List them with the others
    #[default]
    Include,
    /// Leave them out and say how many there are
    Leave,
    /// List only them, newest first
    Only,
}

/// States that a flat list is limited to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CrewStates {
    /// Any
    #[default]
    Any,
    /// At work
    Running,
    /// Waiting for an answer, a review or its model
    Waiting,
    /// Waiting for a place
    Queued,
    /// Ended
    Ended,
}

impl From<CrewStates> for CrewStateFilter {
    fn from(states: CrewStates) -> Self {
        match states {
            CrewStates::Any => Self::Any,
            CrewStates::Running => Self::Running,
            CrewStates::Waiting => Self::Waiting,
            CrewStates::Queued => Self::Queued,
            CrewStates::Ended => Self::Ended,
        }
    }
}

/// Page of agents to list.
#[derive(Debug, Clone)]
pub struct CrewRequest {
    /// Those that this agent started; nobody is the operator
    pub parent: Option<AgentId>,
    /// Instead of a level of the tree: all who stand so
    pub states: CrewStates,
    /// Instead of a level of the tree: all whose role, id or task has this in it
    pub text: Option<String>,
    /// Treatment of past agents, in the tree
    pub past: PastAgents,
    /// Only those after this cursor; 0 is from the start
    pub after: i64,
    /// At most so many
    pub limit: u32,
    /// Length of their lanes in seconds; `None` for no lanes
    pub window: Option<u32>,
}

impl Views {
    /// A page of the crew.
    pub async fn crew(&self, request: CrewRequest) -> Result<Crew, ToolError> {
        let engine = self.clone();
        self.store
            .scan(move |tx| {
                let look = Look::new(&engine, tx, request.window)?;
                let (page, past) = level(&look, &request)?;
                let rows = page.items.into_iter().map(|agent| look.row(agent));
                let rows = rows.collect::<Result<_, ToolError>>()?;
                Ok(Crew { rows, past, next_cursor: page.next })
            })
            .await
    }

    /// Some agents, to renew what is shown of them. Those that there are not are left out.
    pub async fn crew_rows(
        &self,
        ids: Vec<AgentId>,
        window: Option<u32>,
    ) -> Result<CrewRows, ToolError> {
        let engine = self.clone();
        self.store
            .scan(move |tx| {
                let look = Look::new(&engine, tx, window)?;
                let mut rows = Vec::new();
                for id in ids {
                    if let Some(agent) = tx.agent_get(id)? {
                        rows.push(look.row(agent)?);
                    }
                }
                Ok(CrewRows { rows })
            })
            .await
    }

    /// The roles that agents can be started in.
    pub fn roles(&self) -> Roles {
        let settings = self.settings();
        let view = |role: &crate::core::settings::Role| RoleSummary {
            name: role.name.clone(),
            display_name: role.display_name.clone(),
            description: role.description.clone(),
            category: role.category.clone(),
            kind: role.kind.clone().unwrap_or_else(|| settings.default_kind.clone()),
            model: role.model.clone().or_else(|| {
                let models = &settings.models;
                models.overrides.get(&role.category).or(models.default.as_ref()).cloned()
            }),
        };
        Roles { roles: settings.roles.values().map(view).collect() }
    }
}

/// The agents that are asked for, and how many of their like were left out.
fn level(look: &Look<'_>, request: &CrewRequest) -> Result<(Page<Agent>, i64), ToolError> {
    let &CrewRequest { after, limit, states, .. } = request;
    let tx = look.tx;
    if let Some(text) = request.text.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
        let before = if after == 0 { i64::MAX } else { after };
        return Ok((tx.crew_search(text, states.into(), before, limit)?, 0));
    }
    let flat = match states {
        CrewStates::Any => return branch(look, request),
        CrewStates::Running | CrewStates::Waiting => {
            tx.crew_in_state(states.into(), after, limit)?
        }
        CrewStates::Queued => queue(look, after, limit)?,
        CrewStates::Ended => tx.crew_ended(after, limit)?,
    };
    Ok((flat, 0))
}

/// Those who wait for a place, in the order in which they get one.
fn queue(look: &Look<'_>, after: i64, limit: u32) -> Result<Page<Agent>, ToolError> {
    let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut items: Vec<Agent> = Vec::new();
    let mut places = look.queue.iter();
    if after != 0 {
        // An agent that was placed meanwhile was before all that were not.
        let seen = |id: &AgentId| {
            Ok::<_, ToolError>(tx_number(look.tx, *id)?.is_some_and(|number| number == after))
        };
        let mut rest = places.clone();
        while let Some(id) = rest.next() {
            if seen(id)? {
                places = rest;
                break;
            }
        }
    }
    let mut more = false;
    for id in places {
        if items.len() == wanted {
            more = true;
            break;
        }
        items.extend(look.tx.agent_get(*id)?);
    }
    let next = if more { items.last().map(|agent| agent.number) } else { None };
    Ok(Page { items, next })
}

fn tx_number(tx: &Tx<'_>, id: AgentId) -> Result<Option<i64>, ToolError> {
    Ok(tx.agent_get(id)?.map(|agent| agent.number))
}

/// Those whom an agent or the operator started.
fn branch(look: &Look<'_>, request: &CrewRequest) -> Result<(Page<Agent>, i64), ToolError> {
    let &CrewRequest { parent, past, after, limit, .. } = request;
    let tx = look.tx;
    if let Some(parent) = parent {
        find_agent(tx, parent)?;
    }
    let until = look.now.after_millis(-PAST_MS);
    let live = &look.live;
    let is_past =
        |agent: &Agent| agent.ended_at().is_some_and(|at| at <= until) && live.below(agent.id) == 0;
    if past == PastAgents::Only {
        let order = CrewPageOrder::NewestBefore(if after == 0 { i64::MAX } else { after });
        return Ok((tx.crew_started_by(parent, order, limit, is_past)?, 0));
    }
    if past == PastAgents::Include {
        let order = CrewPageOrder::OldestAfter(after);
        return Ok((tx.crew_started_by(parent, order, limit, |_| true)?, 0));
    }
    let page = match parent {
        Some(_) => {
            let order = CrewPageOrder::OldestAfter(after);
            tx.crew_started_by(parent, order, limit, |agent| !is_past(agent))?
        }
        None => roots(tx, live, until, after, limit)?,
    };
    let kept_by_others = live.ended_above(tx, parent)?;
    let ended = tx.crew_past_count(parent, until)?;
    let with_live =
        kept_by_others.iter().filter(|agent| agent.ended_at().is_some_and(|at| at <= until));
    let with_live = i64::try_from(with_live.count()).unwrap_or(i64::MAX);
    Ok((page, ended.saturating_sub(with_live)))
}

/// Those whom the operator started and who are not past. Everybody else whom the operator ever started is
/// left alone: there may be very many.
fn roots(
    tx: &Tx<'_>,
    live: &Live,
    until: model::Timestamp,
    after: i64,
    limit: u32,
) -> Result<Page<Agent>, ToolError> {
    let with_live = live.ended_above(tx, None)?;
    let with_live = with_live.iter().map(|agent| (agent.number, agent.id));
    // Agents that live or have live ones below come first, the oldest first; then who ended, the newest first.
    let mut first: Vec<(i64, AgentId)> = live.roots().chain(with_live).collect();
    first.sort_unstable();
    first.dedup();
    let ended = tx.crew_roots_ended_after(until)?.into_iter();
    let known: HashSet<(i64, AgentId)> = first.iter().copied().collect();
    let ended = ended.map(|agent| (agent.number, agent.id)).filter(|one| !known.contains(one));
    let mut ended: Vec<(i64, AgentId)> = ended.collect();
    ended.sort_unstable_by_key(|(number, _)| std::cmp::Reverse(*number));
    let in_first = first.iter().any(|(number, _)| *number == after);
    if after != 0 && !in_first {
        first.clear();
        ended.retain(|(number, _)| *number < after);
    }
    first.retain(|(number, _)| *number > after);
    let mut numbers = [first, ended].concat();
    let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = numbers.len() > wanted;
    numbers.truncate(wanted);
    let mut items = Vec::new();
    for (_, id) in numbers {
        items.extend(tx.agent_get(id)?);
    }
    let next = if more { items.last().map(|agent| agent.number) } else { None };
    Ok(Page { items, next })
}
