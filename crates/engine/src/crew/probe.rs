//! What the server sees of the programs of agents: where they are, which variables they get, whether they are logged
//! in.

use std::path::PathBuf;
use std::time::Duration;

use host::agent::{Kind, Probes};
use host::process::{self, Launch};
use wire::environment::{KindStatus, LoginStatus, ServerEnvironment};

use crate::core::error::ToolError;
use crate::core::handed_on::set_variable;
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
        let handed_on = self.settings().handed_on().into_iter().collect();
        let kinds = host::agent::KINDS.iter().filter_map(|kind| Some((*kind, kind.probes()?)));
        let kinds = kinds.map(|(kind, probes)| {
            let crew = crew.clone();
            tokio::task::spawn_blocking(move || crew.kind_status(kind, probes, depth))
        });
        let mut found = Vec::new();
        for status in kinds.collect::<Vec<_>>() {
            found.push(status.await.map_err(ToolError::internal)?);
        }
        Ok(ServerEnvironment { handed_on, kinds: found })
    }

    /// Looks at one kind. Blocks for as long as its program takes.
    fn kind_status(&self, kind: &dyn Kind, probes: Probes, depth: ProbeDepth) -> KindStatus {
        let settings = self.settings();
        let runner = settings.runners.get(kind.name()).cloned().unwrap_or_default();
        let program = runner.launch.binary.clone().unwrap_or_else(|| probes.program.to_owned());
        let mut environment = self.options.agent_environment.clone();
        for (name, value) in &runner.environment {
            set_variable(&mut environment, name, value);
        }
        let path = environment.iter().find(|(name, _)| name == "PATH");
        let path = path.map(|(_, path)| path.clone()).unwrap_or_default();
        let found = host::program::find(&program, &path, &self.options.project);
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
            path: found.as_ref().map(|path: &PathBuf| path.display().to_string()),
            program,
            install: probes.install.to_owned(),
            variables: runner.environment.iter().map(|(name, _)| name.clone()).collect(),
        }
    }
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

/// The last characters of what a program said: what went wrong comes last.
fn clip(text: &str) -> String {
    let text = redact(text.to_owned());
    let skip = text.chars().count().saturating_sub(MAX_MESSAGE_CHARS);
    text.chars().skip(skip).collect()
}
