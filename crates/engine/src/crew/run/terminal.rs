//! Terminals for those who like to look over an agent's shoulder: a tmux session named for the agent,
//! in which `adjutant attach` shows its stream and passes typed lines on.

use std::ffi::OsString;
use std::time::Duration;

use host::process::{self, Launch};
use store::Agent;

use crate::core::handle::Core;

/// Attempts to open a terminal. A tmux server ends with its last session, and a request for a new one in that
/// moment loses it.
const ATTEMPTS: u32 = 3;

/// Opens a terminal for an agent whose role wants one. It is a convenience: without it the agent runs
/// as well, so that a failure is only told.
pub(crate) async fn open(engine: &Core, agent: &Agent) {
    let settings = engine.settings();
    if !settings.role_of(&agent.role).is_some_and(|role| role.tmux) {
        return;
    }
    let id = agent.id.to_string();
    let adjutant = engine.options.adjutant.clone().into_os_string();
    let home = engine.options.home.clone().into_os_string();
    let mut arguments: Vec<OsString> =
        ["new-session", "-d", "-s", &id, "-x", "200", "-y", "50"].map(OsString::from).into();
    arguments.push(adjutant);
    arguments.extend(["--home".into(), home, "attach".into(), id.clone().into()]);
    let mut opened = run(engine, arguments.clone()).await;
    for _ in 1..ATTEMPTS {
        if opened.as_ref().is_err_and(|why| why.contains("server")) {
            opened = run(engine, arguments.clone()).await;
        }
    }
    match opened {
        Ok(()) => {
            let (agent, session) = (agent.id, id);
            let noted =
                engine.store.write(move |tx| tx.agent_set_tmux(agent, Some(&session))).await;
            if let Err(error) = noted {
                tracing::warn!(%agent, %error, "failed to record the terminal of an agent");
            }
        }
        Err(why) => tracing::warn!(%id, why, "failed to open a terminal"),
    }
}

/// Closes an agent's terminal, if it has one.
pub(crate) async fn close(engine: &Core, agent: &Agent) {
    let settings = engine.settings();
    if settings.role_of(&agent.role).is_some_and(|role| role.tmux) {
        let arguments = ["kill-session", "-t", &format!("={}", agent.id)].map(OsString::from);
        // It closes by itself when the agent ends, so that it may be gone.
        if let Err(why) = run(engine, arguments.into()).await {
            tracing::debug!(id = %agent.id, why, "terminal was already closed");
        }
    }
}

async fn run(engine: &Core, arguments: Vec<OsString>) -> Result<(), String> {
    let environment = engine.options.operator_environment.clone();
    let directory = engine.options.project.clone();
    let path = engine.operator_path().to_string_lossy();
    let program = host::program::find("tmux", &path, &directory).ok_or_else(|| {
        "`tmux` was not found; install it, or remove `tmux` from the role".to_owned()
    })?;
    let limit = Duration::from_millis(engine.settings().limits.tool_timeout_ms);
    let launch = Launch { program, arguments, environment, directory };
    let ran = tokio::task::spawn_blocking(move || process::run(&launch, limit)).await;
    match ran {
        Ok(Ok(output)) if output.exit.is_success() => Ok(()),
        Ok(Ok(output)) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}
