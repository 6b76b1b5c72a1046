//! Views of a plan: its state, its steps with their agents, and open questions to people.

use model::money::Usd;
use model::{PlanState, TaskRef, Timestamp};
use store::{Agent, Mail, Page, Plan, Tx};
use wire::plans::{CoordinatorView, PlanQuestion, PlanRow, PlanStepView, PlanView, PlanWorker};

use super::{Stage, stages};
use crate::automation::service::Automation;
use crate::core::error::ToolError;
use crate::crew::result::AgentResult;
use crate::crew::run::view::AgentSnapshot;
use crate::mail::asking;

/// Characters of a result shown beside its step.
const LINE: usize = 300;
/// Number of a step's last agents searched for a result.
const LAST: u32 = 20;

/// A plan at this moment.
pub(super) fn plan_row(tx: &Tx<'_>, plan: &Plan, stages: &[Stage]) -> Result<PlanRow, ToolError> {
    Ok(PlanRow {
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

/// A plan at this moment.
pub(super) fn plan_view(tx: &Tx<'_>, plan: &Plan) -> Result<PlanView, ToolError> {
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
    let result = AgentSnapshot::of(tx, plan.coordinator)?.result();
    Ok(PlanView {
        row: plan_row(tx, plan, &stages)?,
        role: plan.role.clone(),
        task_slug: own.slug,
        coordinators: coordinators.collect::<Result<_, ToolError>>()?,
        steps: steps.collect::<Result<_, ToolError>>()?,
        questions: questions.into_iter().map(PlanQuestion::from).collect(),
        asked: all.into_iter().map(PlanQuestion::from).collect(),
        summary: result.map(|result| result.summary).filter(|_| plan.ended_at.is_some()),
        last: tx.event_last()?,
    })
}

impl From<Asked> for PlanQuestion {
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
    let run = tx.run_get(agent.id)?;
    let snapshot = AgentSnapshot::new(agent, run)?;
    let (agent_id, state) = (snapshot.agent.id, snapshot.state());
    Ok(CoordinatorView { agent_id, state, reason: snapshot.reason() })
}

fn step(tx: &Tx<'_>, stages: &[Stage], stage: &Stage) -> Result<PlanStepView, ToolError> {
    let Stage { step, task } = stage;
    let needs = if task.needs > 0 { tx.task_needs(task.number)? } else { Vec::new() };
    let needs = stages.iter().filter(|other| needs.contains(&other.task.number));
    let agent = tx.agent_on_task(task.id)?;
    Ok(PlanStepView {
        number: step.number,
        title: task.title.clone(),
        task_slug: task.slug.clone(),
        task: TaskRef::Number(task.number).to_string(),
        state: stage.state(),
        reason: task.state.reason().map(str::to_owned),
        depends_on: needs.map(|other| other.step.number).collect(),
        role: step.role.clone(),
        budget_usd: step.cap.map(Usd::dollars),
        agent: agent.map(|agent| PlanWorker {
            agent_id: agent.id,
            state: agent.state.name(),
            role: agent.role,
        }),
        result: last_result(tx, task.number)?.map(|result| first_line(&result.summary)),
        cost_usd: tx.task_cost(task.id)?.0.map(Usd::dollars),
    })
}

/// Last result of a task.
pub(super) fn last_result(tx: &Tx<'_>, task: i64) -> Result<Option<AgentResult>, ToolError> {
    let dispatches = tx.dispatch_newest(task, LAST)?;
    let last = dispatches.into_iter().find(|dispatch| dispatch.result.is_some());
    Ok(last.and_then(|last| AgentResult::of_work(last.result.as_deref())))
}

/// First line of a text, shortened.
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
    for mail in tx.plan_mails(plan.number)? {
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

impl Automation {
    /// A plan whole.
    pub fn plan(&self, name: &str) -> Result<PlanView, ToolError> {
        self.store.read(|tx| plan_view(tx, &find_plan(tx, name)?))
    }

    /// A page of plans, newest first.
    pub fn plans(&self, before: i64, limit: u32) -> Result<Page<PlanRow>, ToolError> {
        self.store.read(|tx| {
            let page = tx.plan_page(before, limit)?;
            let row = |plan: &Plan| plan_row(tx, plan, &stages(tx, plan)?);
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
