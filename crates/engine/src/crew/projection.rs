//! The record as mirror files and resources: live agents, and the log of runs.

use std::fmt::Write as _;

use model::agent::AgentState;
use model::event::EventKind;
use model::{AgentId, TaskRef, Timestamp};
use serde_json::{Value, json};
use store::{Agent, AgentPage, Event, EventFilter, Task, Tx};
use wire::event::{AgentFinished, EventData};

use crate::core::error::ToolError;
use crate::core::redact::redact;
use crate::crew::result::AgentResult;

/// Decides whether a reader may be shown what became of an agent.
pub(crate) type IsShown<'a> = &'a dyn Fn(AgentId) -> Result<bool, ToolError>;

/// Finished runs shown beside the live ones.
const RECENT: u32 = 10;
/// More agents at work than this are counted, not listed.
const LISTED: u32 = 200;

/// `CONTEXT.md`: who is at work, and the last runs.
///
/// Everybody at work is listed, as `list_agents` does; of the runs that ended, those that the reader may
/// be shown.
pub(crate) fn context_page(
    tx: &Tx<'_>,
    now: Timestamp,
    is_shown: IsShown<'_>,
) -> Result<String, ToolError> {
    let mut text = format!(
        "# Agent Context\n\nLast Updated: {now}\n\n## Active Agents\n\n| ID | Agent | Task | Started |\n|---|---|---|---|\n"
    );
    let live = tx.agent_page(AgentPage::Live, 0, LISTED)?;
    if live.items.is_empty() {
        text.push_str("| - | No active agents | - | - |\n");
    }
    for agent in &live.items {
        let task = task_label(tx, agent)?;
        // Writing to a String cannot fail.
        _ = writeln!(
            text,
            "| {} | {} | {task} | {} |",
            agent.id,
            cell(&agent.role),
            agent.created_at
        );
    }
    if live.next.is_some() {
        _ = writeln!(text, "\n{} agents are active in all.", tx.agents_live_count()?);
    }
    text.push_str(
        "\n## Recent Runs\n\n| Time | Agent | Task | Duration | Result |\n|---|---|---|---|---|\n",
    );
    for agent in tx.agents_ended(RECENT)? {
        if !is_shown(agent.id)? {
            continue;
        }
        let (AgentState::Ended { outcome, at, .. }, task) = (&agent.state, task_label(tx, &agent)?)
        else {
            continue;
        };
        let seconds = at.millis_since(agent.created_at) / 1000;
        let result = outcome.state();
        _ = writeln!(text, "| {at} | {} | {task} | {seconds} s | {result} |", cell(&agent.role));
    }
    Ok(text)
}

fn task_name(tx: &Tx<'_>, agent: &Agent) -> Result<String, ToolError> {
    let task = match agent.task {
        Some(id) => tx.task_find(&TaskRef::Id(id))?,
        None => None,
    };
    Ok(task.map_or_else(|| "-".to_owned(), |task| cell(&task.slug)))
}

/// The task of an agent and the summary that its spawner gave, as a cell of a table.
fn task_label(tx: &Tx<'_>, agent: &Agent) -> Result<String, ToolError> {
    let name = task_name(tx, agent)?;
    let run = tx.run_get(agent.id)?.filter(|run| !run.summary.is_empty());
    Ok(run.map_or(name.clone(), |run| format!("{name}: {}", cell(&run.summary))))
}

/// Keeps a table's rows whole.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}

/// Head of `IAC.md`.
pub(crate) const IAC_HEAD: &str = "# Inter-Agent Communication Log\n";

/// One entry of `IAC.md`, if the event makes one. `day` is the day of the entry before.
pub(crate) fn iac_entry(
    tx: &Tx<'_>,
    event: &Event,
    day: &mut String,
) -> Result<Option<String>, ToolError> {
    if !matches!(event.kind, EventKind::AgentStarted | EventKind::AgentFinished) {
        return Ok(None);
    }
    let finished = match event.decode() {
        Some(EventData::AgentStarted(_)) => None,
        Some(EventData::AgentFinished(finished)) => Some(finished),
        _ => return Ok(None),
    };
    let Some(agent) = event.agent.map(|id| tx.agent_get(id)).transpose()?.flatten() else {
        return Ok(None);
    };
    let mut text = String::new();
    let today = event.at.date();
    if *day != today {
        // Writing to a String cannot fail.
        _ = write!(text, "\n## {today}\n");
        *day = today;
    }
    let what = if finished.is_some() { "COMPLETED" } else { "STARTED" };
    _ = write!(
        text,
        "\n### [{}] Spawn #{} - {what}\n\n- **Agent:** {} ({})\n- **Task:** {}\n",
        event.at.time_of_day(),
        agent.id,
        cell(&agent.role),
        agent.kind,
        task_name(tx, &agent)?
    );
    let run = tx.run_get(agent.id)?;
    if let Some(run) = run.as_ref().filter(|run| !run.summary.is_empty()) {
        _ = writeln!(text, "- **Task Summary:** {}", cell(&run.summary));
    }
    if let Some(AgentFinished { state, reason, totals }) = finished {
        let status = match state {
            model::AgentStateName::Succeeded => "SUCCESS".to_owned(),
            other => format!("FAILED: {other} {}", cell(&reason)),
        };
        let started = run.as_ref().and_then(|run| run.started_at).unwrap_or(agent.created_at);
        let seconds = event.at.millis_since(started) / 1000;
        let cost = run.as_ref().and_then(|run| run.cost);
        let cost = cost.map_or_else(|| "unknown".to_owned(), |cost| cost.to_string());
        let summary = totals.map_or(reason, |totals| totals.summary);
        _ = write!(
            text,
            "- **Status:** {status}\n- **Duration:** {seconds} s\n- **Cost:** {cost}\n\
             - **Result Summary:** {}\n\n---\n",
            cell(&summary.chars().take(200).collect::<String>())
        );
    } else {
        if let Some(run) = &run {
            let preview: String = run.prompt.chars().take(500).collect();
            _ = writeln!(text, "- **Prompt Preview:** {}", cell(&redact(preview)));
        }
        text.push_str("- **Status:** Running...\n");
    }
    Ok(Some(text))
}

/// The newest part of the log of runs, of those that the reader may be shown.
pub(crate) fn iac_log(tx: &Tx<'_>, is_shown: IsShown<'_>) -> Result<String, ToolError> {
    let mut events = Vec::new();
    for kind in [EventKind::AgentStarted, EventKind::AgentFinished] {
        events.extend(tx.event_list_newest(kind, 100)?);
    }
    events.sort_by_key(|event| event.number);
    let (mut text, mut day) = (IAC_HEAD.to_owned(), String::new());
    for event in &events {
        if let Some(agent) = event.agent
            && is_shown(agent)?
        {
            text.extend(iac_entry(tx, event, &mut day)?);
        }
    }
    Ok(text)
}

/// The whole log of runs, and the number of the last event it tells of.
pub(crate) fn iac_whole(tx: &Tx<'_>, until: i64) -> Result<(String, String), ToolError> {
    let (mut text, mut day) = (IAC_HEAD.to_owned(), String::new());
    let mut after = 0;
    loop {
        let page = tx.event_list(&EventFilter { after, kind: None }, 1000)?;
        for event in page.iter().filter(|event| event.number <= until) {
            text.extend(iac_entry(tx, event, &mut day)?);
        }
        match page.last() {
            Some(last) if last.number < until => after = last.number,
            _ => return Ok((text, day)),
        }
    }
}

/// `tasks/<slug>/task.json`.
pub(crate) fn task_file(tx: &Tx<'_>, task: &Task) -> Result<Value, ToolError> {
    let dispatches: Vec<Value> = tx
        .dispatch_list(task.number)?
        .into_iter()
        .map(|dispatch| {
            let result = AgentResult::of_work(dispatch.result.as_deref());
            json!({
                "agentId": dispatch.agent, "role": dispatch.role,
                "startedAt": dispatch.started_at, "completedAt": dispatch.ended_at,
                "status": dispatch.status, "result": result,
            })
        })
        .collect();
    Ok(json!({
        "slug": task.slug, "id": task.id, "number": format!("TAS-{}", task.number),
        "created": task.created_at, "state": task.state.name(),
        "description": task.description.as_ref().unwrap_or(&task.title),
        "dispatches": dispatches,
    }))
}

/// One agent, as a resource shows it.
pub(crate) fn agent_file(tx: &Tx<'_>, id: AgentId) -> Result<Value, ToolError> {
    let agent = crate::call::cx::find_agent(tx, id)?;
    let reason = match &agent.state {
        AgentState::Ended { reason, .. } => Some(reason.clone()),
        _ => None,
    };
    Ok(json!({
        "id": agent.id, "role": agent.role, "category": agent.category, "kind": agent.kind,
        "state": agent.state.name(), "reason": reason, "parentId": agent.parent, "depth": agent.depth,
        "task": task_name(tx, &agent)?, "epicId": agent.epic, "startedAt": agent.created_at,
        "finishedAt": agent.ended_at(), "lastActiveAt": agent.last_active_at,
    }))
}
