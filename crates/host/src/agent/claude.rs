//! Kind `claude`: Claude Code, headless, talking JSON lines both ways.
//!
//! It is started once and lives as long as its input is open. What is said to it in mid-turn
//! reaches the model with the next tool result; this is how mail wakes it. Each line said has an id
//! of its own, by which it is taken once however often it is said, and by which a turn's `result`
//! tells what it answered. When a turn ends, nothing said is unanswered and nothing runs in the
//! background, its input is closed and it ends.
//!
//! The shapes were recorded from real runs (`tests/transcripts/claude`). Keys come in any order,
//! and what is not known is left alone.

mod ending;
mod ledger;
mod limits;
mod lines;
mod permission;
mod plan;
pub(super) mod retry;
mod talk;
mod transcript;
pub(super) mod user_config;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use self::talk::Talk;
use super::{
    Brief, ConfigPlace, Conversation, Kind, Plan, PlanError, Probes, SnapshotError, SpawnDefaults,
    Supports, TranscriptEntry, UserServer,
};
use crate::run::OutputLine;

pub use self::plan::{MCP_CONFIG, mcp_config};

/// The kind.
#[derive(Debug)]
pub(super) struct Claude;

impl Kind for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn supports(&self) -> Supports {
        Supports {
            wake: true,
            resume: true,
            cost: true,
            system_prompt: true,
            permissions: true,
            schema: true,
            default_model: true,
            plain_output: false,
            reads: &["CLAUDE.md"],
        }
    }

    fn spawn_defaults(&self) -> Option<SpawnDefaults> {
        Some(SpawnDefaults {
            title: "Claude",
            model: Some("sonnet"),
            tools: Some(&["Bash", "Read", "Glob", "Grep"]),
            timeout: 300,
        })
    }

    fn login_advice(&self) -> &'static str {
        "set `ANTHROPIC_API_KEY` or `CLAUDE_CODE_OAUTH_TOKEN` where you run `adjutant`, or log in with `claude /login`"
    }

    fn probes(&self) -> Option<Probes> {
        Some(Probes {
            program: plan::PROGRAM,
            install: plan::INSTALL,
            login: &["auth", "status", "--text"],
            call: &[
                "-p",
                "--model=haiku",
                "--max-turns=1",
                "--tools=",
                "--strict-mcp-config",
                "--no-session-persistence",
                "Answer with the word ok.",
            ],
        })
    }

    fn config(&self) -> &'static str {
        include_str!("claude/config.yaml")
    }

    fn plan(&self, brief: &Brief) -> Result<Plan, PlanError> {
        Ok(plan::plan(brief))
    }

    fn config_files(&self, place: &ConfigPlace<'_>) -> Vec<PathBuf> {
        user_config::files(place.variable)
    }

    fn own_servers(&self, config: &str, project: &Path) -> Vec<UserServer> {
        user_config::servers(config, project)
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
