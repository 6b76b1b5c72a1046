//! Any agent that speaks the Agent Client Protocol, version 1, over standard input and output;
//! Adjutant is the client.
//!
//! The messages are read field by field and not with the official crate of types,
//! `agent-client-protocol-schema`: it turns on `serde_json/preserve_order` for the whole program, which
//! would change the order of keys in every snapshot and hash; its newest version lacks what agents in
//! use still say (`models`, `session/set_model`, the usage of a prompt); and one field of an unforeseen
//! type would lose the whole message, where here it loses the field.
//!
//! - It reads no file and starts no terminal for the agent; such requests are refused.
//! - **Waking**: an agent that says it can be steered (`_meta.steering`) is told in the middle of its
//!   turn. Any other is told with a further prompt, once it has answered the one before.
//! - **The token** is in no argument and in no line of the record: `session/new` is whispered.
//! - **Permission** is given once and never for ever, as that would be written into the workspace. The
//!   toolsets it was given need none, and the role's `tools` and `disallowedTools` are obeyed by name.
//!   One that breaks off when it is refused something is told to go on without it.
//! - An agent with a mode of the name of its sandbox (`workspace-write`) is put into it, so that
//!   its questions come to us and not to a model of its own.

mod claude_code;
mod permission;
mod saying;
mod settings;
mod talk;
#[cfg(test)]
mod tests;
mod tools;
mod transcript;
mod usage;
mod user_servers;

use std::path::{Path, PathBuf};

use self::talk::Talk;
use super::claude::user_config as claude_config;
use super::{
    Brief, ConfigPlace, Conversation, Kind, Plan, PlanError, RoleKey, Runner, SnapshotError,
    Supports, TranscriptEntry, UserServer,
};
use crate::run::{OutputLine, Stdin};

/// An agent that speaks the Agent Client Protocol.
/// How to get a program that speaks it.
const INSTALL: &str = "see https://agentclientprotocol.com for agents and how to get them";

#[derive(Debug)]
pub(super) struct Acp;

impl Kind for Acp {
    fn name(&self) -> &'static str {
        "acp"
    }

    fn supports(&self) -> Supports {
        Supports {
            wake: true,
            resume: true,
            cost: true,
            system_prompt: false,
            permissions: true,
            schema: false,
            default_model: false,
            plain_output: false,
            reads: &[],
        }
    }

    fn login_advice(&self) -> &'static str {
        "log in with the agent's own program, or name the variable of its key in `agents.acp.environment`"
    }

    fn login_unknown(&self) -> Option<&'static str> {
        Some("the Agent Client Protocol has no question for it")
    }

    fn install_advice(&self) -> &'static str {
        INSTALL
    }

    fn config(&self) -> &'static str {
        include_str!("acp/config.yaml")
    }

    fn role_key(&self) -> Option<RoleKey> {
        Some(RoleKey { name: "acp", is_required: false, is_path: false })
    }

    fn plan(&self, brief: &Brief) -> Result<Plan, PlanError> {
        let Runner { binary, arguments, .. } = &brief.runner;
        let (program, arguments) = match (brief.command.split_first(), binary) {
            (Some((program, arguments)), _) => (program, arguments),
            (None, Some(program)) => (program, arguments.as_slice()),
            (None, None) => {
                return Err(PlanError {
                    problem: "an agent of kind `acp` needs a program: write it into the role, \
                              as in `acp: [claude-agent-acp]`"
                        .to_owned(),
                });
            }
        };
        let given = user_servers::given(brief);
        Ok(Plan {
            program: program.clone(),
            install: INSTALL,
            arguments: arguments.to_vec(),
            environment: given.slots.variables(&|name| brief.variable(name)),
            files: Vec::new(),
            stdin: Stdin::Open,
            warnings: given.warnings,
        })
    }

    fn config_files(&self, place: &ConfigPlace<'_>) -> Vec<PathBuf> {
        // It is kept to the servers that it is given; any other agent reads its files itself.
        let is_claude =
            |word: &String| word.contains("claude-agent-acp") || word.contains("claude-code-acp");
        if place.command.iter().any(is_claude) {
            claude_config::files(place.variable)
        } else {
            Vec::new()
        }
    }

    fn own_servers(&self, config: &str, project: &Path) -> Vec<UserServer> {
        claude_config::servers(config, project)
    }

    fn conversation(&self, brief: &Brief) -> Box<dyn Conversation> {
        Box::new(Talk::new(brief))
    }

    fn restore(&self, snapshot: &str) -> Result<Box<dyn Conversation>, SnapshotError> {
        Ok(Box::new(serde_json::from_str::<Talk>(snapshot)?))
    }

    fn transcript(&self, line: &OutputLine) -> Vec<TranscriptEntry> {
        transcript::READER.read(line)
    }
}
