//! `mcp__orchestrator__list_supervisors`.

use model::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use store::Agent;
use wire::epics::EpicTaskCounts;
use wire::paging::PageCursor;
use wire::supervisors::{HealthStatus, SupervisorRow, Supervisors};

use super::waiting;
use crate::automation::office::Health;
use crate::call::cx::ReadCx;
use crate::call::paging::Limit;
use crate::call::tool::{Probe, Tool};
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::tools::epic::get::epic_task_counts;

/// List live supervisors and their health
///
/// A supervisor is healthy if it makes calls, prints output or waits for something. Replace one
/// that is not with `recover_supervisor`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// Maximum number of entries (default 100)
    limit: Option<Limit>,
    /// `nextCursor` of the previous page
    cursor: Option<PageCursor>,
}

/// Findings about one supervisor.
pub(crate) struct SupervisorHealth {
    agent: Agent,
    title: Option<String>,
    workers: usize,
    tasks: EpicTaskCounts,
}

/// A page of them.
pub(crate) struct Question {
    found: Vec<SupervisorHealth>,
    next: Option<PageCursor>,
    threshold: u32,
    now: Timestamp,
}

pub(crate) struct ListSupervisors;

impl Tool for ListSupervisors {
    const NAME: &'static str = "mcp__orchestrator__list_supervisors";
    type Args = Args;
    type Answer = Supervisors;
}

impl Probe for ListSupervisors {
    type Question = Question;

    fn question(cx: &ReadCx<'_>, args: Args) -> Result<Question, ToolError> {
        let after = args.cursor.map_or(0, PageCursor::number);
        let page = cx.tx.supervisor_page(after, Limit::or(args.limit, 100))?;
        let find = |agent: Agent| {
            let epic = agent.epic.map(|id| cx.tx.epic_get(id)).transpose()?.flatten();
            let counts = agent.epic.map(|id| epic_task_counts(cx.tx, id)).transpose()?;
            Ok(SupervisorHealth {
                workers: cx.tx.agent_descendants(agent.id)?.len(),
                title: epic.map(|epic| epic.title),
                tasks: counts.unwrap_or_default(),
                agent,
            })
        };
        Ok(Question {
            found: page.items.into_iter().map(find).collect::<Result<_, ToolError>>()?,
            next: page.next.map(PageCursor::from),
            threshold: cx.settings.office.heartbeat_minutes,
            now: cx.now,
        })
    }

    // Who waits is known to the server alone.
    fn answer(engine: &Core, question: Question) -> Result<Supervisors, ToolError> {
        let Question { found, next, threshold, now } = question;
        let line = |SupervisorHealth { agent, title, workers, tasks }: SupervisorHealth| {
            let health = Health::of(&agent, waiting(engine, agent.id), threshold, now);
            let name = agent.state.name();
            SupervisorRow {
                agent_id: agent.id,
                epic_id: agent.epic,
                epic_title: title,
                state: name.office(),
                agent_state: name,
                last_active_at: agent.last_active_at,
                is_healthy: health.status == HealthStatus::Healthy,
                minutes_since_heartbeat: health.minutes,
                workers,
                tasks,
            }
        };
        Ok(Supervisors { supervisors: found.into_iter().map(line).collect(), next_cursor: next })
    }
}
