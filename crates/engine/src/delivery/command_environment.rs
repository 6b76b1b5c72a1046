//! The environment of the project's own commands: the set-up of a worktree, and the check before a merge.

use std::path::Path;

use host::run::Variables;

use crate::core::handed_on::set_variable;
use crate::core::handle::Core;

/// Whom a command is run for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommandCaller<'a> {
    /// Name in `ADJUTANT_AGENT_ID`
    pub(crate) agent: &'a str,
    /// Slug of the task
    pub(crate) task: &'a str,
    /// Variables that the server has for it, or that a person handed on
    pub(crate) shared: &'a Variables,
}

/// The environment of an agent there, without the credentials of its kind and without a token of ours: a caller from
/// within is an agent without a token, and never the operator.
pub(crate) fn command_environment(
    engine: &Core,
    caller: CommandCaller<'_>,
    dir: &Path,
) -> Vec<(String, String)> {
    let mut environment = engine.options.agent_environment.clone();
    environment.retain(|(name, _)| !name.to_ascii_uppercase().contains("TOKEN"));
    for (name, value) in &caller.shared.0 {
        set_variable(&mut environment, name, value);
    }
    for (name, value) in [
        ("ADJUTANT_AGENT_ID", caller.agent.to_owned()),
        ("ADJUTANT_TASK", caller.task.to_owned()),
        ("ADJUTANT_HOME", engine.options.home.display().to_string()),
    ] {
        environment.push((name.to_owned(), value));
    }
    environment.extend(engine.port_variable(dir));
    environment
}
