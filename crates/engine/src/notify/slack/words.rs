//! `status`, `kill` and `help`.

use std::fmt::Write as _;

use model::agent::Outcome;
use model::slack::MessageCommand;
use model::{AgentId, TaskRef};
use serde_json::json;
use store::{Agent, AgentPage, SlackThread, StopRequest, Tx};

use super::act::Batch;
use crate::call::cx::find_agent;
use crate::core::error::ToolError;
use crate::crew::run::stop::stop_tree;

/// Agents listed.
const NAMED: u32 = 20;

const HELP: &str = "\
Write to me directly, or mention me in a channel, and I have an agent do what you say. A thread is one task: what you \
write in it goes to the same agent, and its questions and its answer come there.\n\
- `role: text` or `@role text` says who is to do it\n\
- `status` in a thread: how it goes; elsewhere: who is at work\n\
- `kill` in a thread ends its agents; elsewhere `kill ID` ends one\n\
- `help` says this";

/// Does what a word says.
pub(super) fn answer(
    tx: &mut Tx<'_>,
    batch: &Batch<'_>,
    word: MessageCommand,
) -> Result<(), ToolError> {
    let first = &batch.first;
    let thread = tx.slack_thread_at(&first.channel, &first.thread)?;
    let thread = thread.filter(|thread| thread.task.is_some());
    let text = match (word, thread) {
        (MessageCommand::Help, _) => HELP.to_owned(),
        (MessageCommand::Status, Some(thread)) => of_thread(tx, &thread)?,
        (MessageCommand::Status, None) => of_crew(tx)?,
        (MessageCommand::Kill(None), Some(thread)) => {
            let agents = live(tx, &thread)?;
            kill(tx, batch, &agents)?
        }
        (MessageCommand::Kill(None), None) => {
            "This is no thread of mine. Say `kill` in one, or `kill ID` here; `status` names them."
                .to_owned()
        }
        (MessageCommand::Kill(Some(id)), _) => {
            let agent = find_agent(tx, id)?;
            if agent.ended_at().is_some() {
                format!("`{id}` ({}) has ended already: {}.", agent.role, agent.state.name())
            } else {
                kill(tx, batch, &[agent])?
            }
        }
    };
    batch.answer(tx, text)
}

fn line(agent: &Agent) -> String {
    format!("- `{}` {}: {}\n", agent.id, agent.role, agent.state.name())
}

fn of_thread(tx: &Tx<'_>, thread: &SlackThread) -> Result<String, ToolError> {
    let task = thread.task.map(|task| tx.task_find(&TaskRef::Id(task))).transpose()?.flatten();
    let mut text = task.map_or_else(String::new, |task| {
        format!("*{}* (`{}`) is {}.\n", task.title, task.slug, task.state.name().stored())
    });
    let mut agents = Vec::new();
    for order in tx.slack_orders(thread.number)? {
        agents.push(find_agent(tx, order.agent)?);
    }
    let most = usize::try_from(NAMED).unwrap_or(usize::MAX);
    text.extend(agents.iter().take(most).map(line));
    for agent in agents {
        text.extend(tx.agent_descendants(agent.id)?.iter().map(line));
    }
    Ok(text)
}

fn of_crew(tx: &Tx<'_>) -> Result<String, ToolError> {
    let many = tx.agents_live_count()?;
    if many == 0 {
        return Ok("No agent is at work.".to_owned());
    }
    let agents = tx.agent_page(AgentPage::Live, 0, NAMED)?.items;
    let mut text = format!("{many} at work:\n");
    text.extend(agents.iter().map(line));
    if i64::try_from(agents.len()).is_ok_and(|shown| shown < many) {
        text.push('…');
    }
    Ok(text)
}

/// The agents of a thread that have not ended.
fn live(tx: &Tx<'_>, thread: &SlackThread) -> Result<Vec<Agent>, ToolError> {
    let mut agents: Vec<Agent> = Vec::new();
    let orders = tx.slack_orders(thread.number)?;
    let ids: Vec<AgentId> = orders.into_iter().map(|order| order.agent).collect();
    for id in ids {
        agents.push(find_agent(tx, id)?);
    }
    let on_task = thread.task.map(|task| tx.agent_on_task(task)).transpose()?.flatten();
    agents.extend(on_task.filter(|other| !agents.iter().any(|one| one.id == other.id)));
    agents.retain(|agent| agent.ended_at().is_none());
    Ok(agents)
}

fn kill(tx: &mut Tx<'_>, batch: &Batch<'_>, agents: &[Agent]) -> Result<String, ToolError> {
    if agents.is_empty() {
        return Ok("No agent is at work here.".to_owned());
    }
    let user = &batch.first.user;
    let stop =
        StopRequest { outcome: Outcome::Killed, reason: format!("killed from Slack by {user}") };
    let mut text = "I am ending:\n".to_owned();
    for agent in agents {
        stop_tree(tx, batch.settings, agent.id, &stop, batch.now)?;
        // Writing to a String cannot fail.
        _ = writeln!(text, "- `{}` {}", agent.id, agent.role);
        let first = &batch.first;
        let input = json!({
            "source": "slack", "user": user, "channel": first.channel, "thread": first.thread,
            "ts": first.ts, "agentId": agent.id,
        });
        let output = json!({ "stopping": true });
        let row = batch.engine.operator_row(
            "operator__slack_kill",
            Some(agent.id),
            input.to_string(),
            &output,
        );
        tx.audit_append(&row)?;
    }
    Ok(text)
}
