//! One agent as a row of the crew.

use std::collections::HashMap;
use std::sync::Arc;

use model::agent::{AgentState, Outcome};
use model::money::Usd;
use model::{AgentId, Timestamp};
use store::{Agent, AgentDetails, Tx};
use wire::crew::{
    CrewActivity, CrewBudget, CrewEpic, CrewQuestion, CrewReview, CrewRow, CrewTask, LaneSegment,
};

use super::lanes::segments;
use super::live::Live;
use crate::call::activity::{Activity, Span, SpanKind, one_line};
use crate::core::error::ToolError;
use crate::core::names::short;
use crate::core::settings::Settings;
use crate::crew::result::AgentResult;
use crate::crew::run::RunOptions;
use crate::views::service::Views;

/// Lifecycle events read for a lane.
const MAX_LIFECYCLE_EVENTS: u32 = 200;

/// Lane of an agent: states and tool calls.
type Lane = (Vec<LaneSegment>, Vec<i64>);

/// Data shared by all rows of one answer.
pub(super) struct Look<'a> {
    pub(super) engine: &'a Views,
    pub(super) tx: &'a Tx<'a>,
    pub(super) settings: Arc<Settings>,
    pub(super) live: Arc<Live>,
    /// Queued agents, in order
    pub(super) queue: Vec<AgentId>,
    places: HashMap<AgentId, u32>,
    pub(super) now: Timestamp,
    window: Option<u32>,
}

impl<'a> Look<'a> {
    pub(super) fn new(
        engine: &'a Views,
        tx: &'a Tx<'a>,
        window: Option<u32>,
    ) -> Result<Self, ToolError> {
        let queue: Vec<AgentId> =
            tx.agents_queued(u32::MAX)?.into_iter().map(|place| place.agent).collect();
        Ok(Self {
            engine,
            tx,
            settings: engine.settings(),
            live: engine.memo.live(tx)?,
            places: queue.iter().copied().zip(1..).collect(),
            queue,
            now: engine.now(),
            window,
        })
    }

    /// An agent as a row.
    pub(super) fn row(&self, agent: Agent) -> Result<CrewRow, ToolError> {
        let glance = self.tx.agent_details(agent.id)?.ok_or_else(|| {
            ToolError::internal(std::io::Error::other("an agent disappeared while it was read"))
        })?;
        let did = self.engine.activity.of(agent.id);
        let options = glance.options.as_deref().map(RunOptions::shown);
        let role = self.settings.roles.get(&agent.role);
        let (segments, calls) = self.lane(&agent, did.as_ref())?.unzip();
        let (reason, limited_until) = match &agent.state {
            AgentState::Ended { reason, .. } => (Some(reason.clone()), None),
            AgentState::Limited { until } => (None, Some(*until)),
            AgentState::Queued => (self.engine.queue_reason(agent.id), None),
            _ => (None, None),
        };
        Ok(CrewRow {
            short: short(agent.id),
            display_name: role.and_then(|role| role.display_name.clone()),
            asks: self.asks(&agent)?,
            review: self.review(&agent)?,
            queue_place: self.places.get(&agent.id).copied(),
            live_below: self.live.below(agent.id),
            ended_below: glance.children.saturating_sub(self.live.children(agent.id)),
            children: glance.children,
            started_at: glance.started_at.unwrap_or(agent.created_at),
            finished_at: agent.ended_at(),
            doing: doing(&agent, &glance, did),
            deadline_at: deadline(&agent, &glance, options.as_ref()),
            model: glance.model.or_else(|| options?.model),
            cost_usd: glance.cost.map(Usd::dollars),
            budget: glance.budget.map(|(cap, spent)| CrewBudget {
                usd: cap.map(Usd::dollars),
                spent_usd: spent.dollars(),
            }),
            task: glance.task.map(|(number, slug, title)| CrewTask { number, slug, title }),
            epic: glance.epic.map(|(id, title)| CrewEpic { id, title }),
            state: agent.state.name(),
            id: agent.id,
            role: agent.role,
            category: agent.category,
            kind: agent.kind,
            parent_id: agent.parent,
            depth: agent.depth,
            reason,
            limited_until,
            segments,
            calls,
        })
    }

    /// Its lane in the window: how it stood, and when it called tools.
    fn lane(&self, agent: &Agent, did: Option<&Activity>) -> Result<Option<Lane>, ToolError> {
        let Some(window) = self.window else { return Ok(None) };
        let since = self.now.after_seconds(-i64::from(window));
        if agent.ended_at().is_some_and(|at| at <= since) {
            return Ok(Some((Vec::new(), Vec::new())));
        }
        let life = self.tx.agent_life(agent.id, MAX_LIFECYCLE_EVENTS)?;
        let spans: Vec<Span> =
            did.map(|did| did.calls.iter().copied().collect()).unwrap_or_default();
        let calls = spans.iter().filter(|span| span.kind == SpanKind::Work).map(|span| span.from);
        let calls = calls.filter(|at| *at > since.as_millis()).collect();
        Ok(Some((segments(&life, &spans, since), calls)))
    }

    /// Open question of an agent that waits for a person.
    pub(super) fn asks(&self, agent: &Agent) -> Result<Option<CrewQuestion>, ToolError> {
        if agent.state != AgentState::WaitingInput {
            return Ok(None);
        }
        let open = self.tx.questions_of(agent.id)?.into_iter().find(|one| one.answer.is_none());
        let mail = open.map(|question| self.tx.mail_get(question.mail)).transpose()?.flatten();
        Ok(mail.map(|mail| CrewQuestion {
            mail_id: mail.id,
            subject: mail.subject,
            since: mail.created_at,
        }))
    }

    fn review(&self, agent: &Agent) -> Result<Option<CrewReview>, ToolError> {
        if agent.state != AgentState::WaitingReview {
            return Ok(None);
        }
        let Some(review) = self.tx.review_open_of(agent.id)? else { return Ok(None) };
        let more = self.tx.review_allowance(agent.id)?;
        Ok(Some(CrewReview {
            iteration: review.iteration,
            max: self.settings.review.max_iterations.saturating_add(more),
            reviewer_id: Some(review.reviewer),
        }))
    }
}

/// When it must be over: by its budget and those above it, and by its own time limit.
fn deadline(
    agent: &Agent,
    glance: &AgentDetails,
    options: Option<&RunOptions>,
) -> Option<Timestamp> {
    // Each attempt has the whole of its time limit, and only the first one's beginning is known.
    let began = glance.started_at.filter(|_| agent.attempt == 1);
    let limit = options.and_then(|options| options.timeout);
    let own = began.zip(limit).map(|(began, seconds)| began.after_seconds(i64::from(seconds)));
    own.into_iter().chain(glance.deadline_at).min()
}

/// Last activity; for an ended agent, its result.
fn doing(agent: &Agent, glance: &AgentDetails, did: Option<Activity>) -> Option<CrewActivity> {
    if let AgentState::Ended { outcome, reason, .. } = &agent.state {
        // A list shows its other rows too: a damaged result is named in place of its summary.
        let result = AgentResult::decode(glance.result.as_deref(), agent.id);
        let summary = match result {
            Ok(result) => result.map(|result| one_line(&result.summary)),
            Err(error) => Some(one_line(&error.message)),
        };
        // Who was stopped says in its last words what it was at, and not what happened to it.
        let (first, other) = match outcome {
            Outcome::Succeeded => (summary.unwrap_or_default(), one_line(reason)),
            _ => (one_line(reason), summary.unwrap_or_default()),
        };
        let text = if first.is_empty() { other } else { first };
        return (!text.is_empty()).then_some(CrewActivity { text, tool: None });
    }
    did.filter(|did| !did.text.is_empty() || did.tool.is_some())
        .map(|did| CrewActivity { text: did.text, tool: did.tool })
}
