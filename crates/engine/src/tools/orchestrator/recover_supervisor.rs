//! `mcp__orchestrator__recover_supervisor`.

use model::{AgentId, EpicId, Line};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Agent, Recipient};
use wire::supervisors::{HealthStatus, RecoveredSupervisor, RecoveryStatus};

use crate::automation::office::recover::{self, MAX_RECOVERIES, Recovery, WINDOW_SECONDS};
use crate::automation::office::{Health, Waiting, find_supervisor, open_epic, supervisor_role};
use crate::call::cx::{ReadCx, WriteCx};
use crate::call::tool::{Ask, Look, Tool};
use crate::core::error::ToolError;
use crate::core::topics::Topic;
use crate::crew::run::view::AgentSnapshot;
use crate::mail::outgoing::{self, OutgoingMail};

/// Longest wait for a supervisor and its crew to end, in seconds.
const END_TIMEOUT_SECONDS: u32 = 60;
/// A call may wait for four minutes, of which the record knows nothing until it is over.
const MIN_MINUTES: u32 = 5;

/// Replace a lost supervisor
///
/// Ends the supervisor with all its workers, returns their tasks to PENDING (tasks in REVIEW stay),
/// and starts another supervisor for the epic; the human receives mail. For a supervisor that has
/// already ended only the new one is started. Refused for a healthy supervisor unless `force` is
/// set, and after three recoveries in ten minutes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// The supervisor
    agent_id: AgentId,
    /// Reason, for the record and the mail to the human
    reason: Option<Line<1000>>,
    /// Replace it even if it is healthy
    #[serde(default)]
    force: bool,
}

/// Handle of a call.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ticket {
    old: AgentId,
    epic: EpicId,
    tasks_reset: u32,
    /// Number of recent recoveries of the epic, if there were too many
    too_often: Option<usize>,
}

pub(crate) struct RecoverSupervisor;

impl Tool for RecoverSupervisor {
    const NAME: &'static str = "mcp__orchestrator__recover_supervisor";
    const DESTRUCTIVE: bool = true;
    const STARTS_AGENTS: bool = true;
    type Args = Args;
    type Answer = RecoveredSupervisor;
}

impl Ask for RecoverSupervisor {
    type Ticket = Ticket;

    fn begin(cx: &mut WriteCx<'_, '_>, args: &Args) -> Result<Ticket, ToolError> {
        let old = find_supervisor(cx.tx, args.agent_id)?;
        let epic = old.epic.ok_or_else(|| {
            ToolError::wrong_state(format!("supervisor `{}` leads no epic", old.id))
                .hint("`kill_agent` ends it")
        })?;
        let ticket = |tasks_reset, too_often| Ticket { old: old.id, epic, tasks_reset, too_often };
        // It was asked for before: one recovery is enough.
        if old.ended_at().is_none() && recover::wanted(cx.tx, old.id)?.is_some() {
            return Ok(ticket(0, None));
        }
        open_epic(cx.tx, epic)?;
        supervisor_role(cx.settings)?;
        may_replace(cx, &old, epic, args)?;
        let often = recover::lately(cx.tx, epic, cx.now)?;
        if often >= MAX_RECOVERIES {
            warn(cx, &old, epic, often)?;
            return Ok(ticket(0, Some(often)));
        }
        let reason = args.reason.as_ref().map_or_else(|| reason(&old), ToString::to_string);
        let recovery = Recovery { old: old.clone(), epic, by: cx.caller.id(), reason };
        let tasks_reset = recover::begin(cx.tx, cx.settings, &recovery, cx.now)?;
        Ok(ticket(tasks_reset, None))
    }

    fn wait_seconds(_: &Args) -> u32 {
        END_TIMEOUT_SECONDS
    }

    fn topics(ticket: &Ticket) -> Vec<Topic> {
        vec![Topic::Agent(ticket.old)]
    }

    fn look(
        cx: &ReadCx<'_>,
        _: &Args,
        ticket: &Ticket,
    ) -> Result<Look<RecoveredSupervisor>, ToolError> {
        if let Some(often) = ticket.too_often {
            return Err(crash_loop(ticket.epic, often));
        }
        let (old, epic) = (ticket.old, ticket.epic);
        let answer = |new_agent_id, status, message| RecoveredSupervisor {
            agent_id: old,
            epic_id: epic,
            new_agent_id,
            status,
            tasks_reset: ticket.tasks_reset,
            message,
        };
        if !AgentSnapshot::of(cx.tx, old)?.is_over() {
            let message = format!("{old} is still ending; call again");
            return Ok(Look::NotYet(answer(None, RecoveryStatus::Pending, message)));
        }
        match recover::successor(cx.tx, old)? {
            Some(new) => {
                let message = format!("{new} leads the epic in place of {old}");
                Ok(Look::Settled(answer(Some(new), RecoveryStatus::Recovered, message)))
            }
            None => Err(ToolError::conflict(format!(
                "{old} has ended, but no other supervisor could be started"
            ))
            .hint("the human received the reason by mail; `create_supervisor` starts another")),
        }
    }
}

/// Refuses to replace an agent that is healthy, above the caller, or replaced already.
fn may_replace(
    cx: &WriteCx<'_, '_>,
    old: &Agent,
    epic: EpicId,
    args: &Args,
) -> Result<(), ToolError> {
    if let Some(caller) = &cx.caller.agent {
        let above = cx.tx.agent_ancestors(caller)?;
        if caller.id == old.id || above.iter().any(|above| above.id == old.id) {
            let error = format!("you would end yourself together with `{}`", old.id);
            return Err(ToolError::invalid(error).detail("field", "agentId"));
        }
    }
    if let Some(other) = cx.tx.agent_supervising(epic)?.filter(|other| other.id != old.id) {
        return Err(ToolError::conflict(format!(
            "the epic `{epic}` has another supervisor: `{}`",
            other.id
        ))
        .detail("agentId", other.id.to_string()));
    }
    let threshold = cx.settings.office.heartbeat_minutes.max(MIN_MINUTES);
    let health = Health::of(old, Waiting::No, threshold, cx.now);
    if health.status != HealthStatus::Healthy || args.force {
        return Ok(());
    }
    let how = health.reason.unwrap_or_else(|| {
        format!("it was active {} minutes ago; the limit is {threshold} minutes", health.minutes)
    });
    Err(ToolError::conflict(format!("supervisor `{}` is healthy: {how}", old.id))
        .hint("write to it, or set `force` to replace it anyway")
        .detail("minutesSinceHeartbeat", health.minutes)
        .detail("thresholdMinutes", threshold))
}

/// Why a supervisor is replaced, where nobody says.
fn reason(old: &Agent) -> String {
    if old.ended_at().is_some() { "it has ended".to_owned() } else { "it is lost".to_owned() }
}

fn crash_loop(epic: EpicId, often: usize) -> ToolError {
    let minutes = WINDOW_SECONDS / 60;
    ToolError::conflict(format!(
        "the supervisor of the epic `{epic}` was replaced {often} times in {minutes} minutes: another one \
         would be lost too"
    ))
    .hint("find out why they are lost (`adjutant logs`); the human has mail about it")
    .hint("when that is mended, end the supervisor if it lives, and start one with `create_supervisor`")
    .detail("recoveries", often)
    .detail("epicId", epic.to_string())
}

/// Tells the human that supervisors of an epic are lost again and again, once.
fn warn(
    cx: &mut WriteCx<'_, '_>,
    old: &Agent,
    epic: EpicId,
    often: usize,
) -> Result<(), ToolError> {
    let since = cx.now.after_seconds(-WINDOW_SECONDS);
    if !cx.tx.escalation_claim(Some(old.id), RecoverSupervisor::NAME, since, cx.now)? {
        return Ok(());
    }
    let subject = format!("⚠️ The supervisors of the epic {epic} are lost again and again");
    let body = format!(
        "It was replaced {often} times in {} minutes, and is not replaced again. The last one is {}. See why with \
         `adjutant logs {}`; when that is mended, `adjutant supervisors create {epic}` starts another one.",
        WINDOW_SECONDS / 60,
        old.id,
        old.id,
    );
    let from = OutgoingMail::about(old, Recipient::Human, subject, body);
    outgoing::send(cx.tx, from, cx.now)?;
    Ok(())
}
