//! Drafts agents: checks, bounds and records them. They start when a slot is free.

use std::path::{Component, Path};

use model::agent::AgentState;
use model::money::Usd;
use model::{AgentId, EpicId, TaskRef, Timestamp};
use store::{Agent, BudgetCaps, EventDraft, NewAgent, NewRun, Task, Tx};
use wire::event::{AgentCreated, AgentDraft, EventData};

use super::options::{Claims, Confinement, Draft};
use super::{environment, reserve};
use crate::call::cx::{Caller, WriteCx, find_agent, find_task, fresh};
use crate::core::error::{Code, ToolError};
use crate::core::redact::redact;
use crate::core::settings::{Budget, Role, Settings};
use crate::tasks::task_add::{self, TaskDraft};

/// A prompt's first characters are what it is about.
const SUMMARY: usize = 50;
/// A task's title is its prompt's first line, so far.
const TITLE: usize = 200;

/// An agent that is recorded.
#[derive(Debug, Clone)]
pub(crate) struct Drafted {
    /// The agent
    pub(crate) id: AgentId,
    /// Its role
    pub(crate) role: String,
    /// Its task; empty where it leads an epic
    pub(crate) task_slug: String,
}

/// Records a new agent in the caller's name.
pub(crate) fn draft(cx: &mut WriteCx<'_, '_>, draft: &Draft) -> Result<Drafted, ToolError> {
    let role = draft.role.as_deref().map(|name| find_role(cx.settings, name)).transpose()?;
    let above = above(cx)?;
    may_start(cx, role.map_or("worker", |role| role.category.as_str()), &above)?;
    enrol(cx, draft, fresh(AgentId::from_bits)?, &above)
}

/// Records a new agent beside another: the agent that asked for that one asked for this one too.
pub(crate) fn beside(
    tx: &mut Tx<'_>,
    settings: &Settings,
    other: &Agent,
    id: AgentId,
    draft: &Draft,
    now: Timestamp,
) -> Result<Drafted, ToolError> {
    let parent = other.parent.map(|parent| tx.agent_get(parent)).transpose()?.flatten();
    // It was decided by us, so its paths need no checking.
    let caller = Caller { agent: parent, by_operator: true };
    let mut cx = WriteCx { tx, caller: &caller, settings, now };
    let above = above(&cx)?;
    let mut draft = draft.clone();
    draft.options.inherits_from = Some(other.id);
    enrol(&mut cx, &draft, id, &above)
}

/// Records a new agent under an id that is known already, whom the caller may have.
pub(crate) fn enrol_as(
    cx: &mut WriteCx<'_, '_>,
    draft: &Draft,
    id: AgentId,
) -> Result<Drafted, ToolError> {
    let above = above(cx)?;
    enrol(cx, draft, id, &above)
}

/// Records an agent that the caller is allowed to draft.
fn enrol(
    cx: &mut WriteCx<'_, '_>,
    draft: &Draft,
    id: AgentId,
    above: &[Agent],
) -> Result<Drafted, ToolError> {
    let settings = cx.settings;
    let bytes = u64::try_from(draft.prompt.len()).unwrap_or(u64::MAX);
    if bytes > settings.limits.max_prompt_bytes {
        return Err(ToolError::invalid(format!(
            "`prompt` is {bytes} bytes; the limit is {}",
            settings.limits.max_prompt_bytes
        )));
    }
    if draft.prompt.trim().is_empty() {
        return Err(ToolError::invalid("`prompt` is empty"));
    }
    let role = draft.role.as_deref().map(|name| find_role(settings, name)).transpose()?;
    let category = role.map_or("worker", |role| role.category.as_str()).to_owned();
    let kind = kind_of(settings, draft, role)?;
    let resumed = draft.resume.map(|id| resumable(cx, id, &kind)).transpose()?;
    let leads = leads(cx.tx, draft, resumed.as_ref())?;
    let (task, claims) = if leads.is_some() || draft.iteration.is_some() {
        (None, Claims::Nothing)
    } else {
        let (task, claims) = task_for(cx, draft, resumed.as_ref())?;
        (Some(task), claims)
    };
    let in_loop = iteration_of(cx, draft, resumed.as_ref());
    let mut options = draft.options.clone();
    options.claims = claims;
    options.confinement = confinement(cx, draft)?;
    options.model = model_of(cx, draft, role, &category, &kind)?;
    options.timeout = options.timeout.or(role.and_then(|role| role.timeout));
    options.environment = environment::names_to_record(settings, &kind);
    environment::inherit(cx, &mut options)?;
    let name = role.map_or_else(|| kind.clone(), |role| role.name.clone());
    let new = NewAgent {
        id,
        role: name.clone(),
        category,
        kind,
        parent: cx.caller.id(),
        depth: cx.caller.agent.as_ref().map_or(0, |parent| parent.depth + 1),
        task: task.as_ref().map(|task| task.id),
        epic: leads.or_else(|| task.as_ref().and_then(|task| task.epic)),
        session: in_loop.as_ref().map(|(session, _)| session.clone()),
        iteration: in_loop.and_then(|(_, iteration)| iteration),
        state: AgentState::Queued,
        cwd: directory(cx, draft, role)?,
        token_hash: None,
    };
    cx.tx.agent_insert(&new, cx.now)?;
    let summary = draft.summary.clone().unwrap_or_else(|| summary_of(&draft.prompt));
    let summary = redact(summary);
    cx.tx.run_insert(&NewRun {
        agent: id,
        prompt: draft.prompt.clone(),
        summary: summary.clone(),
        options: serde_json::to_string(&options).map_err(ToolError::internal)?,
        resumed_from: draft.resume,
        conversation: resumed.map(|(_, conversation)| conversation),
    })?;
    let usual = match (above.is_empty(), options.timeout) {
        // A given time limit replaces the role's cap on time.
        (true, Some(_)) => Budget { seconds: None, ..settings.root_budget },
        (true, None) => settings.root_budget,
        (false, _) => Budget::default(),
    };
    let caps = caps_of(cx.tx, draft, task.as_ref(), role, usual)?;
    reserve::fund(cx.tx, settings, &new, &caps, above)?;
    if let Some(task) = &task {
        cx.tx.dispatch_begin(task.number, id, &name, cx.now)?;
    }
    let data = EventData::AgentCreated(AgentCreated {
        role: name.clone(),
        category: new.category,
        kind: new.kind,
        draft: Some(AgentDraft {
            parent_id: new.parent,
            depth: new.depth,
            summary,
            resumed_from: draft.resume,
        }),
    });
    cx.tx.event_append(cx.now, &EventDraft { agent: Some(id), task: new.task, data })?;
    Ok(Drafted { id, role: name, task_slug: task.map(|task| task.slug).unwrap_or_default() })
}

/// The role of that name, or the seed's words for there being none.
pub(crate) fn find_role<'s>(settings: &'s Settings, name: &str) -> Result<&'s Role, ToolError> {
    settings.roles.get(name).ok_or_else(|| {
        let names: Vec<&str> = settings.roles.keys().map(String::as_str).collect();
        let error = ToolError::not_found(format!(
            "Unknown role \"{name}\". Available: {}",
            names.join(", ")
        ));
        match model::nearest::nearest(name, names) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error,
        }
    })
}

/// The caller and everybody above it, nearest first. Nobody is above the operator.
fn above(cx: &WriteCx<'_, '_>) -> Result<Vec<Agent>, ToolError> {
    let Some(caller) = &cx.caller.agent else { return Ok(Vec::new()) };
    let mut above = vec![caller.clone()];
    above.extend(cx.tx.agent_ancestors(caller)?);
    Ok(above)
}

/// Checks depth, width, budget and whom the caller may start.
fn may_start(cx: &WriteCx<'_, '_>, category: &str, above: &[Agent]) -> Result<(), ToolError> {
    let Some(caller) = above.first() else { return Ok(()) };
    let (settings, limits) = (cx.settings, &cx.settings.limits);
    if caller.depth >= limits.depth {
        return Err(ToolError::new(
            Code::DepthLimitExceeded,
            format!("agents at depth {} may not start agents", caller.depth),
        )
        .detail("limit", limits.depth)
        .hint("do the work yourself, or write to your parent"));
    }
    let may_draft = settings.may_draft_of(caller);
    if !may_draft.iter().any(|name| name == category) {
        return Err(ToolError::denied(format!(
            "an agent of category `{}` may not start one of category `{category}`",
            caller.category
        ))
        .detail("mayDraft", may_draft));
    }
    let children = cx.tx.agent_children_count(caller.id)?;
    if children >= i64::from(limits.children) {
        return Err(ToolError::new(
            Code::ChildLimitExceeded,
            format!("you have {children} live agents, which is the limit"),
        )
        .detail("limit", limits.children)
        .hint("wait for some of them with `await_agent`"));
    }
    for agent in above {
        if cx.tx.run_get(agent.id)?.is_some_and(|run| run.stop.is_some()) {
            return Err(ToolError::wrong_state("you are being ended, and may not start agents"));
        }
        let Some(budget) = cx.tx.budget_get(agent.id)? else { continue };
        let used_up = [
            budget
                .caps
                .agents
                .filter(|cap| budget.agents >= *cap)
                .map(|cap| format!("{cap} agents")),
            budget.caps.money.filter(|cap| budget.money >= *cap).map(|cap| cap.to_string()),
            budget
                .caps
                .tokens
                .filter(|cap| budget.tokens >= *cap)
                .map(|cap| format!("{cap} tokens")),
        ];
        if let Some(cap) = used_up.into_iter().flatten().next() {
            let whose =
                if agent.id == caller.id { "your".into() } else { format!("{}'s", agent.id) };
            return Err(ToolError::new(
                Code::BudgetExceeded,
                format!("{whose} budget of {cap} is used up"),
            )
            .detail("agentId", agent.id.to_string()));
        }
    }
    Ok(())
}

fn kind_of(settings: &Settings, draft: &Draft, role: Option<&Role>) -> Result<String, ToolError> {
    let kind = draft
        .kind
        .clone()
        .or_else(|| role.and_then(|role| role.kind.clone()))
        .unwrap_or_else(|| settings.default_kind.clone());
    if host::agent::kind(&kind).is_none() {
        let known: Vec<&str> = host::agent::KINDS.iter().map(|kind| kind.name()).collect();
        return Err(ToolError::invalid(format!(
            "there is no kind of agent `{kind}`; there are {}",
            known.join(", ")
        )));
    }
    Ok(kind)
}

/// An agent whose conversation can be gone on with, and its name.
fn resumable(cx: &WriteCx<'_, '_>, id: AgentId, kind: &str) -> Result<(Agent, String), ToolError> {
    let agent = find_agent(cx.tx, id)?;
    if agent.ended_at().is_none() {
        return Err(ToolError::wrong_state(format!("agent `{id}` has not ended"))
            .hint("write to it, or end it first with `kill_agent`"));
    }
    let can = host::agent::kind(kind).is_some_and(|kind| kind.supports().resume);
    if !can || agent.kind != kind {
        return Err(ToolError::conflict(format!(
            "an agent of kind `{}` cannot be resumed as `{kind}`",
            agent.kind
        )));
    }
    let conversation = cx.tx.run_get(id)?.and_then(|run| run.conversation);
    let conversation = conversation.ok_or_else(|| {
        ToolError::wrong_state(format!("agent `{id}` has no conversation to resume"))
            .hint("start a new agent on the same task instead")
    })?;
    Ok((agent, conversation))
}

/// The epic it leads: the one named, or that of the agent it goes on for. Nobody else may lead it.
fn leads(
    tx: &Tx<'_>,
    draft: &Draft,
    resumed: Option<&(Agent, String)>,
) -> Result<Option<EpicId>, ToolError> {
    let before = resumed.filter(|(agent, _)| draft.task.is_none() && agent.task.is_none());
    let Some(epic) = draft.epic.or_else(|| before.and_then(|(agent, _)| agent.epic)) else {
        return Ok(None);
    };
    match tx.agent_supervising(epic)? {
        None => Ok(Some(epic)),
        Some(other) => {
            Err(ToolError::conflict(format!("the epic `{epic}` has a supervisor: `{}`", other.id))
                .hint("`check_supervisor_health` checks it, `recover_supervisor` replaces it")
                .detail("agentId", other.id.to_string())
                .detail("epicId", epic.to_string()))
        }
    }
}

/// The loop and the iteration it works in: those it was made for, else those of the agent it goes on for, else its
/// parent's.
fn iteration_of(
    cx: &WriteCx<'_, '_>,
    draft: &Draft,
    resumed: Option<&(Agent, String)>,
) -> Option<(String, Option<u32>)> {
    if let Some((session, iteration)) = &draft.iteration {
        return Some((session.clone(), Some(*iteration)));
    }
    let before = resumed.map(|(agent, _)| agent).or(cx.caller.agent.as_ref())?;
    before.session.clone().map(|session| (session, before.iteration))
}

/// The task it works on: the one named, that of the agent it goes on for, the parent's, or a new one.
fn task_for(
    cx: &mut WriteCx<'_, '_>,
    draft: &Draft,
    resumed: Option<&(Agent, String)>,
) -> Result<(Task, Claims), ToolError> {
    if let Some(name) = &draft.task {
        return Ok((find_task(cx.tx, name)?, draft.options.claims));
    }
    if let Some(task) = resumed.and_then(|(agent, _)| agent.task) {
        return Ok((find_task(cx.tx, &TaskRef::Id(task))?, Claims::Task));
    }
    if let Some(task) = cx.caller.agent.as_ref().and_then(|parent| parent.task) {
        return Ok((find_task(cx.tx, &TaskRef::Id(task))?, Claims::Nothing));
    }
    let line = draft.prompt.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let title: String = line.trim().chars().filter(|c| !c.is_control()).take(TITLE).collect();
    let whole = title == draft.prompt.trim();
    let new = TaskDraft {
        title,
        description: (!whole).then(|| draft.prompt.chars().take(100_000).collect()),
        // What an epic's supervisor has done belongs to the epic.
        epic: cx.caller.agent.as_ref().and_then(|parent| parent.epic),
        ..TaskDraft::default()
    };
    Ok((task_add::add(cx, new)?, Claims::Task))
}

/// The call's model, else the role's, else the category's, else the default.
fn model_of(
    cx: &WriteCx<'_, '_>,
    draft: &Draft,
    role: Option<&Role>,
    category: &str,
    kind: &str,
) -> Result<Option<String>, ToolError> {
    let asked = draft.options.model.clone().or_else(|| role.and_then(|role| role.model.clone()));
    let models = &cx.settings.models;
    // Other kinds have defaults of their own.
    let takes_default = host::agent::kind(kind).is_some_and(|kind| kind.supports().default_model);
    let usual = || models.default.clone().filter(|_| takes_default);
    match asked.as_deref() {
        Some("inherit") => {
            let parent = cx.caller.agent.as_ref().filter(|parent| parent.kind == kind);
            let run = parent.map(|parent| cx.tx.run_get(parent.id)).transpose()?.flatten();
            let options = run.map(|run| super::options::RunOptions::of(&run)).transpose()?;
            Ok(options.and_then(|options| options.model).or_else(usual))
        }
        Some(_) => Ok(asked),
        None => Ok(models.overrides.get(category).cloned().or_else(usual)),
    }
}

/// Where the folder it works in must lie: inside the project if an agent named it, the caller or, before, the caller of
/// the agent it goes on for.
fn confinement(cx: &WriteCx<'_, '_>, draft: &Draft) -> Result<Confinement, ToolError> {
    if draft.cwd.is_none() {
        return Ok(Confinement::None);
    }
    if !cx.caller.by_operator {
        return Ok(Confinement::Project);
    }
    let before = draft.resume.map(|id| cx.tx.run_get(id)).transpose()?.flatten();
    let options = before.map(|run| super::options::RunOptions::of(&run)).transpose()?;
    Ok(options.unwrap_or_default().confinement)
}

/// Where it works. Paths that agents give stay inside the project; the operator's may leave it. Where links lead is
/// checked before the call and again at the launch, since neither is done inside a transaction.
fn directory(
    cx: &WriteCx<'_, '_>,
    draft: &Draft,
    role: Option<&Role>,
) -> Result<Option<String>, ToolError> {
    let Some(given) = draft.cwd.clone() else {
        return Ok(role.and_then(|role| role.cwd.clone()));
    };
    let path = Path::new(&given);
    // An agent names its own worktree by its whole path.
    let folders = [Some(&cx.settings.project), cx.settings.worktrees.folder.as_ref()];
    let is_inside = folders.into_iter().flatten().any(|folder| path.starts_with(folder));
    let escapes = path.components().any(|part| part == Component::ParentDir)
        || (path.is_absolute() && !is_inside);
    if escapes && !cx.caller.by_operator {
        return Err(ToolError::invalid(format!("`{given}` is outside the project")));
    }
    Ok(Some(given))
}

/// Caps of an agent: the call's, else its task's plan's, else the role's, else the default.
pub(crate) fn caps_of(
    tx: &Tx<'_>,
    draft: &Draft,
    task: Option<&Task>,
    role: Option<&Role>,
    usual: Budget,
) -> Result<BudgetCaps, ToolError> {
    let own = role.map(|role| role.budget).unwrap_or_default();
    let given = draft.budget;
    let money = given.usd.map(Usd::from_dollars);
    let step = match task.filter(|_| money.is_none()) {
        Some(task) => tx.plan_step_of(task.id)?.and_then(|step| step.cap),
        None => None,
    };
    Ok(BudgetCaps {
        money: money.or(step).or(own.usd.or(usual.usd).map(Usd::from_dollars)),
        tokens: given.tokens.or(own.tokens).or(usual.tokens),
        agents: given.agents.or(own.agents).or(usual.agents).map(u64::from),
        seconds: given.seconds.or(own.seconds).or(usual.seconds),
    })
}

/// The prompt's first characters, and dots: the seed's, whether it was cut or not.
fn summary_of(prompt: &str) -> String {
    let start: String =
        prompt.chars().take(SUMMARY).map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("{start}...")
}
