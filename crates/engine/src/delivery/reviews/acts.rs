//! The operator's actions on reviews and worktrees.

use model::AgentId;
use model::OutboxJobId;
use serde_json::{Value, json};
use store::Tx;

use crate::call::cx::find_agent;
use crate::core::error::ToolError;
use crate::delivery::outbox;
use crate::delivery::service::Delivery;
use crate::delivery::worktree_setup::live_directories;

/// Refuses what is only for an agent that has not ended.
fn not_ended(tx: &Tx<'_>, id: AgentId, instead: &str) -> Result<(), ToolError> {
    if find_agent(tx, id)?.ended_at().is_none() {
        return Ok(());
    }
    Err(ToolError::wrong_state(format!("agent `{id}` has ended")).hint(instead))
}

impl Delivery {
    /// Allows an agent more reviews than usual, and gives how many there are left.
    pub async fn review_allow_more(&self, coder: AgentId, more: u32) -> Result<Value, ToolError> {
        if !(1..=100).contains(&more) {
            return Err(ToolError::invalid(format!("{more} is not from 1 to 100")));
        }
        let (engine, settings) = (self.clone(), self.settings());
        self.store
            .write(move |tx| {
                not_ended(tx, coder, "`adjutant resume` continues its work as a new agent")?;
                tx.review_allow(coder, more)?;
                let (iterations, _, limits) = super::history(tx, &settings, coder)?;
                let max = limits.max_iterations + limits.more;
                let output = json!({
                    "agentId": coder, "iterations": iterations, "maxIterations": max,
                    "left": max.saturating_sub(iterations),
                });
                let input = json!({ "agentId": coder, "more": more }).to_string();
                let row = engine.operator_row("operator__allow_more", Some(coder), input, &output);
                tx.audit_append(&row)?;
                Ok(output)
            })
            .await
    }

    /// Gives an agent's work up. What it committed stays on its branch, and the rest on a rescue branch.
    pub async fn review_abandon(&self, coder: AgentId, reason: &str) -> Result<Value, ToolError> {
        let (engine, settings, clock) = (self.clone(), self.settings(), self.clone());
        let reason = reason.to_owned();
        self.store
            .write(move |tx| {
                not_ended(tx, coder, "`adjutant worktrees prune` removes its worktree")?;
                super::abandon(tx, &settings, coder, &reason, clock.now())?;
                let worktree = tx.worktree_of(coder)?;
                let output = json!({
                    "agentId": coder, "reason": reason,
                    "branch": worktree.map(|worktree| worktree.branch),
                });
                let input = json!({ "agentId": coder, "reason": reason }).to_string();
                let row = engine.operator_row("operator__abandon", Some(coder), input, &output);
                tx.audit_append(&row)?;
                Ok(output)
            })
            .await
    }

    /// Has the worktree of an agent that has ended taken away, once what is in it is safe.
    pub async fn worktree_prune(&self, agent: AgentId) -> Result<OutboxJobId, ToolError> {
        let engine = self.clone();
        self.store
            .write(move |tx| {
                let now = engine.now();
                let found = find_agent(tx, agent)?;
                if found.ended_at().is_none() {
                    return Err(occupied(agent));
                }
                let Some(worktree) = tx.worktree_of(agent)? else {
                    return Err(ToolError::not_found(format!("agent `{agent}` has no worktree")));
                };
                let live = live_directories(tx, &engine.settings(), &engine.options.project)?;
                let mut guests = live.iter().filter(|(_, dir)| dir.starts_with(&worktree.path));
                if let Some((guest, _)) = guests.next() {
                    return Err(occupied(*guest));
                }
                tx.worktree_unwanted(agent)?;
                let job = outbox::send_tidy(tx, agent, now)?;
                let (input, output) =
                    (json!({ "agentId": agent }).to_string(), json!({ "errandId": job }));
                let row = engine.operator_row("operator__prune", Some(agent), input, &output);
                tx.audit_append(&row)?;
                Ok(job)
            })
            .await
    }
}

/// Says that a live agent works in a worktree, which therefore stays.
pub(crate) fn occupied(agent: AgentId) -> ToolError {
    ToolError::wrong_state(format!("agent `{agent}` works in it"))
        .hint("end it first: `adjutant kill`, or `adjutant review abandon`")
}
