//! Ends enlisted agents when their time is up. Supervisors end the others.

use model::agent::Outcome;
use model::{AgentId, Timestamp};
use store::StopRequest;

use super::place;
use super::stop::stop_tree;
use crate::core::error::ToolError;
use crate::crew::service::Crew;

/// Ends every enlisted agent whose deadline has passed, with all below it, and gives the deadline that comes next.
pub(crate) async fn end_overdue(engine: &Crew) -> Result<Option<Timestamp>, ToolError> {
    let now = engine.now();
    let deadlines = engine.store.read(|tx| {
        let mut deadlines = Vec::new();
        for agent in tx.agents_enlisted()? {
            deadlines.extend(place::enlisted_deadline(tx, &agent)?.map(|at| (agent.id, at)));
        }
        Ok::<_, ToolError>(deadlines)
    })?;
    let next = deadlines.iter().map(|(_, at)| *at).filter(|at| *at > now).min();
    let late: Vec<AgentId> =
        deadlines.into_iter().filter(|(_, at)| *at <= now).map(|(agent, _)| agent).collect();
    if late.is_empty() {
        return Ok(next);
    }
    let (settings, ended) = (engine.settings(), late.clone());
    engine
        .store
        .write(move |tx| {
            for agent in &late {
                let reason = "its budget of time is used up".to_owned();
                let stop = StopRequest { outcome: Outcome::OverBudget, reason };
                stop_tree(tx, &settings, *agent, &stop, now)?;
            }
            Ok::<_, ToolError>(())
        })
        .await?;
    for agent in ended {
        tracing::info!(id = %agent, "enlisted agent ended: its budget of time is used up");
        engine.tokens.forget(agent);
        engine.rates.forget(agent);
    }
    Ok(next)
}
