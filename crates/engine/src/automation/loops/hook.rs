//! A command around an iteration: supervised as an agent is, in the loop's folder, with what `check` gets too. It outlives the
//! server; the next one hears how it ended.

use std::path::PathBuf;

use host::run::{EndCause, ExitRecord, Handover, RunFolder, Spec, Stdin};
use model::session::{LoopRequest, LoopState, Moment, Phase};
use store::Loop;
use tokio_util::sync::CancellationToken;

use super::template;
use crate::call::identity::hash_token;
use crate::core::durable;
use crate::core::error::ToolError;
use crate::core::handed_on::variable;
use crate::core::handle::Core;
use crate::core::point::Point;
use crate::core::settings::{HookSettings, Settings, SharedEnvironment};
use crate::core::virtual_env::SetUp;
use crate::delivery::command_environment::{CommandCaller, command_environment};
use crate::delivery::supervised::{self, CommandEnd};

/// Names of the variables that the server has for hooks, as they are kept with a loop.
pub(super) fn variable_names(settings: &Settings) -> Result<String, ToolError> {
    let names: Vec<&String> = settings.environment.values.iter().map(|(name, _)| name).collect();
    serde_json::to_string(&names).map_err(ToolError::internal)
}

/// Names of the variables that the server had for a loop's hooks when it was started, and that this one has not.
pub(super) fn missing_variables(engine: &Core, row: &Loop) -> Result<Vec<String>, ToolError> {
    let about = format_args!("loop `{}`", row.session);
    let had: Vec<String> = durable::decode(&row.order.environment, about, "environment")?;
    let settings = engine.settings();
    let SharedEnvironment { names, values } = &settings.environment;
    let is_missing = |name: &String| names.contains(name) && variable(values, name).is_none();
    Ok(had.into_iter().filter(is_missing).collect())
}

/// Why a loop's next hook is not begun, if it waits for variables.
pub(super) fn waits_for(engine: &Core, row: &Loop) -> Result<Option<String>, ToolError> {
    let settings = engine.settings();
    let moment = match row.phase {
        Phase::Opening => Moment::SessionStart,
        Phase::Before => Moment::PreIteration,
        Phase::Erring => Moment::OnError,
        Phase::After => Moment::PostIteration,
        Phase::Closing => Moment::SessionEnd,
        Phase::Working | Phase::Committing | Phase::Over => return Ok(None),
    };
    let index = usize::try_from(row.step).unwrap_or(usize::MAX);
    let hook = settings.loops.hooks.get(&moment).and_then(|hooks| hooks.get(index));
    let is_begun = |run| folder(engine, &row.session, run).path().is_dir();
    let is_waiting = row.is_live() && !row.hook_run.is_some_and(is_begun);
    let Some(hook) = hook.filter(|_| is_waiting) else { return Ok(None) };
    let missing = missing_variables(engine, row)?;
    Ok((!missing.is_empty()).then(|| why_waiting(row, hook, &missing)))
}

fn why_waiting(row: &Loop, hook: &HookSettings, missing: &[String]) -> String {
    let names: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
    let names = names.join(" and ");
    format!(
        "the hook `{}` waits for the environment variable {names}, which the loop was started with and the server does \
         not have; start the server with it, or take it out of `agents.environment` and run `adjutant reload`; \
         `adjutant loop stop {}` ends the loop without the hook",
        words(hook),
        row.session
    )
}

/// True if a person ends the loop: then nothing is waited for.
fn is_stopping(row: &Loop) -> bool {
    row.request == Some(LoopRequest::Stop)
        || (row.phase == Phase::Closing && row.state == LoopState::Stopped)
}

/// Values passed to a hook.
#[derive(Debug, Clone, Default)]
pub(super) struct About {
    /// The task that was completed: its number, as `TAS-3`
    pub(super) task: Option<String>,
    /// Content of that task
    pub(super) content: Option<String>,
    /// Error
    pub(super) error: Option<String>,
}

/// Outcome of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HookOutcome {
    /// It ended: why it failed, if it did, and its output
    To(Option<String>, String),
    /// It must be begun again
    ToNothing,
    /// It is not begun, for this reason
    Waits(String),
    /// The server ends
    Leaving,
}

/// Name of the folder with all hook runs of a session. A session's name may be long, and a socket's
/// path must be short.
pub(crate) fn hook_folder_name(session: &str) -> String {
    let name: String = hash_token(session).chars().take(12).collect();
    format!("loop-{name}")
}

/// The folder of one run of a hook.
fn folder(engine: &Core, session: &str, run: u32) -> RunFolder {
    let home = engine.options.state.join("runs").join(hook_folder_name(session));
    RunFolder::open(home.join(run.to_string()))
}

/// Runs a hook, or hears how it ended where it was begun before.
pub(super) async fn run(
    engine: &Core,
    row: &Loop,
    moment: Moment,
    hook: &HookSettings,
    about: &About,
    run: u32,
    shutdown: &CancellationToken,
) -> Result<HookOutcome, ToolError> {
    let folder = folder(engine, &row.session, run);
    let ours = !folder.path().is_dir();
    if ours {
        let missing = missing_variables(engine, row)?;
        if !missing.is_empty() {
            let why = why_waiting(row, hook, &missing);
            return Ok(if is_stopping(row) {
                HookOutcome::To(Some(why), String::new())
            } else {
                HookOutcome::Waits(why)
            });
        }
        let spec = match spec(engine, row, moment, hook, about) {
            Ok(spec) => spec,
            Err(why) => return Ok(HookOutcome::To(Some(why), String::new())),
        };
        let path = folder.path().to_owned();
        engine.may_act().await;
        let begun = engine
            .outside(move |engine| {
                let folder = RunFolder::create(path, &spec).map_err(ToolError::internal)?;
                folder
                    .start(&engine.options.adjutant, &Handover::new(&spec.environment))
                    .map_err(ToolError::internal)
            })
            .await;
        let mut begun = match begun {
            Ok(begun) => begun,
            Err(error) => return Ok(HookOutcome::To(Some(error.message), String::new())),
        };
        // An error means that the supervisor is gone; its folder tells the rest.
        drop(begun.ready().await);
        engine.point(Point::LoopHooked);
    }
    let exit = match supervised::end_of(&folder, shutdown).await? {
        CommandEnd::Ended(exit) => exit,
        CommandEnd::Leaving => return Ok(HookOutcome::Leaving),
        CommandEnd::Lost if ours => {
            let why = format!("`{}` was lost: its end was not recorded", words(hook));
            return Ok(HookOutcome::To(Some(why), String::new()));
        }
        CommandEnd::Lost => return Ok(HookOutcome::ToNothing),
    };
    let output =
        engine.outside(move |_| supervised::tail(&folder).map_err(ToolError::internal)).await?;
    Ok(HookOutcome::To(judge(&exit, hook), output))
}

/// A hook's command as it is configured.
pub(super) fn words(hook: &HookSettings) -> String {
    hook.command.join(" ")
}

fn judge(exit: &ExitRecord, hook: &HookSettings) -> Option<String> {
    let name = words(hook);
    match (exit.ended, exit.code, exit.signal) {
        (EndCause::Exited, Some(0), _) => None,
        (EndCause::Exited, Some(code), _) => Some(format!("`{name}` ended with {code}")),
        (EndCause::Exited, None, Some(signal)) => {
            Some(format!("`{name}` was ended by signal {signal}"))
        }
        (EndCause::Exited, None, None) => Some(format!("`{name}` ended without an exit code")),
        (EndCause::TimedOut, ..) => {
            Some(format!("`{name}` did not end within {} seconds", hook.timeout_s))
        }
        (EndCause::NotStarted, ..) => Some(format!(
            "`{name}` could not be started: {}",
            exit.why.as_deref().unwrap_or("no reason is known")
        )),
        (EndCause::Stopped, ..) => Some(format!("`{name}` was stopped")),
        (EndCause::LeaseLost, ..) => Some(format!(
            "`{name}` was ended: its machine could not reach the server before its lease ended"
        )),
    }
}

fn spec(
    engine: &Core,
    row: &Loop,
    moment: Moment,
    hook: &HookSettings,
    about: &About,
) -> Result<Spec, String> {
    let of = |text: &Option<String>| text.clone().unwrap_or_default();
    let values = [
        ("session", row.session.clone()),
        ("iteration", row.iteration_about().to_string()),
        ("task_id", of(&about.task)),
        ("task_content", of(&about.content)),
        ("error", of(&about.error)),
    ];
    let value = |name: &str| {
        values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
    };
    // What was put in may not be what the program is told with; a NUL ends an argument.
    let fill = |word: &String| template::fill(word, value).replace('\0', "\u{fffd}");
    let command: Vec<String> = hook.command.iter().map(fill).collect();
    let directory = directory(engine, row);
    let agent = row.agent.map_or_else(|| row.session.clone(), |agent| agent.to_string());
    let shared = engine.shared_environment(row.agent);
    let task = about.task.as_deref().unwrap_or_default();
    let caller = CommandCaller { agent: &agent, task, shared: &shared };
    let mut environment = command_environment(engine, caller, &directory);
    engine.enter_virtual_env(&mut environment, &directory, SetUp::None);
    let path = variable(&environment, "PATH").unwrap_or_default().to_owned();
    environment.push(("ADJUTANT_HOOK".to_owned(), moment.name().to_owned()));
    for (name, value) in &values {
        let name = format!("ADJUTANT_{}", name.to_ascii_uppercase());
        environment.push((name, value.replace('\0', "\u{fffd}")));
    }
    let (name, arguments) = command.split_first().ok_or("the hook has no program")?;
    let program = host::program::find(name, &path, &directory)
        .ok_or_else(|| format!("the program `{name}` of a hook was not found"))?;
    Ok(Spec {
        program,
        arguments: arguments.to_vec(),
        environment,
        directory,
        stdin: Stdin::Closed,
        time_limit_ms: Some(u64::from(hook.timeout_s) * 1000),
        grace_ms: engine.settings().limits.grace_ms,
        max_output_bytes: engine.settings().limits.max_output_bytes,
        lease: None,
    })
}

/// Where a loop's agents work.
pub(super) fn directory(engine: &Core, row: &Loop) -> PathBuf {
    let project = &engine.options.project;
    row.order.cwd.as_ref().map_or_else(|| project.clone(), |cwd| project.join(cwd))
}
