//! What the server sees of the programs of agents: where they are, which variables they get, whether they are logged
//! in.

use std::path::PathBuf;
use std::time::Duration;

use host::agent::{Kind, Probes};
use host::process::{self, Launch};
use wire::environment::{KindStatus, LoginStatus, ServerEnvironment};

use crate::core::error::ToolError;
use crate::core::handed_on::{set_variable, variable};
use crate::core::handle::Core;
use crate::core::redact::redact;
use crate::core::settings::Runner;
use crate::crew::service::Crew;

/// Time limit for a program to say whether it is logged in.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(15);
/// Time limit for a call to a provider.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);
/// Longest text of an outcome.
const MAX_MESSAGE_CHARS: usize = 300;

/// How closely to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeDepth {
    /// At files and variables alone
    Files,
    /// Also at logins, which runs the programs
    Logins,
    /// Also at a call to each provider, which costs a little
    Calls,
}

impl Crew {
    /// What the server sees of the machine.
    pub async fn server_environment(
        &self,
        depth: ProbeDepth,
    ) -> Result<ServerEnvironment, ToolError> {
        let crew = self.clone();
        let settings = self.settings();
        let handed_on = settings.handed_on().into_iter().collect();
        let handed_on_to_checks = settings.handed_on_to_checks().into_iter().collect();
        let kinds = host::agent::KINDS.iter().filter_map(|kind| Some((*kind, kind.probes()?)));
        let kinds = kinds.map(|(kind, probes)| {
            let crew = crew.clone();
            tokio::task::spawn_blocking(move || crew.kind_status(kind, probes, depth))
        });
        let mut found = Vec::new();
        for status in kinds.collect::<Vec<_>>() {
            found.push(status.await.map_err(ToolError::internal)?);
        }
        found.extend(self.outside(|core| Ok::<_, ToolError>(unasked_programs(core))).await?);
        Ok(ServerEnvironment { handed_on, handed_on_to_checks, kinds: found })
    }

    /// Looks at one kind. Blocks for as long as its program takes.
    fn kind_status(&self, kind: &dyn Kind, probes: Probes, depth: ProbeDepth) -> KindStatus {
        let settings = self.settings();
        let runner = settings.runners.get(kind.name()).cloned().unwrap_or_default();
        let program = runner.launch.binary.clone().unwrap_or_else(|| probes.program.to_owned());
        let environment = environment_of(self, &runner);
        let found = find(self, &program, &environment);
        let run = |arguments: &[&str], limit| {
            let launch = Launch {
                program: found.clone()?,
                arguments: first_arguments(&runner)
                    .chain(arguments.iter().copied())
                    .map(Into::into)
                    .collect(),
                environment: environment
                    .iter()
                    .map(|(name, value)| (name.into(), value.into()))
                    .collect(),
                // Not the project: its own settings and servers are of no concern here.
                directory: self.options.state.clone(),
            };
            Some(outcome(&launch, limit, kind))
        };
        KindStatus {
            kind: kind.name().to_owned(),
            login: (depth != ProbeDepth::Files).then(|| run(probes.login, LOGIN_TIMEOUT)).flatten(),
            call: (depth == ProbeDepth::Calls).then(|| run(probes.call, CALL_TIMEOUT)).flatten(),
            login_unknown: None,
            path: found.as_ref().map(|path: &PathBuf| path.display().to_string()),
            program,
            install: probes.install.to_owned(),
            variables: runner.environment.iter().map(|(name, _)| name.clone()).collect(),
        }
    }
}

/// The environment of agents of a kind, as the server has it.
fn environment_of(core: &Core, runner: &Runner) -> Vec<(String, String)> {
    let mut environment = core.options.agent_environment.clone();
    for (name, value) in &runner.environment {
        set_variable(&mut environment, name, value);
    }
    environment
}

fn find(core: &Core, program: &str, environment: &[(String, String)]) -> Option<PathBuf> {
    let path = variable(environment, "PATH").unwrap_or_default();
    host::program::find(program, path, &core.options.project)
}

/// The programs of roles whose kind has no way to ask them whether they are logged in, each once. Blocks.
fn unasked_programs(core: &Core) -> Vec<KindStatus> {
    let settings = core.settings();
    let mut found: Vec<KindStatus> = Vec::new();
    for role in settings.roles.values() {
        let name = role.kind.as_deref().unwrap_or(&settings.default_kind);
        let Some(kind) = host::agent::kind(name) else { continue };
        let (Some(why), Some(_)) = (kind.login_unknown(), kind.role_key()) else { continue };
        let runner = settings.runners.get(name).cloned().unwrap_or_default();
        let program = role.program_of(kind).first().or(runner.launch.binary.as_ref());
        let Some(program) = program.cloned() else { continue };
        if found.iter().any(|known| known.kind == name && known.program == program) {
            continue;
        }
        let environment = environment_of(core, &runner);
        found.push(KindStatus {
            kind: name.to_owned(),
            path: find(core, &program, &environment).map(|path| path.display().to_string()),
            program,
            install: kind.install_advice().to_owned(),
            variables: runner.environment.iter().map(|(name, _)| name.clone()).collect(),
            login: None,
            call: None,
            login_unknown: Some(format!("{why}; {}", kind.login_advice())),
        });
    }
    found
}

/// The arguments that come before all others.
fn first_arguments(runner: &Runner) -> impl Iterator<Item = &str> {
    runner.launch.arguments.iter().map(String::as_str)
}

fn outcome(launch: &Launch, limit: Duration, kind: &dyn Kind) -> LoginStatus {
    let advice = || Some(kind.login_advice().to_owned());
    match process::run(launch, limit) {
        Ok(output) => {
            let ok = output.exit.is_success();
            let text = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
            let text = text.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
            let message = text.collect::<Vec<_>>().join("\n");
            LoginStatus { ok, message: clip(&message), advice: (!ok).then(advice).flatten() }
        }
        Err(error) => {
            LoginStatus { ok: false, message: clip(&error.to_string()), advice: advice() }
        }
    }
}

/// The last characters of a program's output: errors come last.
fn clip(text: &str) -> String {
    let text = redact(text.to_owned());
    let skip = text.chars().count().saturating_sub(MAX_MESSAGE_CHARS);
    text.chars().skip(skip).collect()
}
