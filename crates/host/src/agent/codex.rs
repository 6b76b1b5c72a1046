//! Codex. Steered through `codex app-server` (JSON-RPC on standard input and output) or, where the
//! configuration says `steer: false`, run once through `codex exec`.
//!
//! - The role's `tools` and `disallowedTools` do not apply: Codex has its sandbox instead. Nor can
//!   `exec` ask; what its sandbox forbids is refused.
//! - A conversation is gone on with by the app server in any case. `exec` reports the tokens of the
//!   whole conversation and not where it took it up, so that they would be counted twice.
//! - Its own subagents are off, so that no agent escapes the record, and so are plugins and apps,
//!   for which it looks up hosts. They are settings and not `--disable` flags: a later Codex that no
//!   longer knows one says so in a warning, and starts.
//! - Its toolsets are required. It would wait for them for a second, and then begin without them.
//! - It is told no working directory when a thread begins: it works where it was started, and a
//!   named one is marked as trusted in the user's own configuration.

mod exec;
mod items;
mod server;
#[cfg(test)]
mod tests;
mod transcript;
mod user_config;
mod user_servers;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use self::exec::Exec;
use self::server::Server;
use super::{
    Brief, ConfigPlace, Conversation, Kind, OwnServers, PermissionVerdict, Plan, PlanError, Probes,
    SnapshotError, SpawnDefaults, Step, Supports, TranscriptEntry, UserServer,
};
use crate::run::{OutputLine, Stdin};

/// Start-up timeout of an MCP server, in seconds.
const MCP_STARTUP_TIMEOUT_SECONDS: u64 = 60;

/// Disabled features: they would contact hosts, start unsupervised agents, or continue after the turn.
const DISABLED_FEATURES: [&str; 5] = [
    "features.plugins",
    "features.apps",
    "features.remote_plugin",
    "features.goals",
    "agents.enabled",
];

/// The longest call of a tool, in seconds. A call that is under way when Adjutant's server is killed hangs
/// for as long; no wait of ours takes more than 240.
const TOOL_TIMEOUT_SECONDS: u64 = 300;

/// The program, where the configuration names none.
const PROGRAM: &str = "codex";
/// How to install it.
const INSTALL: &str = "npm install -g @openai/codex";
/// The files of a run.
const PROMPT_FILE: &str = "prompt.md";
const SCHEMA_FILE: &str = "schema.json";

/// Codex.
#[derive(Debug)]
pub(super) struct Codex;

impl Kind for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn supports(&self) -> Supports {
        Supports {
            wake: true,
            resume: true,
            cost: false,
            system_prompt: true,
            permissions: true,
            schema: true,
            default_model: false,
            plain_output: false,
            reads: &["AGENTS.md"],
        }
    }

    fn spawn_defaults(&self) -> Option<SpawnDefaults> {
        Some(SpawnDefaults { title: "Codex", model: None, tools: None, timeout: 120 })
    }

    fn login_advice(&self) -> &'static str {
        "set `CODEX_API_KEY` where you run `adjutant`, or log in with `codex login`"
    }

    fn probes(&self) -> Option<Probes> {
        Some(Probes {
            program: PROGRAM,
            install: INSTALL,
            login: &["login", "status"],
            call: &[
                "exec",
                "--ephemeral",
                "--skip-git-repo-check",
                "-sread-only",
                "-cmodel_reasoning_effort=\"low\"",
                "-cfeatures.plugins=false",
                "-cfeatures.apps=false",
                "Answer with the word ok.",
            ],
        })
    }

    fn config(&self) -> &'static str {
        include_str!("codex/config.yaml")
    }

    fn plan(&self, brief: &Brief) -> Result<Plan, PlanError> {
        let mut arguments = brief.runner.arguments.clone();
        let mut files = Vec::new();
        let lookup = |name: &str| brief.variable(name);
        let given = user_servers::given(brief, tool_timeout(brief), &lookup);
        let stdin = if is_steered(brief) {
            arguments.push("app-server".to_owned());
            arguments.extend(settings(brief, &given.settings));
            Stdin::Open
        } else {
            arguments.extend(["exec", "--json", "--skip-git-repo-check"].map(str::to_owned));
            arguments.extend(["-s".to_owned(), sandbox(brief).to_owned()]);
            arguments.extend(settings(brief, &given.settings));
            if let Some(model) = &brief.model {
                arguments.extend(["-m".to_owned(), model.clone()]);
            }
            if let Some(schema) = &brief.schema {
                let path = brief.run_folder.join(SCHEMA_FILE);
                arguments
                    .extend(["--output-schema".to_owned(), path.to_string_lossy().into_owned()]);
                files.push((SCHEMA_FILE.to_owned(), schema.to_string()));
            }
            arguments.push("-".to_owned());
            files.push((PROMPT_FILE.to_owned(), whole_prompt(brief)));
            Stdin::File(PROMPT_FILE.to_owned())
        };
        Ok(Plan {
            program: brief.runner.binary.clone().unwrap_or_else(|| PROGRAM.to_owned()),
            install: INSTALL,
            arguments,
            environment: given.slots.variables(&lookup),
            files,
            stdin,
            warnings: given.warnings,
        })
    }

    fn config_files(&self, place: &ConfigPlace<'_>) -> Vec<PathBuf> {
        user_config::files(place.directory, place.variable)
    }

    fn own_servers(&self, config: &str, _: &Path) -> Vec<UserServer> {
        user_config::servers(config)
    }

    fn own_servers_use(&self) -> OwnServers {
        OwnServers::Loaded
    }

    fn conversation(&self, brief: &Brief) -> Box<dyn Conversation> {
        Box::new(if is_steered(brief) {
            Talk::Server(Box::new(Server::new(brief)))
        } else {
            Talk::Exec(Exec::new(brief))
        })
    }

    fn restore(&self, snapshot: &str) -> Result<Box<dyn Conversation>, SnapshotError> {
        Ok(Box::new(serde_json::from_str::<Talk>(snapshot)?))
    }

    fn transcript(&self, line: &OutputLine) -> Vec<TranscriptEntry> {
        transcript::READER.read(line)
    }
}

fn is_steered(brief: &Brief) -> bool {
    brief.runner.steer || brief.resume.is_some()
}

fn sandbox(brief: &Brief) -> &str {
    brief.own_sandbox.as_deref().unwrap_or("workspace-write")
}

/// `exec` has no place for the role's prompt: it comes first.
fn whole_prompt(brief: &Brief) -> String {
    match &brief.system_prompt {
        Some(role) => format!("{role}\n\n---\n\n{}", brief.prompt),
        None => brief.prompt.clone(),
    }
}

/// The longest call of a tool, in seconds.
fn tool_timeout(brief: &Brief) -> u64 {
    brief.call_timeout_ms.div_ceil(1_000).min(TOOL_TIMEOUT_SECONDS)
}

/// The settings that both ways of running it share.
fn settings(brief: &Brief, users: &[String]) -> Vec<String> {
    let off = DISABLED_FEATURES.iter().map(|setting| format!("{setting}=false"));
    let seconds = tool_timeout(brief);
    let servers = brief.servers.iter().map(move |server| {
        // A JSON string is a TOML string.
        let url = serde_json::Value::from(server.url.as_str());
        format!(
            "mcp_servers.{}={{url={url}, bearer_token_env_var=\"ADJUTANT_TOKEN\", \
             default_tools_approval_mode=\"approve\", required=true, \
             startup_timeout_sec={MCP_STARTUP_TIMEOUT_SECONDS}, tool_timeout_sec={seconds}}}",
            server.name
        )
    });
    // A table comes first, for it takes the place of what was set before it.
    let mut disabled: Vec<String> =
        brief.disabled_servers.iter().map(|name| user_config::disabled(name)).collect();
    disabled.sort_by_key(|setting| !setting.starts_with("mcp_servers={"));
    std::iter::once("approval_policy=\"never\"".to_owned())
        .chain(off)
        .chain(disabled)
        .chain(users.iter().cloned())
        .chain(servers)
        .flat_map(|setting| ["-c".to_owned(), setting])
        .collect()
}

/// A conversation, in either way.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Talk {
    Exec(Exec),
    Server(Box<Server>),
}

impl Conversation for Talk {
    fn begin(&mut self) -> Vec<Step> {
        match self {
            Self::Exec(_) => Vec::new(),
            Self::Server(talk) => talk.begin(),
        }
    }

    fn line(&mut self, line: &OutputLine) -> Vec<Step> {
        match self {
            Self::Exec(talk) => talk.line(line),
            Self::Server(talk) => talk.line(line),
        }
    }

    fn tell(&mut self, text: &str) -> Vec<Step> {
        match self {
            Self::Exec(_) => Vec::new(),
            Self::Server(talk) => talk.tell(text),
        }
    }

    fn answer(&mut self, request: &str, verdict: PermissionVerdict) -> Vec<Step> {
        match self {
            Self::Exec(_) => Vec::new(),
            Self::Server(talk) => talk.answer(request, &verdict),
        }
    }

    fn interrupt(&mut self) -> Vec<Step> {
        match self {
            Self::Exec(_) => Vec::new(),
            Self::Server(talk) => talk.interrupt(),
        }
    }

    fn end(&mut self) -> Vec<Step> {
        match self {
            Self::Exec(talk) => talk.end(),
            Self::Server(talk) => talk.end(),
        }
    }

    fn snapshot(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
