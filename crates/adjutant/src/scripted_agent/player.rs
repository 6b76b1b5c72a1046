//! Plays the steps of a scenario in order, and reports the step that failed.

use std::cell::{Cell, RefCell};
use std::error::Error;
use std::fmt::Write as _;
use std::io;
use std::time::{Duration, TryFromFloatSecsError};

use engine::Code;
use futures_util::future::try_join_all;
use host::process;
use model::Timestamp;
use model::nearest::nearest;
use serde::Deserialize as _;
use serde_json::Value;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::sleep;
use wire::error::ErrorBody;

use super::matching::{Mismatch, compare, shown};
use super::mcp::{CallError, CallOptions, Mcp, Progress};
use super::output::{self, Filler, Report, ResultLine, ToolUse, Usage};
use super::scenario::{Act, Call, Flood, Limited, Outcome, OwnTool, Step, TokenUse};
use super::template::{Scope, TemplateError, Templated};
use super::work::{Committed, Folder, WorkError};
use crate::app;

/// Wait of a call for a server that is gone.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(120);
/// Default wait for a file.
const NO_FILE: f64 = 600.0;

/// The agent, as far as its steps need it.
#[derive(Debug)]
pub(super) struct Player {
    /// Name of the scenario in messages
    pub(super) name: String,
    pub(super) folder: Folder,
    /// None where the environment names no server
    pub(super) mcp: Option<Mcp>,
    pub(super) patience: Option<Duration>,
    /// Number of its own tool uses reported
    pub(super) uses: Cell<u64>,
    /// Result to report
    pub(super) result: RefCell<Option<ResultLine>>,
}

/// Why the play ended before its last step.
#[derive(Debug)]
pub(super) enum Stop {
    /// It failed, and this is what it says
    Failed(String),
    /// It was to end with this code and no more words
    Exit(u8),
}

/// Why a step was not done, or was the last.
#[derive(Debug, thiserror::Error)]
enum StepError {
    #[error("it was the last step")]
    Stop(Stop),
    #[error(transparent)]
    Template(#[from] TemplateError),
    #[error("`{tool}` was not answered")]
    Call {
        tool: String,
        #[source]
        source: CallError,
    },
    #[error("`{tool}` failed: {}", error_message(error))]
    Refused { tool: String, error: Value },
    #[error("`{tool}` should fail with {code}, and {happened}")]
    NotRefused { tool: String, code: &'static str, happened: String },
    #[error("`{tool}`: {mismatch}")]
    Unexpected { tool: String, mismatch: Mismatch },
    #[error("`{tool}`: after {tries} tries {mismatch}")]
    Never { tool: String, tries: u64, mismatch: Mismatch },
    #[error("the tool `{name}` is not listed{}", near.as_deref().map(|near| format!("; there is `{near}`")).unwrap_or_default())]
    NotListed { name: String, near: Option<String> },
    #[error("the tool `{0}` is listed and should not be")]
    Listed(String),
    #[error(
        "there is no server to call: `ADJUTANT_URL` and `ADJUTANT_TOKEN` are not set, as they are for \
         every agent"
    )]
    NoServer,
    #[error(transparent)]
    Work(#[from] WorkError),
    #[error("that is no length of time")]
    Time(#[from] TryFromFloatSecsError),
    #[error("`{text}` is not a time")]
    Until { text: String },
    #[error("could not write")]
    Output(#[from] io::Error),
}

impl From<Stop> for StepError {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

impl Player {
    /// Plays steps to the end of the last, or to the first that does not succeed.
    pub(super) async fn play(&self, steps: &[Step], scope: &mut Scope) -> Result<(), Stop> {
        for step in steps {
            self.step(&step.act, scope).await.map_err(|error| match error {
                StepError::Stop(stop) => stop,
                error => Stop::Failed(format!("{}:{}: {}", self.name, step.line, whole(&error))),
            })?;
        }
        Ok(())
    }

    async fn step(&self, act: &Act, scope: &mut Scope) -> Result<(), StepError> {
        match act {
            Act::Say(text) => output::line(&scope.text(text)?)?,
            Act::Call(call) => Box::pin(self.call(call, scope)).await?,
            Act::ExpectTools(names) => self.listed(names, scope, Expected::There).await?,
            Act::ExpectNoTools(names) => self.listed(names, scope, Expected::Absent).await?,
            Act::Write(file) => {
                self.folder.write(&scope.text(&file.path)?, &scope.text(&file.text)?)?;
            }
            Act::Append(file) => {
                self.folder.append(&scope.text(&file.path)?, &scope.text(&file.text)?)?;
            }
            Act::Commit(message) => {
                if self.folder.commit(&scope.text(message)?).await? == Committed::Nothing {
                    output::line("nothing to commit")?;
                }
            }
            Act::Run(run) => {
                let command = run.command.iter().map(|word| scope.text(word));
                let command = command.collect::<Result<Vec<String>, _>>()?;
                self.folder.run(&command, run.code).await?;
            }
            Act::Sleep(given) => sleep(seconds(given, scope)?).await,
            Act::Burn(burn) => burned(burn, scope)?,
            Act::Model(name) => output::report(&Report::Model(scope.text(name)?))?,
            Act::Limited(limited) => said_limited(limited, scope)?,
            Act::Tool(tool) => self.used(tool, scope)?,
            Act::WaitFile(file) => {
                let limit = file.seconds.as_ref().unwrap_or(&Templated::Known(NO_FILE));
                self.folder.wait(&scope.text(&file.path)?, seconds(limit, scope)?).await?;
            }
            Act::Repeat { times, steps } => Box::pin(self.repeat(times, steps, scope)).await?,
            Act::Parallel(branches) => Box::pin(self.parallel(branches, scope)).await?,
            // The handler that this leaves behind stays, and does nothing.
            Act::Deaf => drop(signal(SignalKind::terminate())?),
            Act::Print(flood) => poured(flood, scope)?,
            Act::CloseOutput => output::close()?,
            Act::Fail(why) => return Err(Stop::Failed(scope.text(why)?).into()),
            Act::Exit(code) => return Err(Stop::Exit(code.get(scope)?).into()),
            Act::Crash => {
                process::kill(std::process::id())?;
                // The signal may take a moment.
                std::future::pending::<()>().await;
            }
            Act::Result(outcome) => {
                *self.result.borrow_mut() = Some(self.result_of(outcome, scope)?);
            }
        }
        Ok(())
    }

    fn mcp(&self) -> Result<&Mcp, StepError> {
        self.mcp.as_ref().ok_or(StepError::NoServer)
    }

    async fn call(&self, call: &Call, scope: &mut Scope) -> Result<(), StepError> {
        let tool = scope.text(&call.tool)?;
        let Value::Object(with) = scope.value(&call.with.clone().into())? else { return Ok(()) };
        let until = call.until.as_ref().map(|until| scope.value(until)).transpose()?;
        let patience = call.patience.or(self.patience).unwrap_or(RECONNECT_TIMEOUT);
        // Who waits wants to hear that it is not forgotten; everybody else is answered at once.
        let progress = if until.is_some() { Progress::Wanted } else { Progress::Needless };
        let (tries, pause) = (call.tries.get(scope)?, seconds(&call.pause, scope)?);
        let mut tried = 0;
        let answer = loop {
            let answer =
                self.mcp()?.call(&tool, with.clone(), CallOptions { patience, progress }).await;
            let answer = answer.map_err(|source| StepError::Call { tool: tool.clone(), source })?;
            let answer = expected(&tool, call, answer)?;
            tried += 1;
            match until.as_ref().map(|until| compare(until, &answer)) {
                Some(Err(mismatch)) if tried >= tries => {
                    return Err(StepError::Never { tool, tries, mismatch });
                }
                Some(Err(_)) => sleep(pause).await,
                Some(Ok(())) | None => break answer,
            }
        };
        if let Some(expect) = &call.expect {
            compare(&scope.value(expect)?, &answer)
                .map_err(|mismatch| StepError::Unexpected { tool, mismatch })?;
        }
        if let Some(name) = &call.save {
            scope.set(name, answer);
        }
        Ok(())
    }

    async fn listed(
        &self,
        names: &[String],
        scope: &Scope,
        expected: Expected,
    ) -> Result<(), StepError> {
        let patience = self.patience.unwrap_or(RECONNECT_TIMEOUT);
        let tool = || "tools/list".to_owned();
        let list = self.mcp()?.tools(patience).await;
        let list = list
            .map_err(|source| StepError::Call { tool: tool(), source })?
            .map_err(|error| StepError::Refused { tool: tool(), error })?;
        for name in names {
            let name = scope.text(name)?;
            match (list.contains(&name), expected) {
                (false, Expected::There) => {
                    let near = nearest(&name, list.iter().map(String::as_str)).map(str::to_owned);
                    return Err(StepError::NotListed { name, near });
                }
                (true, Expected::Absent) => return Err(StepError::Listed(name)),
                (true, Expected::There) | (false, Expected::Absent) => {}
            }
        }
        Ok(())
    }

    async fn repeat(
        &self,
        times: &Templated<u64>,
        steps: &[Step],
        scope: &mut Scope,
    ) -> Result<(), StepError> {
        for i in 1..=times.get(scope)? {
            let before = scope.set("i", i);
            let played = self.play(steps, scope).await;
            scope.restore("i", before);
            played?;
        }
        Ok(())
    }

    async fn parallel(&self, branches: &[Vec<Step>], scope: &mut Scope) -> Result<(), StepError> {
        let origin = scope.clone();
        let playing = branches.iter().map(|steps| {
            let mut own = origin.clone();
            async move { self.play(steps, &mut own).await.map(|()| own) }
        });
        for own in try_join_all(playing).await? {
            scope.merge(&origin, own);
        }
        Ok(())
    }

    /// Reports a use of a tool of the agent's own.
    fn used(&self, tool: &OwnTool, scope: &Scope) -> Result<(), StepError> {
        self.uses.set(self.uses.get() + 1);
        let id = format!("use-{}", self.uses.get());
        let name = scope.text(&tool.name)?;
        let input = tool.input.as_ref().map(|input| scope.value(input)).transpose()?;
        let error = tool.error.as_ref().map(|error| scope.text(error)).transpose()?;
        let begins = ToolUse { id: id.clone(), name: Some(name), input, ..ToolUse::default() };
        let ends = ToolUse { id, error, done: Some(true), ..ToolUse::default() };
        output::report(&Report::Tool(begins))?;
        output::report(&Report::Tool(ends))?;
        Ok(())
    }

    fn result_of(&self, outcome: &Outcome, scope: &Scope) -> Result<ResultLine, TemplateError> {
        let list =
            |items: &[Value]| items.iter().map(|item| scope.value(item)).collect::<Result<_, _>>();
        Ok(ResultLine {
            status: scope.text(&outcome.status)?,
            summary: match &outcome.summary {
                Some(summary) => scope.text(summary)?,
                None => self.summary(),
            },
            changes: list(&outcome.changes)?,
            issues: list(&outcome.issues)?,
            questions: list(&outcome.questions)?,
        })
    }

    /// Default summary.
    fn summary(&self) -> String {
        format!("played `{}` to its end", self.name)
    }

    /// Result of a successful run.
    pub(super) fn good_end(&self) -> ResultLine {
        let error_message = self.result.borrow_mut().take();
        error_message.unwrap_or_else(|| ResultLine::bare("success", self.summary()))
    }
}

/// Expected presence of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    There,
    Absent,
}

/// The answer, or the error, if that is what was expected.
fn expected(tool: &str, call: &Call, answer: Result<Value, Value>) -> Result<Value, StepError> {
    let tool = tool.to_owned();
    match (answer, call.fails) {
        (Ok(answer), None) => Ok(answer),
        (Err(error), None) => Err(StepError::Refused { tool, error }),
        (Err(error), Some(code)) if has_code(&error, code) => Ok(error),
        (Err(error), Some(code)) => {
            let happened = format!("failed with {}", error_message(&error));
            Err(StepError::NotRefused { tool, code: code.name(), happened })
        }
        (Ok(answer), Some(code)) => {
            let happened = format!("answered {}", shown(&answer));
            Err(StepError::NotRefused { tool, code: code.name(), happened })
        }
    }
}

fn has_code(error: &Value, code: Code) -> bool {
    ErrorBody::deserialize(error).is_ok_and(|body| body.code == code.name())
}

/// Text of an error.
fn error_message(error: &Value) -> String {
    match ErrorBody::deserialize(error) {
        Ok(ErrorBody { code, message, .. }) => format!("{code}: {message}"),
        Err(_) => shown(error),
    }
}

fn seconds(given: &Templated<f64>, scope: &Scope) -> Result<Duration, StepError> {
    Ok(Duration::try_from_secs_f64(given.get(scope)?)?)
}

fn burned(burn: &TokenUse, scope: &Scope) -> Result<(), StepError> {
    let number =
        |given: &Option<Templated<u64>>| given.as_ref().map(|given| given.get(scope)).transpose();
    let usage = Usage {
        input_tokens: number(&burn.input_tokens)?,
        output_tokens: number(&burn.output_tokens)?,
        cache_read_tokens: number(&burn.cache_read_tokens)?,
        cache_write_tokens: number(&burn.cache_write_tokens)?,
        cost_usd: burn.cost_usd.as_ref().map(|given| given.get(scope)).transpose()?,
    };
    Ok(output::report(&Report::Usage(usage))?)
}

fn said_limited(limited: &Limited, scope: &Scope) -> Result<(), StepError> {
    let until = match (&limited.until, &limited.seconds) {
        (Some(text), _) => {
            let text = scope.text(text)?;
            let at: Result<Timestamp, _> = text.parse();
            Some(at.map_err(|_| StepError::Until { text })?)
        }
        (None, Some(given)) => {
            let millis = seconds(given, scope)?.as_millis();
            let millis = i64::try_from(millis).unwrap_or(i64::MAX);
            Some(Timestamp::from_millis(app::now().as_millis().saturating_add(millis)))
        }
        (None, None) => None,
    };
    output::report(&Report::Limited { until: until.map(|at| at.to_string()) })?;
    Ok(())
}

fn poured(flood: &Flood, scope: &Scope) -> Result<(), StepError> {
    let filler = if flood.utf8 { Filler::Text } else { Filler::Binary };
    Ok(output::flood(flood.bytes.get(scope)?, flood.line.get(scope)?, filler)?)
}

/// An error with everything that caused it, in a line.
fn whole(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        // Writing to a String cannot fail.
        _ = write!(text, ": {cause}");
        next = cause.source();
    }
    text
}
