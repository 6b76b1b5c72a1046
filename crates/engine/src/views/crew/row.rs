//! One agent as a row of the crew.

use std::collections::HashMap;
use std::sync::Arc;

use model::agent::{AgentState, AgentStateName, Outcome};
use model::money::Usd;
use model::{AgentId, EpicId, MailId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use store::{Agent, Glance, Tx};

use super::lanes::{SegmentView, segments};
use super::live::Live;
use crate::core::engine::Engine;
use crate::core::error::ToolError;
use crate::core::settings::Settings;
use crate::crew::run::Wish;
use crate::views::activity::{Doing, Span, SpanKind, one_line};
use crate::views::mail::short;

/// So much of an agent's life is looked at for its lane.
const LIFE: u32 = 200;

/// An agent as it is shown among others.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct CrewRow {
    /// Its id
    pub id: AgentId,
    /// The end of its id, by which people tell it from others
    pub short: String,
    /// Its role
    pub role: String,
    /// The role's name for people
    pub display_name: Option<String>,
    /// Its category
    pub category: String,
    /// How it is run; `enlisted` is by somebody else
    pub kind: String,
    /// The model that answers it, or that it was asked for
    pub model: Option<String>,
    /// How it stands
    pub state: AgentStateName,
    /// Why it ended; of one that is queued, what it waits for beside a free place
    pub reason: Option<String>,
    /// Until when its model does not answer it
    pub limited_until: Option<Timestamp>,
    /// What it works on
    pub task: Option<TaskOf>,
    /// In which epic
    pub epic: Option<EpicOf>,
    /// Who asked for it; null is the operator
    pub parent_id: Option<AgentId>,
    /// How many stand between it and the operator
    pub depth: u32,
    /// How many it started, whether they have ended or not
    pub children: u32,
    /// How many live ones stand below it, at whatever depth
    pub live_below: u32,
    /// How many of those it started are over
    pub ended_below: u32,
    /// What it did last; null where that is not known
    pub doing: Option<DoingView>,
    /// What it asks a person
    pub asks: Option<AsksView>,
    /// Its place in the queue, from 1
    pub queue_place: Option<u32>,
    /// The review it waits for
    pub review: Option<ReviewOf>,
    /// When its first attempt began; until then, when it was recorded
    pub started_at: Timestamp,
    /// When it ended
    pub finished_at: Option<Timestamp>,
    /// What it has cost; null is unknown
    pub cost_usd: Option<f64>,
    /// What it and those below it may spend and have spent
    pub budget: Option<BudgetOf>,
    /// When it must be over
    pub deadline_at: Option<Timestamp>,
    /// How it stood from when to when; only where a window was asked for
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segments: Option<Vec<SegmentView>>,
    /// When it called tools, in milliseconds since 1970, as far as is remembered; only where a window was
    /// asked for
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<Vec<i64>>,
}

/// A task in short.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct TaskOf {
    /// Its number
    pub number: i64,
    /// Its name for people
    pub slug: String,
    /// What is to be done
    pub title: String,
}

/// An epic in short.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct EpicOf {
    /// Its id
    pub id: EpicId,
    /// What is to be done
    pub title: String,
}

/// What an agent did last.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct DoingView {
    /// What it said, or what its call is about; of one that is over, what came of it
    pub text: String,
    /// The tool it called; null where it said something
    pub tool: Option<String>,
}

/// What an agent asks a person.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct AsksView {
    /// The letter that asks
    pub mail_id: MailId,
    /// What it is about
    pub subject: String,
    /// Since when
    pub since: Timestamp,
}

/// The review that an agent waits for.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct ReviewOf {
    /// For which time
    pub iteration: u32,
    /// How often its work may be looked at
    pub max: u32,
    /// Who looks
    pub reviewer_id: Option<AgentId>,
}

/// What may be spent, and has been.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct BudgetOf {
    /// Dollars that may be; null is no cap
    pub usd: Option<f64>,
    /// Dollars that have been, by it and all below it
    pub spent_usd: f64,
}

/// How an agent stood, and when it called tools.
type Lane = (Vec<SegmentView>, Vec<i64>);

/// What is the same for all rows of one answer.
pub(super) struct Look<'a> {
    pub(super) engine: &'a Engine,
    pub(super) tx: &'a Tx<'a>,
    pub(super) settings: Arc<Settings>,
    pub(super) live: Arc<Live>,
    /// Who waits for a place, in order
    pub(super) queue: Vec<AgentId>,
    places: HashMap<AgentId, u32>,
    pub(super) now: Timestamp,
    window: Option<u32>,
}

impl<'a> Look<'a> {
    pub(super) fn new(
        engine: &'a Engine,
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
        let glance = self.tx.agent_glance(agent.id)?.ok_or_else(|| {
            ToolError::internal(std::io::Error::other("an agent vanished while it was looked at"))
        })?;
        let did = self.engine.doings.of(agent.id);
        let wish = glance.wish.as_deref().map(Wish::shown);
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
            deadline_at: deadline(&agent, &glance, wish.as_ref()),
            model: glance.model.or_else(|| wish?.model),
            cost_usd: glance.cost.map(Usd::dollars),
            budget: glance.budget.map(|(cap, spent)| BudgetOf {
                usd: cap.map(Usd::dollars),
                spent_usd: spent.dollars(),
            }),
            task: glance.task.map(|(number, slug, title)| TaskOf { number, slug, title }),
            epic: glance.epic.map(|(id, title)| EpicOf { id, title }),
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
    fn lane(&self, agent: &Agent, did: Option<&Doing>) -> Result<Option<Lane>, ToolError> {
        let Some(window) = self.window else { return Ok(None) };
        let since = self.now.after_seconds(-i64::from(window));
        if agent.ended_at().is_some_and(|at| at <= since) {
            return Ok(Some((Vec::new(), Vec::new())));
        }
        let life = self.tx.agent_life(agent.id, LIFE)?;
        let spans: Vec<Span> =
            did.map(|did| did.calls.iter().copied().collect()).unwrap_or_default();
        let calls = spans.iter().filter(|span| span.kind == SpanKind::Work).map(|span| span.from);
        let calls = calls.filter(|at| *at > since.as_millis()).collect();
        Ok(Some((segments(&life, &spans, since), calls)))
    }

    /// What it asks a person, where it waits for that.
    pub(super) fn asks(&self, agent: &Agent) -> Result<Option<AsksView>, ToolError> {
        if agent.state != AgentState::WaitingInput {
            return Ok(None);
        }
        let open = self.tx.questions_of(agent.id)?.into_iter().find(|one| one.answer.is_none());
        let mail = open.map(|question| self.tx.mail_get(question.mail)).transpose()?.flatten();
        Ok(mail.map(|mail| AsksView {
            mail_id: mail.id,
            subject: mail.subject,
            since: mail.created_at,
        }))
    }

    fn review(&self, agent: &Agent) -> Result<Option<ReviewOf>, ToolError> {
        if agent.state != AgentState::WaitingReview {
            return Ok(None);
        }
        let Some(review) = self.tx.review_open_of(agent.id)? else { return Ok(None) };
        let more = self.tx.review_allowance(agent.id)?;
        Ok(Some(ReviewOf {
            iteration: review.iteration,
            max: self.settings.review.max_iterations.saturating_add(more),
            reviewer_id: Some(review.reviewer),
        }))
    }
}

/// When it must be over: by its budget and those above it, and by its own time limit.
fn deadline(agent: &Agent, glance: &Glance, wish: Option<&Wish>) -> Option<Timestamp> {
    // Each attempt has the whole of its time limit, and only the first one's beginning is known.
    let began = glance.started_at.filter(|_| agent.attempt == 1);
    let limit = wish.and_then(|wish| wish.timeout);
    let own = began.zip(limit).map(|(began, seconds)| began.after_seconds(i64::from(seconds)));
    own.into_iter().chain(glance.deadline_at).min()
}

/// What it did last; of one that is over, what came of it.
fn doing(agent: &Agent, glance: &Glance, did: Option<Doing>) -> Option<DoingView> {
    if let AgentState::Ended { outcome, reason, .. } = &agent.state {
        let result = glance.result.as_deref();
        let result = result.and_then(|kept| serde_json::from_str::<Value>(kept).ok());
        let summary = result.and_then(|result| result["summary"].as_str().map(one_line));
        // Who was stopped says in its last words what it was at, and not what happened to it.
        let (first, other) = match outcome {
            Outcome::Succeeded => (summary.unwrap_or_default(), one_line(reason)),
            _ => (one_line(reason), summary.unwrap_or_default()),
        };
        let text = if first.is_empty() { other } else { first };
        return (!text.is_empty()).then_some(DoingView { text, tool: None });
    }
    did.filter(|did| !did.text.is_empty() || did.tool.is_some())
        .map(|did| DoingView { text: did.text, tool: did.tool })
}
