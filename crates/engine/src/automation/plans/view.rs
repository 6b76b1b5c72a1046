//! A plan as others see it: how it stands, step by step, who is at what, and what a person is asked.

use model::agent::AgentStateName;
use model::money::Usd;
use model::task::TaskStateName;
use model::{AgentId, MailId, PlanState, TaskRef, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use store::{Agent, Mail, Page, Plan, Tx};

use super::{Stage, stages};
use crate::core::engine::Engine;
use crate::core::error::ToolError;
use crate::crew::result::AgentResult;
use crate::crew::run::view::Standing;
use crate::views::mail::asking;

/// So much of a result is shown beside its step.
const LINE: usize = 300;
/// So many of the last that worked on a step are looked at for a result.
const LAST: u32 = 20;

/// A plan in a line.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanRow {
    /// What people call it
    pub name: String,
    /// What it is about
    pub title: String,
    /// Where its file was
    pub path: String,
    /// How it stands
    pub state: PlanState,
    /// Why it is over
    pub reason: Option<String>,
    /// How many steps are done or given up
    pub closed: u32,
    /// How many steps there are
    pub total: u32,
    /// What it may cost, in dollars
    pub budget_usd: Option<f64>,
    /// What it has cost so far, with all that was started for it
    pub spent_usd: f64,
    /// When it was first begun
    pub created_at: Timestamp,
    /// When it ended
    pub ended_at: Option<Timestamp>,
}

/// A plan whole.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanView {
    /// The plan in a line
    #[serde(flatten)]
    pub row: PlanRow,
    /// In which role it is run
    pub role: String,
    /// Its own task, beside those of its steps
    pub task_slug: String,
    /// Everybody who ran it, the first one first
    pub coordinators: Vec<CoordinatorView>,
    /// The steps, in their order
    pub steps: Vec<StepView>,
    /// What a person is asked and has not answered
    pub questions: Vec<AskedView>,
    /// Everything that a person was asked, answered or not, oldest first
    pub asked: Vec<AskedView>,
    /// What whoever ran it last said in the end
    pub summary: Option<String>,
    /// The number of the last event when this was so
    pub last: i64,
}

/// Somebody who runs a plan, or ran it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct CoordinatorView {
    /// The agent
    pub agent_id: AgentId,
    /// How it stands
    pub state: AgentStateName,
    /// Why it ended
    pub reason: Option<String>,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct StepView {
    /// What the plan calls it
    pub number: u32,
    /// What it is
    pub title: String,
    /// Its task's name
    pub task_slug: String,
    /// Its task's number, as `TAS-12`
    pub task: String,
    /// How it stands
    pub state: TaskStateName,
    /// Why it is so, where somebody said
    pub reason: Option<String>,
    /// The steps that must be done before it
    pub depends_on: Vec<u32>,
    /// In which role it is to be done, where the plan says so
    pub role: Option<String>,
    /// What whoever works on it may spend, where the plan says so
    pub budget_usd: Option<f64>,
    /// Who is at it
    pub agent: Option<WorkerView>,
    /// What came of it last, in a line
    pub result: Option<String>,
    /// What it has cost, where that is known
    pub cost_usd: Option<f64>,
}

/// Somebody who is at a step.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct WorkerView {
    /// The agent
    pub agent_id: AgentId,
    /// Its role
    pub role: String,
    /// How it stands
    pub state: AgentStateName,
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct AskedView {
    /// The letter, for `adjutant mail read` and `adjutant mail reply`
    pub mail_id: MailId,
    /// Who asks
    pub agent_id: Option<AgentId>,
    /// What it is about
    pub subject: String,
    /// Since when
    pub sent_at: Timestamp,
    /// When a person answered it
    pub answered_at: Option<Timestamp>,
}

impl PlanRow {
    /// A plan at this moment.
    pub(super) fn of(tx: &Tx<'_>, plan: &Plan, stages: &[Stage]) -> Result<Self, ToolError> {
        Ok(Self {
            name: plan.name.clone(),
            title: plan.title.clone(),
            path: plan.path.clone(),
            state: plan.state,
            reason: plan.why.clone(),
            closed: super::closed(stages),
            total: u32::try_from(stages.len()).unwrap_or(u32::MAX),
            budget_usd: plan.cap.map(Usd::dollars),
            spent_usd: tx.plan_spent(plan.number)?.dollars(),
            created_at: plan.created_at,
            ended_at: plan.ended_at,
        })
    }
}

impl PlanView {
    /// A plan at this moment.
    pub(super) fn of(tx: &Tx<'_>, plan: &Plan) -> Result<Self, ToolError> {
        let stages = stages(tx, plan)?;
        let steps = stages.iter().map(|stage| step(tx, &stages, stage));
        let own = crate::call::cx::find_task(tx, &TaskRef::Id(plan.task))?;
        let coordinators = tx.plan_coordinators(plan.number)?;
        let coordinators = coordinators.into_iter().map(|agent| coordinator(tx, agent));
        let all = ever_asked(tx, plan)?;
        let questions = match plan.state {
            PlanState::Running => open(tx, &all)?,
            _ => Vec::new(),
        };
        let result = Standing::of(tx, plan.coordinator)?.result();
        Ok(Self {
            row: PlanRow::of(tx, plan, &stages)?,
            role: plan.role.clone(),
            task_slug: own.slug,
            coordinators: coordinators.collect::<Result<_, ToolError>>()?,
            steps: steps.collect::<Result<_, ToolError>>()?,
            questions: questions.into_iter().map(AskedView::from).collect(),
            asked: all.into_iter().map(AskedView::from).collect(),
            summary: result.map(|result| result.summary).filter(|_| plan.ended_at.is_some()),
            last: tx.event_last()?,
        })
    }
}

impl From<Asked> for AskedView {
    fn from(asked: Asked) -> Self {
        let Asked { mail, answered_at } = asked;
        Self {
            mail_id: mail.id,
            agent_id: mail.from,
            subject: mail.subject,
            sent_at: mail.created_at,
            answered_at,
        }
    }
}

fn coordinator(tx: &Tx<'_>, agent: Agent) -> Result<CoordinatorView, ToolError> {
    let standing = Standing { run: tx.run_get(agent.id)?, agent };
    let (agent_id, state) = (standing.agent.id, standing.state());
    Ok(CoordinatorView { agent_id, state, reason: standing.reason() })
}

fn step(tx: &Tx<'_>, stages: &[Stage], stage: &Stage) -> Result<StepView, ToolError> {
    let Stage { step, task } = stage;
    let needs = if task.needs > 0 { tx.task_needs(task.number)? } else { Vec::new() };
    let needs = stages.iter().filter(|other| needs.contains(&other.task.number));
    let agent = tx.agent_on_task(task.id)?;
    Ok(StepView {
        number: step.number,
        title: task.title.clone(),
        task_slug: task.slug.clone(),
        task: TaskRef::Number(task.number).to_string(),
        state: stage.state(),
        reason: task.state.reason().map(str::to_owned),
        depends_on: needs.map(|other| other.step.number).collect(),
        role: step.role.clone(),
        budget_usd: step.cap.map(Usd::dollars),
        agent: agent.map(|agent| WorkerView {
            agent_id: agent.id,
            state: agent.state.name(),
            role: agent.role,
        }),
        result: last_result(tx, task.number)?.map(|result| first_line(&result.summary)),
        cost_usd: tx.task_cost(task.id)?.0.map(Usd::dollars),
    })
}

/// What came of a task last.
pub(super) fn last_result(tx: &Tx<'_>, task: i64) -> Result<Option<AgentResult>, ToolError> {
    let dispatches = tx.dispatch_newest(task, LAST)?;
    Ok(dispatches.into_iter().find_map(|dispatch| serde_json::from_str(&dispatch.result?).ok()))
}

/// The first line of what somebody wrote, so far.
pub(super) fn first_line(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default().trim();
    line.chars().take(LINE).collect()
}

/// A question to a person, and when it was answered.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) mail: Mail,
    answered_at: Option<Timestamp>,
}

/// Everything that those who run a plan, and all below them, have asked a person.
fn ever_asked(tx: &Tx<'_>, plan: &Plan) -> Result<Vec<Asked>, ToolError> {
    let mut asked = Vec::new();
    for mail in tx.plan_letters(plan.number)? {
        let asks = asking::is_question(&mail.subject, &mail.body)
            || tx.question_by_mail(mail.id)?.is_some();
        if asks && !asking::is_alert(&mail.subject) {
            let answered_at = tx.mail_settled_by(mail.id)?.map(|answer| answer.created_at);
            asked.push(Asked { mail, answered_at });
        }
    }
    Ok(asked)
}

/// The questions that have no answer. What an agent asked that has ended and runs no plan nobody waits for.
fn open(tx: &Tx<'_>, all: &[Asked]) -> Result<Vec<Asked>, ToolError> {
    let mut open = Vec::new();
    for asked in all.iter().filter(|asked| asked.answered_at.is_none()) {
        let Some(from) = asked.mail.from else { continue };
        if tx.agent_is_live(from)? || tx.plan_of_coordinator(from)?.is_some() {
            open.push(asked.clone());
        }
    }
    Ok(open)
}

/// Unanswered questions to the human from a plan's coordinators and their descendants.
pub(super) fn asked(tx: &Tx<'_>, plan: &Plan) -> Result<Vec<Mail>, ToolError> {
    let open = open(tx, &ever_asked(tx, plan)?)?;
    Ok(open.into_iter().map(|asked| asked.mail).collect())
}

impl Engine {
    /// A plan whole.
    pub fn plan(&self, name: &str) -> Result<PlanView, ToolError> {
        self.store.read(|tx| PlanView::of(tx, &find_plan(tx, name)?))
    }

    /// A page of plans, newest first.
    pub fn plans(&self, before: i64, limit: u32) -> Result<Page<PlanRow>, ToolError> {
        self.store.read(|tx| {
            let page = tx.plan_page(before, limit)?;
            let row = |plan: &Plan| PlanRow::of(tx, plan, &stages(tx, plan)?);
            let items = page.items.iter().map(row).collect::<Result<_, ToolError>>()?;
            Ok(Page { items, next: page.next })
        })
    }
}

/// The plan of that name, or an error that names the nearest.
pub(super) fn find_plan(tx: &Tx<'_>, name: &str) -> Result<Plan, ToolError> {
    const RECENT: u32 = 200;
    if let Some(plan) = tx.plan_get(name)? {
        return Ok(plan);
    }
    let error = ToolError::not_found(format!("there is no plan `{name}`"));
    let recent = tx.plan_page(i64::MAX, RECENT)?.items;
    Err(match model::nearest::nearest(name, recent.iter().map(|plan| plan.name.as_str())) {
        Some(near) => error.hint(format!("did you mean `{near}`?")).detail("nearest", near),
        None => error.hint("`adjutant plan list` lists them"),
    })
}
