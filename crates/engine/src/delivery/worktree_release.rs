//! Has worktrees looked after that nobody works in or needs any more.

use model::Timestamp;
use model::review::WorktreeState;
use store::{Agent, Tx};

use crate::core::error::ToolError;
use crate::core::settings::Settings;
use crate::delivery::outbox;

/// Releases the worktrees that an agent's end leaves without a live agent in them.
pub(crate) fn settle_worktrees(
    tx: &mut Tx<'_>,
    settings: &Settings,
    agent: &Agent,
    now: Timestamp,
) -> Result<(), ToolError> {
    settle_worktree(tx, agent, now)?;
    settle_worktrees_around(tx, settings, agent, now)
}

/// Has the worktrees looked after in which an agent worked as a guest and whose owners ended before it.
fn settle_worktrees_around(
    tx: &mut Tx<'_>,
    settings: &Settings,
    agent: &Agent,
    now: Timestamp,
) -> Result<(), ToolError> {
    let Some(cwd) = &agent.cwd else { return Ok(()) };
    let cwd = settings.project.join(cwd);
    for worktree in tx.worktrees_around(&cwd.display().to_string())? {
        let owner = tx.agent_get(worktree.agent)?.filter(|owner| owner.id != agent.id);
        if let Some(owner) = owner.filter(|owner| owner.ended_at().is_some()) {
            outbox::send_tidy(tx, owner.id, now)?;
        }
    }
    Ok(())
}

/// Nobody needs an agent's worktree any more: it is taken away as soon as nobody works in it.
pub(crate) fn discard_worktree(
    tx: &mut Tx<'_>,
    agent: &Agent,
    now: Timestamp,
) -> Result<(), ToolError> {
    tx.worktree_unwanted(agent.id)?;
    if agent.ended_at().is_some() { settle_worktree(tx, agent, now) } else { Ok(()) }
}

/// Has the agent's worktree looked after.
fn settle_worktree(tx: &mut Tx<'_>, agent: &Agent, now: Timestamp) -> Result<(), ToolError> {
    let Some(worktree) = tx.worktree_of(agent.id)? else { return Ok(()) };
    if worktree.state == WorktreeState::Gone {
        return Ok(());
    }
    outbox::send_tidy(tx, agent.id, now)?;
    Ok(())
}
