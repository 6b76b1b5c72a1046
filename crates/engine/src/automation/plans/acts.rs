//! The operator's actions on plans: start, stop, resume.

use model::agent::Outcome;
use model::money::Usd;
use model::plan::ParsedStep;
use model::task::TaskMove;
use model::{AgentId, PlanState, TaskRef, Timestamp};
use serde_json::{Value, json};
use store::{NewPlan, Plan, PlanStep, StopRequest, Task, Tx};
use wire::event::{EventData, PlanStarted};
use wire::plans::PlanView;

use super::view::find_plan;
use super::{Successor, brief, coordinator_role, enrol_coordinator, left, move_own, succeed, tell};
use crate::automation::plans::view::plan_view;
use crate::automation::service::Automation;
use crate::call::cx::{Caller, WriteCx, find_agent, fresh};
use crate::call::identity::hash_token;
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::core::redact::redact;
use crate::core::settings::Settings;
use crate::crew::run::draft::find_role;
use crate::crew::run::stop::stop_tree;
use crate::tasks::task_add::{self, TaskDraft};
use crate::tasks::{task_change, task_needs};

/// A plan's name is so long at the most, before a number is added.
const MAX_NAME_CHARS: usize = 40;

/// A plan that is to be run.
#[derive(Debug, Clone)]
pub struct PlanStart {
    /// Where its file is, for people
    pub path: String,
    /// Text
    pub text: String,
    /// Name; derived from its title if absent
    pub name: Option<String>,
    /// Role it is run; the configuration's where absent
    pub role: Option<String>,
    /// As which kind; the role's where absent
    pub kind: Option<String>,
    /// Total budget in dollars; the role's or the configuration's if absent
    pub budget: Option<f64>,
    /// Policy for an identical plan that has already ended
    pub again: Again,
}

/// Policy for repeating an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// It may
    Yes,
    /// Only if it was not done yet
    No,
}

impl Automation {
    /// Begins a plan: its steps become tasks, and a coordinator is recorded, all of it or nothing.
    pub async fn plan_run(&self, request: PlanStart) -> Result<PlanView, ToolError> {
        let (engine, settings) = (self.clone(), self.settings());
        let view = self.store.write(move |tx| {
            let now = engine.now();
            let plan = begin(tx, &settings, &request, now)?;
            let input = json!({
                "path": request.path, "name": request.name, "role": request.role, "kind": request.kind,
                "budget": request.budget, "text": request.text,
            });
            record(tx, &engine, "operator__plan_run", &plan, &input)?;
            plan_view(tx, &plan)
        });
        view.await
    }

    /// Ends a plan, with the agent that runs it and all below.
    pub async fn plan_stop(&self, name: &str) -> Result<PlanView, ToolError> {
        let (engine, settings, name) = (self.clone(), self.settings(), name.to_owned());
        let view = self.store.write(move |tx| {
            let plan = find_plan(tx, &name)?;
            if plan.state != PlanState::Running {
                return Err(ToolError::conflict(format!(
                    "the plan `{name}` does not run: it is {}",
                    plan.state.name()
                ))
                .hint(format!("`adjutant plan status {name}` shows its state"))
                .detail("state", plan.state.name()));
            }
            let reason = "stopped by the operator".to_owned();
            let stop = StopRequest { outcome: Outcome::Killed, reason };
            stop_tree(tx, &settings, plan.coordinator, &stop, engine.now())?;
            record(tx, &engine, "operator__plan_stop", &plan, &json!({ "name": name }))?;
            plan_view(tx, &find_plan(tx, &name)?)
        });
        view.await
    }

    /// Resumes a plan that has ended, with more dollars if they are given.
    pub async fn plan_resume(
        &self,
        name: &str,
        budget: Option<f64>,
    ) -> Result<PlanView, ToolError> {
        let (engine, settings, name) = (self.clone(), self.settings(), name.to_owned());
        let view = self.store.write(move |tx| {
            let plan = find_plan(tx, &name)?;
            let cap = resumable(tx, &plan, dollars(budget)?)?;
            let before = find_agent(tx, plan.coordinator)?;
            let next = Successor { before: &before, tries: 1, cap, why: "resumed by a person" };
            succeed(tx, &settings, &plan, next, engine.now())?;
            let input = json!({ "name": name, "budget": budget });
            record(tx, &engine, "operator__plan_resume", &plan, &input)?;
            plan_view(tx, &find_plan(tx, &name)?)
        });
        view.await
    }
}

/// Writes down what the operator did.
fn record(
    tx: &mut Tx<'_>,
    engine: &Core,
    tool: &str,
    plan: &Plan,
    input: &Value,
) -> Result<(), ToolError> {
    let output = json!({ "plan": plan.name, "agentId": plan.coordinator });
    let input = redact(input.to_string());
    tx.audit_append(&engine.operator_row(tool, None, input, &output))?;
    Ok(())
}

/// Given amount.
fn dollars(given: Option<f64>) -> Result<Option<Usd>, ToolError> {
    let Some(usd) = given else { return Ok(None) };
    if !(usd.is_finite() && usd > 0.0 && usd <= 1e6) {
        return Err(ToolError::invalid(format!("`budget`: {usd} is not an amount of dollars"))
            .detail("field", "budget"));
    }
    Ok(Some(Usd::from_dollars(usd)))
}

/// Total budget of a plan that is resumed, or the reason why it cannot be.
fn resumable(tx: &Tx<'_>, plan: &Plan, more: Option<Usd>) -> Result<Option<Usd>, ToolError> {
    let name = &plan.name;
    match plan.state {
        PlanState::Running => {
            return Err(ToolError::conflict(format!("the plan `{name}` runs"))
                .hint(format!("`adjutant plan follow {name}` follows it"))
                .detail("state", plan.state.name()));
        }
        PlanState::Completed => {
            return Err(ToolError::conflict(format!("the plan `{name}` is completed"))
                .hint("`adjutant plan run FILE --again` runs it once more")
                .detail("state", plan.state.name()));
        }
        PlanState::Failed | PlanState::Stopped | PlanState::OverBudget => {}
    }
    if let Some(more) = more {
        return Ok(Some(tx.plan_spent(plan.number)? + more));
    }
    if left(tx, plan, plan.cap)?.is_some_and(|left| left.nanos() <= 0) {
        let cap = plan.cap.unwrap_or_default();
        return Err(ToolError::conflict(format!("the budget of `{name}`, {cap}, is used up"))
            .hint(format!("allow more: `adjutant plan resume {name} --budget 5`"))
            .detail("state", plan.state.name()));
    }
    Ok(plan.cap)
}

/// Begins a plan.
fn begin(
    tx: &mut Tx<'_>,
    settings: &Settings,
    request: &PlanStart,
    now: Timestamp,
) -> Result<Plan, ToolError> {
    let read = model::plan::read(&request.text).map_err(|error| {
        ToolError::invalid(format!("`{}` is not a plan: {error}", request.path))
            .hint("a plan has headings such as `## Step 1: Write the notes`, or is a numbered list")
            .hint("`adjutant plan check FILE` shows the parsed steps")
            .detail("line", error.line)
    })?;
    let hash = hash_token(&request.text);
    refuse_twice(tx, request, &hash)?;
    let cap = dollars(request.budget)?;
    let role = coordinator_role(settings, request.role.as_ref().unwrap_or(&settings.plan.role))?;
    refuse_unknown_roles(settings, &read.steps)?;
    let title = read.title.clone().unwrap_or_else(|| stem(&request.path));
    let name = free_name(tx, request, &title)?;
    let caller = Caller { agent: None, by_operator: true };
    let mut cx = WriteCx { tx, caller: &caller, settings, now };
    let own = TaskDraft {
        title: format!("Run the plan: {title}").chars().take(500).collect(),
        description: Some(format!("The plan `{name}`, from `{}`.", request.path)),
        ..TaskDraft::default()
    };
    let own = task_add::add(&mut cx, own)?;
    let tasks = add_tasks(&mut cx, &read.steps)?;
    let (id, usual) = (fresh(AgentId::from_bits)?, role.budget.usd.or(settings.root_budget.usd));
    let new = NewPlan {
        name: name.clone(),
        title,
        path: request.path.clone(),
        text: request.text.clone(),
        hash,
        role: role.name.clone(),
        kind: request.kind.clone(),
        task: own.id,
        coordinator: id,
        closed: u32::try_from(read.steps.iter().filter(|step| step.is_done).count()).unwrap_or(0),
        cap: cap.or(usual.map(Usd::from_dollars)),
    };
    let number = tx.plan_insert(&new, now)?;
    for (step, task) in read.steps.iter().zip(&tasks) {
        let step = PlanStep {
            number: step.number,
            task: task.id,
            role: step.role.clone(),
            cap: step.budget,
        };
        tx.plan_step_insert(number, &step)?;
    }
    let plan = find_plan(tx, &name)?;
    let prompt = brief::prompt(tx, settings, &plan, None)?;
    enrol_coordinator(tx, settings, &plan, id, prompt, plan.cap, now)?;
    move_own(tx, &plan, &TaskMove::Start { claim: None }, now)?;
    let data = EventData::PlanStarted(PlanStarted {
        plan: plan.name.clone(),
        title: plan.title.clone(),
        path: plan.path.clone(),
        agent_id: id,
        steps: read.steps.len(),
    });
    tell(tx, &plan, id, data, now)?;
    Ok(plan)
}

/// Makes the tasks of steps, with what each needs.
fn add_tasks(cx: &mut WriteCx<'_, '_>, steps: &[ParsedStep]) -> Result<Vec<Task>, ToolError> {
    let mut tasks: Vec<Task> = Vec::new();
    for step in steps {
        let draft = TaskDraft {
            title: step.title.clone(),
            description: Some(step.text.chars().take(100_000).collect::<String>())
                .filter(|text| !text.is_empty()),
            ..TaskDraft::default()
        };
        tasks.push(task_add::add(cx, draft)?);
    }
    for index in 0..steps.len() {
        let (Some(step), Some(mut task)) = (steps.get(index), tasks.get(index).cloned()) else {
            continue;
        };
        let place = |number: &u32| steps.iter().position(|other| other.number == *number);
        let needs: Vec<TaskRef> = step
            .needs
            .iter()
            .filter_map(|number| Some(TaskRef::Id(tasks.get(place(number)?)?.id)))
            .collect();
        task_needs::add(cx, &mut task, &needs)?;
        if step.is_done {
            let by = (None, cx.now);
            task_change::apply_through(cx.tx, &mut task, &TaskMove::Complete, by)?;
        }
    }
    Ok(tasks)
}

/// Refuses a plan that runs already, and one that was run unless a second run is requested.
fn refuse_twice(tx: &Tx<'_>, request: &PlanStart, hash: &str) -> Result<(), ToolError> {
    let same = tx.plan_by_hash(hash)?;
    let live = tx.plans_live()?;
    let runs = live.iter().find(|plan| {
        plan.path == request.path || same.as_ref().is_some_and(|same| same.number == plan.number)
    });
    if let Some(plan) = runs {
        let name = &plan.name;
        return Err(ToolError::conflict(format!(
            "`{}` is already running as the plan `{name}`",
            request.path
        ))
        .hint(format!("`adjutant plan status {name}` shows its state"))
        .detail("plan", name.clone()));
    }
    let Some(plan) = same.filter(|_| request.again == Again::No && request.name.is_none()) else {
        return Ok(());
    };
    let (name, state) = (&plan.name, plan.state.name());
    let error =
        ToolError::conflict(format!("this plan was already run as `{name}`: it is {state}"))
            .detail("plan", name.clone())
            .detail("state", state);
    let error = match plan.state {
        PlanState::Completed => error,
        _ => error.hint(format!("`adjutant plan resume {name}` continues it")),
    };
    Err(error.hint("`--again` runs it once more from its beginning, with new tasks"))
}

fn refuse_unknown_roles(settings: &Settings, steps: &[ParsedStep]) -> Result<(), ToolError> {
    for step in steps {
        if let Some(role) = &step.role {
            find_role(settings, role).map_err(|mut error| {
                error.message =
                    format!("line {}: step {}: {}", step.line, step.number, error.message);
                error
                    .hint("name an existing role, or remove the line with `Role:`")
                    .detail("line", step.line)
            })?;
        }
    }
    Ok(())
}

/// The given name, or one made from the title.
fn free_name(tx: &Tx<'_>, request: &PlanStart, title: &str) -> Result<String, ToolError> {
    if let Some(name) = &request.name {
        if !model::slug::is_slug(name) {
            return Err(ToolError::invalid(format!(
                "`name`: `{name}` is not a valid plan name (expected lower case, digits and inner hyphens)"
            ))
            .detail("field", "name"));
        }
        if tx.plan_get(name)?.is_some() {
            return Err(ToolError::conflict(format!("there is a plan `{name}` already"))
                .hint("choose another name"));
        }
        return Ok(name.clone());
    }
    let wanted = slug_of(title);
    let mut name = wanted.clone();
    let mut count = 2_u32;
    while tx.plan_get(&name)?.is_some() {
        name = format!("{wanted}-{count}");
        count += 1;
    }
    Ok(name)
}

/// A name that people can type.
fn slug_of(title: &str) -> String {
    let mut name = String::new();
    for word in title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        if name.len() + word.len() >= MAX_NAME_CHARS {
            break;
        }
        if !name.is_empty() {
            name.push('-');
        }
        name.push_str(&word.to_ascii_lowercase());
    }
    if model::slug::is_slug(&name) { name } else { "plan".to_owned() }
}

/// A file's name without what stands behind its last dot.
fn stem(path: &str) -> String {
    let stem = std::path::Path::new(path).file_stem();
    stem.map_or_else(|| "plan".to_owned(), |stem| stem.to_string_lossy().into_owned())
}
