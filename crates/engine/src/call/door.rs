//! The door: every call through every interface passes here.
//!
//! It finds out who calls, checks what they may, runs the tool, records the call, tries again what
//! may be tried again, and escalates what the caller cannot mend.

mod keys;
#[cfg(test)]
mod tests;
mod waiting;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use model::agent::AgentState;
use model::{AgentId, Timestamp};
use serde_json::Value;
use store::{AuditDraft, Tx};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::call::activity::{self, Span, SpanKind};
use crate::call::cx::{Caller, ReadCx, WriteCx, find_agent};
use crate::call::escalate;
use crate::call::identity::Principal;
use crate::call::observer::CallNote;
use crate::call::service::Calls;
use crate::call::tool::{Asking, Effect, Output, Shape, ToolDef, WaitLook, bare_of};
use crate::core::error::{Code, ToolError};
use crate::core::redact::{Recorded, redact};
use crate::core::settings::Settings;

/// Transient failures are tried so many more times.
const RETRIES: u32 = 3;
/// Recorded output of an external effect that has started.
const BEGUN: &str = r#"{"begun":true}"#;

/// A request to use a tool.
#[derive(Debug, Clone)]
pub struct Call {
    /// Principal of the credential
    pub principal: Principal,
    /// The agent in whose name the operator acts
    pub as_agent: Option<AgentId>,
    /// Tool name
    pub tool: &'static ToolDef,
    /// With what
    pub input: Value,
    /// Idempotency key. The same call with the same key is done
    /// once and answered as often as it comes, so that it may be sent again when its answer was lost.
    pub key: Option<String>,
}

/// A call that failed: why, and who is to be told as whom.
#[derive(Debug)]
pub struct Failure {
    /// Why
    pub error: ToolError,
    /// The agent it concerns
    pub agent: Option<AgentId>,
    /// The tool
    pub tool: &'static str,
}

impl Failure {
    /// The body that the caller reads.
    pub fn body(&self) -> Value {
        self.error.body(self.tool, self.agent)
    }
}

/// Progress reports to a waiting caller, and its cancellation.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    /// Cancelled when the caller has gone
    pub gone: CancellationToken,
    /// Told how much time has passed, now and then; it always grows
    pub report: Option<tokio::sync::mpsc::Sender<Duration>>,
}

/// One call on its way through the door.
struct CallRun {
    engine: Calls,
    settings: Arc<Settings>,
    call: Call,
    /// The input as the record keeps it; made here, so that the writing thread need not
    recorded: Recorded,
    /// The input with the files in it that it names, where the tool has such
    loaded: OnceLock<Value>,
    began: Instant,
}

/// Start of an external effect.
struct StartedEffect {
    /// Caller, kept because the call may end it
    caller: Caller,
    ticket: Output,
}

impl Calls {
    /// Calls a tool.
    pub async fn call(&self, call: Call, progress: &Progress) -> Result<Output, Failure> {
        if let Some(home) = &self.options.shared_home {
            home.called();
        }
        let passage = Arc::new(CallRun {
            engine: self.clone(),
            settings: self.settings(),
            recorded: Recorded::of(&call.input),
            call,
            loaded: OnceLock::new(),
            began: Instant::now(),
        });
        if let Err(error) = passage.check_key().and_then(|()| passage.pace()) {
            return Err(Box::pin(passage.failed(error)).await);
        }
        passage.shown();
        let mut begun = None;
        let mut tried = 0;
        loop {
            match passage.run(&mut begun, progress).await {
                Err(error) if error.may_pass() && tried < RETRIES => {
                    tried += 1;
                    tokio::time::sleep(self.options.retry_after).await;
                }
                Err(error) => {
                    passage.noticed(Some(&error));
                    return Err(Box::pin(passage.failed(error)).await);
                }
                Ok(output) => {
                    passage.noticed(None);
                    return Ok(output);
                }
            }
        }
    }

    /// Resolves a principal to a caller, from the record.
    pub fn caller(
        &self,
        principal: Principal,
        as_agent: Option<AgentId>,
    ) -> Result<Caller, ToolError> {
        self.store.read(|tx| resolve(tx, principal, as_agent))
    }
}

impl Calls {
    /// Counts a call, or a request that costs as much as one, against the caller's rate. The operator
    /// has none.
    pub fn pace(&self, principal: Principal) -> Result<(), ToolError> {
        let Principal::Agent(agent) = principal else { return Ok(()) };
        let limit = self.settings().limits.calls_per_minute;
        if self.rates.take(agent, limit, self.elapsed()) {
            return Ok(());
        }
        let message = format!("more than {limit} calls in a minute");
        Err(ToolError::new(Code::RateLimited, message)
            .hint("wait a few seconds, or use `waitSeconds` instead of polling"))
    }
}

/// Error for a viewer that tries to act.
pub fn read_only() -> ToolError {
    ToolError::denied("this link is read-only")
        .hint("ask the operator for an operator link from `adjutant open`")
}

/// Finds out who calls. An agent that has ended is nobody any more.
fn resolve(
    tx: &Tx<'_>,
    principal: Principal,
    as_agent: Option<AgentId>,
) -> Result<Caller, ToolError> {
    let (id, by_operator) = match (principal, as_agent) {
        (Principal::Operator, None) => return Ok(Caller { agent: None, by_operator: true }),
        (Principal::Operator, Some(id)) => (id, true),
        (Principal::Agent(id), None) => (id, false),
        (Principal::Agent(id), Some(other)) if id == other => (id, false),
        (Principal::Agent(_), Some(other)) => {
            return Err(ToolError::denied(format!(
                "this token does not belong to agent `{other}`"
            ))
            .hint("omit `agentId`: the token identifies you"));
        }
        (Principal::Viewer, _) => return Err(read_only()),
    };
    let agent = find_agent(tx, id)?;
    if matches!(agent.state, AgentState::Ended { .. }) {
        return Err(if by_operator {
            ToolError::wrong_state(format!("agent `{id}` has ended"))
        } else {
            ToolError::new(Code::Unauthenticated, "this token is void: its agent has ended")
        });
    }
    Ok(Caller { agent: Some(agent), by_operator })
}

impl CallRun {
    fn now(&self) -> Timestamp {
        self.engine.now()
    }

    /// Shows those who look on what the caller does now.
    fn shown(&self) {
        let Principal::Agent(agent) = self.call.principal else { return };
        let kind = if self.awaits() { SpanKind::Wait } else { SpanKind::Work };
        let span = Span { from: self.now().as_millis(), to: None, kind };
        let tool = bare_of(self.call.tool.name);
        self.engine.activity.called(agent, tool, activity::about(&self.call.input), span);
    }

    /// True if the tool makes its caller wait for others.
    const fn awaits(&self) -> bool {
        let tool = self.call.tool;
        match tool.shape {
            Shape::Wait(_) => true,
            Shape::Ask(_) => tool.starts_agents,
            Shape::Read(_) | Shape::Probe(_) | Shape::Write(_) => false,
        }
    }

    /// Tells the caller's keeper, if it has one: a sign of life, or one of going round in circles.
    fn noticed(&self, error: Option<&ToolError>) {
        let Principal::Agent(agent) = self.call.principal else { return };
        if self.awaits() {
            self.engine.activity.waited(agent, self.now().as_millis());
        }
        let tool = self.call.tool;
        let note = || CallNote {
            tool: tool.name,
            input: self.call.input.to_string(),
            error: error.map(|error| error.message.clone()),
            polls: tool.effect() == Effect::Read || tool.bounded,
        };
        for observer in &self.engine.observers {
            observer.called(agent, &note);
        }
    }

    /// The agent that calls, or in whose name the operator does.
    fn subject(&self) -> Option<AgentId> {
        match self.call.principal {
            Principal::Agent(id) => Some(id),
            Principal::Operator => self.call.as_agent,
            Principal::Viewer => None,
        }
    }

    /// Checks what the caller may, in the words of the office.
    fn admit(&self, caller: &Caller) -> Result<(), ToolError> {
        caller.check_may(&self.settings, self.call.tool.governed_by)
    }

    /// Checks that the caller does not call too often. It counts, so it is done once a call and never
    /// in an operation, which may be run again.
    fn pace(&self) -> Result<(), ToolError> {
        self.engine.pace(self.call.principal)
    }

    /// Runs the tool. What has begun is left in `begun`, so that another try does not begin it again.
    async fn run(
        self: &Arc<Self>,
        begun: &mut Option<StartedEffect>,
        progress: &Progress,
    ) -> Result<Output, ToolError> {
        match self.call.tool.shape {
            Shape::Read(read) => {
                let (output, caller) = self.look(|cx| read(cx, &self.call.input))?;
                self.record_look(&caller, &output).await?;
                Ok(output)
            }
            Shape::Probe(probe) => {
                let (probing, caller) = self.look(|cx| probe(cx, &self.call.input))?;
                let engine = self.engine.clone();
                let looked = tokio::task::spawn_blocking(move || probing(&engine)).await;
                let output = looked.map_err(ToolError::internal)??;
                self.record_look(&caller, &output).await?;
                Ok(output)
            }
            // Thousands may wait at the same time, each in a future inside of others, which are as large
            // as the largest thing that they may do: what waits has a place of its own.
            Shape::Wait(look) => Box::pin(self.run_wait(look, progress)).await,
            Shape::Write(write) => {
                let (passage, head) = (Arc::clone(self), self.head().await);
                self.engine.store.write(move |tx| passage.change(tx, write, head.clone())).await
            }
            Shape::Ask(ask) => Box::pin(self.run_ask(ask, begun, progress)).await,
        }
    }

    async fn run_wait(
        &self,
        look: fn(&ReadCx<'_>, &Value) -> Result<WaitLook, ToolError>,
        progress: &Progress,
    ) -> Result<Output, ToolError> {
        let mut last = None;
        let output = self
            .wait(progress, || {
                let (seen, caller) = self.look(|cx| look(cx, &self.call.input))?;
                last = Some(caller);
                Ok(seen)
            })
            .await?;
        if let Some(caller) = last {
            self.record_look(&caller, &output).await?;
        }
        Ok(output)
    }

    async fn run_ask(
        self: &Arc<Self>,
        ask: &'static dyn Asking,
        begun: &mut Option<StartedEffect>,
        progress: &Progress,
    ) -> Result<Output, ToolError> {
        let StartedEffect { caller, ticket } = if let Some(begun) = begun {
            begun
        } else {
            self.inspect(ask).await?;
            self.load().await?;
            let (passage, head) = (Arc::clone(self), self.head().await);
            let begin = self.engine.store.write(move |tx| passage.begin(tx, ask, head.clone()));
            begun.insert(begin.await?)
        };
        let look = |cx: &ReadCx<'_>| ask.look(cx, self.input(), ticket);
        let store = &self.engine.store;
        let see = || store.read(|tx| look(&self.reading(tx, caller)));
        let output = self.recorded.tell_writer(&self.call.input, self.wait(progress, see).await?);
        self.record_look(caller, &output).await?;
        Ok(output)
    }

    /// Checks what an agent's call names on the machine. What the operator names may lie anywhere.
    async fn inspect(self: &Arc<Self>, ask: &'static dyn Asking) -> Result<(), ToolError> {
        if !ask.inspects() {
            return Ok(());
        }
        let (is_answered, caller) = self.look(|cx| Ok(self.answered(cx.tx)?.is_some()))?;
        if is_answered || caller.by_operator {
            return Ok(());
        }
        let passage = Arc::clone(self);
        let inspected = tokio::task::spawn_blocking(move || {
            let engine = &passage.engine;
            ask.inspect(&[&engine.options.project, &engine.worktrees()], &passage.call.input)
        });
        inspected.await.map_err(ToolError::internal)?
    }

    /// The commit that is checked out where the caller works. Awaited before a transaction, never in one.
    async fn head(&self) -> Option<String> {
        self.engine.head_of(self.subject()).await
    }

    /// Reads the files that the input names, on a blocking thread: a transaction must not wait for them.
    async fn load(&self) -> Result<(), ToolError> {
        let Some(load) = self.call.tool.load_files else { return Ok(()) };
        let is_answered = self.engine.store.read(|tx| {
            self.enter(tx)?;
            Ok::<_, ToolError>(self.answered(tx)?.is_some())
        })?;
        if is_answered || self.loaded.get().is_some() {
            return Ok(());
        }
        let (settings, mut input) = (Arc::clone(&self.settings), self.call.input.clone());
        let loaded = self.engine.outside(move |_| {
            load(&settings.project, &mut input)?;
            Ok::<_, ToolError>(input)
        });
        // Nobody else sets it.
        drop(self.loaded.set(loaded.await?));
        Ok(())
    }

    /// The input as the tool gets it.
    fn input(&self) -> &Value {
        self.loaded.get().unwrap_or(&self.call.input)
    }

    /// Lets the caller in, or says why not.
    fn enter(&self, tx: &Tx<'_>) -> Result<Caller, ToolError> {
        let caller = resolve(tx, self.call.principal, self.call.as_agent)?;
        self.admit(&caller)?;
        Ok(caller)
    }

    /// Context of a reading tool.
    fn reading<'a>(&'a self, tx: &'a Tx<'a>, caller: &'a Caller) -> ReadCx<'a> {
        ReadCx { tx, caller, settings: &self.settings, now: self.now() }
    }

    /// Looks at one moment of the record.
    fn look<T>(
        &self,
        read: impl FnOnce(&ReadCx<'_>) -> Result<T, ToolError>,
    ) -> Result<(T, Caller), ToolError> {
        self.engine.store.read(|tx| {
            let caller = self.enter(tx)?;
            let seen = read(&self.reading(tx, &caller))?;
            Ok((seen, caller))
        })
    }

    /// Changes the record: the change, its events and its audit row in one transaction.
    fn change(
        &self,
        tx: &mut Tx<'_>,
        write: fn(&mut WriteCx<'_, '_>, &Value) -> Result<Output, ToolError>,
        head: Option<String>,
    ) -> Result<Output, ToolError> {
        let caller = self.enter(tx)?;
        if let Some(output) = self.answered(tx)? {
            tx.audit_append_uncounted(&self.draft(&caller, None, output.text.clone(), head))?;
            return Ok(output);
        }
        let tell = |raw: &Value, output| self.recorded.tell_writer(raw, output);
        let output = self.act(tx, &caller, |cx, raw| Ok(tell(raw, write(cx, raw)?)))?;
        tx.audit_append(&self.draft(&caller, None, output.text.clone(), head))?;
        Ok(output)
    }

    /// Begins an effect on the outside: remembers it, with the first of its two audit rows.
    fn begin(
        &self,
        tx: &mut Tx<'_>,
        ask: &dyn Asking,
        head: Option<String>,
    ) -> Result<StartedEffect, ToolError> {
        let caller = self.enter(tx)?;
        if let Some(ticket) = self.answered(tx)? {
            return Ok(StartedEffect { caller, ticket });
        }
        let ticket = self.act(tx, &caller, |cx, raw| ask.begin(cx, raw))?;
        tx.audit_append_uncounted(&self.draft(&caller, None, BEGUN.to_owned(), head))?;
        Ok(StartedEffect { caller, ticket })
    }

    /// Does what a tool does to the record, and remembers it under the caller's key.
    fn act(
        &self,
        tx: &mut Tx<'_>,
        caller: &Caller,
        act: impl FnOnce(&mut WriteCx<'_, '_>, &Value) -> Result<Output, ToolError>,
    ) -> Result<Output, ToolError> {
        let now = self.now();
        let mut cx = WriteCx { tx, caller, settings: &self.settings, now };
        let output = act(&mut cx, self.input())?;
        if let Some(call) = self.keyed() {
            tx.idempotency_insert(&call, &output.text, now)?;
        }
        if let Some(agent) = caller.agent.as_ref().filter(|_| !caller.by_operator) {
            tx.agent_touch(agent.id, now)?;
        }
        Ok(output)
    }

    async fn record_look(&self, caller: &Caller, output: &Output) -> Result<(), ToolError> {
        let row = self.draft(caller, None, output.text.clone(), self.head().await);
        Ok(self.engine.store.audit_later(row).await?)
    }

    fn draft(
        &self,
        caller: &Caller,
        code: Option<&'static str>,
        output: String,
        head: Option<String>,
    ) -> AuditDraft {
        AuditDraft {
            at: self.now(),
            agent: caller.id(),
            by_operator: caller.by_operator,
            tool: self.call.tool.name.to_owned(),
            input: self.recorded.text.clone(),
            code,
            output: redact(output),
            duration_micros: i64::try_from(self.began.elapsed().as_micros()).unwrap_or(i64::MAX),
            git_commit: head,
        }
    }

    /// Records a failure, and tells those who must know of it.
    async fn failed(self: &Arc<Self>, error: ToolError) -> Failure {
        let tool = self.call.tool;
        let (agent, by_operator) = (self.subject(), self.call.principal == Principal::Operator);
        let body = error.body(tool.name, agent);
        let mut record = body.clone();
        let causes = error.causes();
        if !causes.is_empty()
            && let Value::Object(record) = &mut record
        {
            record.insert("causes".into(), causes.into());
        }
        let code = error.code;
        if code == Code::NoOwner {
            // Only the owner of the home records anything.
            return Failure { error, agent, tool: tool.name };
        }
        let (passage, head) = (Arc::clone(self), self.head().await);
        let written = self
            .engine
            .store
            .write(move |tx| {
                // A name that nobody has must not stand in the record as an agent's.
                let known = agent.map(|id| tx.agent_get(id)).transpose()?.flatten();
                let caller = Caller { agent: known, by_operator };
                let (code, output) = (Some(code.name()), record.to_string());
                tx.audit_append(&passage.draft(&caller, code, output, head.clone()))?;
                if let Some(agent) = caller.agent.as_ref().filter(|_| !by_operator) {
                    // Who fails is there.
                    tx.agent_touch(agent.id, passage.now())?;
                    escalate::escalate(tx, agent, tool, &body, passage.now())?;
                }
                Ok::<_, ToolError>(())
            })
            .await;
        if let Err(unwritten) = written {
            // The caller hears of its own failure; that it could not be recorded is ours.
            tracing::error!(
                tool = tool.name,
                causes = unwritten.causes(),
                "failed to record a failed call"
            );
        }
        Failure { error, agent, tool: tool.name }
    }
}
