//! The operator's actions on loops.

use std::path::PathBuf;

use model::Timestamp;
use model::agent::Outcome;
use model::money::Usd;
use model::nearest::nearest;
use model::session::{LoopRequest, LoopState, Phase, check_name};
use serde_json::{Value, json};
use store::{Loop, LoopMessage, LoopOrder, StopRequest, Tx};
use wire::event::{self, EventData, LoopBegun, LoopStopping};
use wire::loops::{LoopMessageView, LoopView};

use super::drive::{end, tell};
use super::template::{VARIABLES, unknown};
use super::{commit, hook, view};
use crate::automation::loops::view::loop_message_view;
use crate::automation::service::Automation;
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::core::settings::Settings;
use crate::crew::run::{draft, stop};

/// No specification is longer.
const MAX_SPEC_BYTES: usize = 512 << 10;
/// No template and nothing beside the specification is longer.
const MAX_TEXT_BYTES: usize = 128 << 10;
/// No message is longer.
const MAX_MESSAGE_BYTES: usize = 32 << 10;
/// Maximum number of undelivered messages.
const MAX_WAITING_MESSAGES: i64 = 100;
/// Nobody needs more iterations.
const MAX_ITERATIONS: u32 = 100_000;

/// A loop to be begun, or to be given more to do.
#[derive(Debug, Clone, Default)]
pub struct LoopStart {
    /// Its name
    pub name: String,
    /// Changed options
    pub change: LoopChange,
}

/// Changed options of a loop. An absent one keeps its value, else its default.
#[derive(Debug, Clone, Default)]
pub struct LoopChange {
    /// The specification
    pub spec: Option<String>,
    /// Where it was read
    pub spec_path: Option<String>,
    /// Further iterations; 0 is no limit
    pub iterations: Option<u32>,
    /// The kind that runs its agents
    pub kind: Option<String>,
    /// Their role
    pub role: Option<String>,
    /// Text added to the prompt of each iteration
    pub extra: Option<String>,
    /// The text of their prompt
    pub template: Option<String>,
    /// True if each iteration's changes are committed
    pub commit: Option<bool>,
    /// Total budget in dollars
    pub budget: Option<f64>,
    /// Where its agents work
    pub cwd: Option<String>,
}

/// When a loop is to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PauseWhen {
    /// When the iteration is over
    After,
    /// Now: its agent is ended
    Now,
}

impl Automation {
    /// Begins a loop, or gives one that waits or is over more to do.
    pub async fn loop_start(&self, start: LoopStart) -> Result<LoopView, ToolError> {
        check_name(&start.name).map_err(|error| {
            ToolError::invalid(error.to_string())
                .hint("choose another name, for example `auth`")
                .detail("field", "name")
        })?;
        let name = start.name.clone();
        let known = self.store.read(|tx| tx.loop_get(&name))?;
        if let Some(row) = known.as_ref().filter(|row| row.is_live()) {
            return Err(running(row));
        }
        let settings = self.settings();
        let change = self.read_files(start.change, known.as_ref(), &settings).await?;
        let order = order(&settings, known.as_ref(), &change)?;
        let (checked, dir) = (order.clone(), change.cwd.clone());
        self.outside(move |engine| look(engine, &checked, dir.as_deref())).await?;
        self.go_on(name, order, change.iterations, "operator__loop_start").await
    }

    /// Lets a loop that waits go on.
    pub async fn loop_resume(&self, name: &str) -> Result<LoopView, ToolError> {
        let row = self.find_loop(name)?;
        match row.state {
            LoopState::Paused => {}
            _ if row.is_live() => return Err(running(&row)),
            state => {
                return Err(ToolError::conflict(format!("the loop `{name}` is over: {state}"))
                    .hint(format!(
                        "continue it with more iterations: `adjutant loop {name} --iterations 5`"
                    )));
            }
        }
        let settings = self.settings();
        let change = self.read_files(LoopChange::default(), Some(&row), &settings).await?;
        let order = order(&settings, Some(&row), &change)?;
        self.go_on(name.to_owned(), order, None, "operator__loop_resume").await
    }

    /// Lets a loop wait, after its iteration or at once.
    pub async fn loop_pause(&self, name: &str, when: PauseWhen) -> Result<LoopView, ToolError> {
        let row = self.find_loop(name)?;
        if row.state != LoopState::Running {
            let state = row.state;
            return Err(ToolError::conflict(format!("the loop `{name}` does not run: {state}")));
        }
        self.wanted(name, LoopRequest::Pause, when, "operator__loop_pause").await
    }

    /// Ends a loop, with the agent that works for it.
    pub async fn loop_stop(&self, name: &str) -> Result<LoopView, ToolError> {
        let row = self.find_loop(name)?;
        // One that is over and has hooks left may wait for their variables.
        if row.state.is_over() && !row.is_live() {
            let state = row.state;
            return Err(ToolError::conflict(format!("the loop `{name}` is over: {state}")));
        }
        self.wanted(name, LoopRequest::Stop, PauseWhen::Now, "operator__loop_stop").await
    }

    /// Leaves word for a loop's next agent.
    pub async fn loop_say(&self, name: &str, body: String) -> Result<LoopMessageView, ToolError> {
        bounded("text", &body, MAX_MESSAGE_BYTES)?;
        if body.trim().is_empty() {
            return Err(ToolError::invalid("`text` is empty").detail("field", "text"));
        }
        let row = self.find_loop(name)?;
        let (engine, session) = (self.clone(), row.session);
        let message = self.store.write(move |tx| {
            let now = engine.now();
            if tx.loop_messages_waiting_count(&session)? >= MAX_WAITING_MESSAGES {
                return Err(ToolError::conflict(format!(
                    "`{session}` already has {MAX_WAITING_MESSAGES} messages waiting; that is the limit"
                )));
            }
            let message = tx.loop_message_insert(&session, "operator", &body, now)?;
            let data = EventData::LoopMessage(event::LoopMessage {
                session: session.clone(),
                message: message.number,
            });
            tell(tx, None, data, now)?;
            let input =
                crate::core::redact::redact(json!({ "loop": session, "text": body }).to_string());
            let output = json!({ "message": message.number });
            tx.audit_append(&engine.operator_row("operator__loop_say", None, input, &output))?;
            Ok::<LoopMessage, ToolError>(message)
        });
        Ok(loop_message_view(message.await?))
    }

    /// The loop of that name, or an error that names the nearest.
    pub(super) fn find_loop(&self, name: &str) -> Result<Loop, ToolError> {
        if let Some(row) = self.store.read(|tx| tx.loop_get(name))? {
            return Ok(row);
        }
        let names = self.store.read(|tx| tx.loop_names(200))?;
        let error = ToolError::not_found(format!("there is no loop `{name}`"));
        Err(match nearest(name, names.iter().map(String::as_str)) {
            Some(near) => error.hint(format!("did you mean `{near}`?")).detail("nearest", near),
            None => error.hint("`adjutant loop list` lists them"),
        })
    }

    /// Reads what is not given and stands in files: the specification as it is now, the project's own template.
    async fn read_files(
        &self,
        mut change: LoopChange,
        known: Option<&Loop>,
        settings: &Settings,
    ) -> Result<LoopChange, ToolError> {
        let path = known.and_then(|row| row.order.spec_path.clone());
        if let (None, Some(path)) = (&change.spec, path) {
            let file = PathBuf::from(&path);
            let read =
                self.outside(move |_| host::files::read(&file).map_err(ToolError::internal)).await;
            match read {
                Ok(Some(text)) => change.spec = Some(text),
                // What was read before is as good as ever.
                Ok(None) | Err(_) => {
                    tracing::warn!(path, "specification file of a loop is gone");
                }
            }
        }
        if let (None, Some(file)) = (&change.template, &settings.loops.template) {
            let place = self.options.project.join(file);
            let read = self
                .outside(move |_| host::files::read(&place).map_err(ToolError::internal))
                .await?;
            let text = read.ok_or_else(|| {
                ToolError::not_found(format!(
                    "`loop.template` names `{file}`, which does not exist"
                ))
                .hint("`adjutant loop template` prints the built-in one as a start")
            })?;
            change.template = Some(text);
        }
        Ok(change)
    }

    /// Writes down that a loop goes on.
    async fn go_on(
        &self,
        name: String,
        order: LoopOrder,
        iterations: Option<u32>,
        act: &'static str,
    ) -> Result<LoopView, ToolError> {
        let (engine, settings) = (self.clone(), self.settings());
        let row = self.store.write(move |tx| {
            let now = engine.now();
            let (mut row, new) = match tx.loop_get(&name)? {
                Some(row) if row.is_live() => return Err(running(&row)),
                Some(row) => (row, false),
                None => (tx.loop_insert(&name, &order, now)?, true),
            };
            let was = row.state;
            let anew = new || was.is_over();
            let given = iterations.or(anew.then_some(settings.loops.iterations));
            if let Some(more) = given {
                let done = if new { 0 } else { row.next.saturating_sub(1).max(row.iteration) };
                row.last = (more > 0).then(|| done.saturating_add(more));
            }
            tx.session_ensure(&name, now)?;
            if anew {
                tx.session_reopen(&name)?;
                row.phase = Phase::Opening;
                row.seen = tx.event_last()?;
            }
            row.order = order.clone();
            row.state = LoopState::Running;
            row.step = 0;
            row.hook_run = None;
            row.request = None;
            row.why = None;
            row.failures = 0;
            row.most_failures = settings.loops.failures;
            row.ended_at = None;
            tx.loop_save(&row, now)?;
            let begun = LoopBegun {
                session: name.clone(),
                role: order.role.clone(),
                kind: order.kind.clone(),
                iterations: row.last,
                iteration: row.next,
            };
            let event = if anew { EventData::LoopStarted } else { EventData::LoopResumed };
            tell(tx, None, event(begun), now)?;
            let input = json!({
                "loop": name, "role": order.role, "kind": order.kind, "specPath": order.spec_path,
                "iterations": iterations, "commit": order.commits, "extra": order.extra,
            });
            record(tx, &engine, act, &input, &row)?;
            Ok::<_, ToolError>(row)
        });
        view::of(self, row.await?).await
    }

    /// Writes down what is wanted of a loop. What has no agent follows it at once.
    async fn wanted(
        &self,
        name: &str,
        request: LoopRequest,
        when: PauseWhen,
        act: &'static str,
    ) -> Result<LoopView, ToolError> {
        let (engine, name, settings) = (self.clone(), name.to_owned(), self.settings());
        let row = self.store.write(move |tx| {
            let now = engine.now();
            let missing = || ToolError::not_found(format!("there is no loop `{name}`"));
            let mut row = tx.loop_get(&name)?.ok_or_else(missing)?;
            if row.state == LoopState::Paused {
                end(&mut row, LoopState::Stopped, "you stopped it".to_owned());
            } else {
                row.request = Some(request);
            }
            tx.loop_save(&row, now)?;
            let (session, iteration) = (name.clone(), row.iteration);
            let data = EventData::LoopStopping(LoopStopping { session, request, iteration });
            tell(tx, None, data, now)?;
            if let (PauseWhen::Now, Phase::Working, Some(agent)) = (when, row.phase, row.agent) {
                end_agent(tx, &settings, agent, &row, request, now)?;
            }
            let input = json!({ "loop": name, "now": when == PauseWhen::Now });
            record(tx, &engine, act, &input, &row)?;
            Ok::<_, ToolError>(row)
        });
        view::of(self, row.await?).await
    }
}

fn end_agent(
    tx: &mut Tx<'_>,
    settings: &Settings,
    agent: model::AgentId,
    row: &Loop,
    request: LoopRequest,
    now: Timestamp,
) -> Result<(), ToolError> {
    let reason = match request {
        LoopRequest::Pause => format!("the loop `{}` is to wait", row.session),
        LoopRequest::Stop => format!("the loop `{}` was stopped", row.session),
    };
    stop::stop_tree(tx, settings, agent, &StopRequest { outcome: Outcome::Killed, reason }, now)
}

fn record(
    tx: &mut Tx<'_>,
    engine: &Core,
    act: &str,
    input: &Value,
    row: &Loop,
) -> Result<(), ToolError> {
    let output = json!({ "loop": row.session, "state": row.state });
    let input = crate::core::redact::redact(input.to_string());
    tx.audit_append(&engine.operator_row(act, None, input, &output))?;
    Ok(())
}

fn running(row: &Loop) -> ToolError {
    let name = &row.session;
    ToolError::conflict(format!(
        "the loop `{name}` is already running: iteration {}",
        row.iteration_about()
    ))
    .hint(format!("see it with `adjutant loop follow {name}`"))
    .hint(format!("or let it wait first: `adjutant loop pause {name}`"))
}

fn bounded(field: &str, text: &str, most: usize) -> Result<(), ToolError> {
    if text.len() <= most {
        return Ok(());
    }
    Err(ToolError::invalid(format!("`{field}` is {} bytes; the limit is {most}", text.len()))
        .detail("field", field))
}

/// Options of a loop: the new ones, else the old ones, else the defaults.
fn order(
    settings: &Settings,
    known: Option<&Loop>,
    change: &LoopChange,
) -> Result<LoopOrder, ToolError> {
    let before = known.map(|row| &row.order);
    let spec = change.spec.clone().or_else(|| before.map(|order| order.spec.clone()));
    let spec = spec.filter(|spec| !spec.trim().is_empty()).ok_or_else(|| {
        ToolError::invalid("a new loop needs a specification that is not empty")
            .hint("name its file: `--spec FILE`")
            .detail("field", "spec")
    })?;
    bounded("spec", &spec, MAX_SPEC_BYTES)?;
    let kept = |new: &Option<String>, old: fn(&LoopOrder) -> &Option<String>| {
        new.clone().or_else(|| before.and_then(|order| old(order).clone()))
    };
    let extra = kept(&change.extra, |order| &order.extra);
    bounded("extra", extra.as_deref().unwrap_or_default(), MAX_TEXT_BYTES)?;
    let template = kept(&change.template, |order| &order.template);
    bounded("template", template.as_deref().unwrap_or_default(), MAX_TEXT_BYTES)?;
    if let Some(wrong) = template.as_deref().and_then(|text| unknown(text, &VARIABLES)) {
        let message =
            format!("the template has a variable `{{{{{}}}}}`, which is unknown", wrong.name);
        let error = ToolError::invalid(message).detail("field", "template");
        return Err(match wrong.near {
            Some(near) => error.hint(format!("did you mean `{{{{{near}}}}}`?")),
            None => error.hint(format!("there are {}", VARIABLES.join(", "))),
        });
    }
    if change.iterations.is_some_and(|many| many > MAX_ITERATIONS) {
        let message =
            format!("`iterations` must be from 0, which is no limit, to {MAX_ITERATIONS}");
        return Err(ToolError::invalid(message).detail("field", "iterations"));
    }
    if change.budget.is_some_and(|usd| Usd::check_dollars(usd).is_err() || usd <= 0.0) {
        return Err(ToolError::invalid("`budget` must be greater than 0").detail("field", "budget"));
    }
    let role = change.role.clone().or_else(|| before.map(|order| order.role.clone()));
    let role = role.unwrap_or_else(|| settings.loops.role.clone());
    draft::find_role(settings, &role)?;
    let kind = kept(&change.kind, |order| &order.kind);
    if let Some(kind) = kind.as_deref().filter(|kind| host::agent::kind(kind).is_none()) {
        let known: Vec<&str> = host::agent::KINDS.iter().map(|kind| kind.name()).collect();
        let message = format!("there is no kind of agent `{kind}`; there are {}", known.join(", "));
        return Err(ToolError::invalid(message).detail("field", "agent"));
    }
    Ok(LoopOrder {
        role,
        kind,
        cwd: kept(&change.cwd, |order| &order.cwd),
        extra,
        spec_path: kept(&change.spec_path, |order| &order.spec_path),
        spec,
        template,
        commits: change
            .commit
            .or(before.map(|order| order.commits))
            .unwrap_or(settings.loops.commit),
        cap: change.budget.map(Usd::from_dollars).or_else(|| before.and_then(|order| order.cap)),
        environment: hook::variable_names(settings)?,
    })
}

/// Looks whether the loop's folder is there, and whether it can be committed to. Blocks.
fn look(engine: &Core, order: &LoopOrder, given: Option<&str>) -> Result<(), ToolError> {
    let project = &engine.options.project;
    let dir = order.cwd.as_ref().map_or_else(|| project.clone(), |cwd| project.join(cwd));
    if !dir.is_dir() {
        let message = format!("the folder of the loop, `{}`, is not a folder", dir.display());
        let error = ToolError::invalid(message).detail("field", "cwd");
        return Err(if given.is_some() {
            error
        } else {
            error.hint("choose another with `--cwd`")
        });
    }
    if order.commits { commit::can_commit(engine, &dir) } else { Ok(()) }
}
