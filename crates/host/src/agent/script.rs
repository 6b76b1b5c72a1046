//! Kind `script`: a scenario, played by Adjutant itself as a real process and a real MCP client. It
//! reports like any `command`.

use super::command::{PLAIN_SUPPORTS, Reader, plain, restore, transcript};
use super::{
    Brief, Conversation, EntryKind, Kind, Plan, PlanError, RoleKey, SnapshotError, Supports,
    TranscriptEntry,
};
use crate::run::OutputLine;

/// The kind.
#[derive(Debug)]
pub(super) struct Script;

impl Kind for Script {
    fn name(&self) -> &'static str {
        "script"
    }

    fn supports(&self) -> Supports {
        PLAIN_SUPPORTS
    }

    fn config(&self) -> &'static str {
        include_str!("script/config.yaml")
    }

    fn role_key(&self) -> Option<RoleKey> {
        Some(RoleKey { name: "script", is_required: true, is_path: true })
    }

    fn plan(&self, brief: &Brief) -> Result<Plan, PlanError> {
        let Some(scenario) = brief.command.first() else {
            return Err(PlanError {
                problem: "kind `script` has no scenario to play: write `script: path` in the role"
                    .to_owned(),
            });
        };
        let program = brief.adjutant.to_string_lossy().into_owned();
        let arguments = vec!["play".to_owned(), scenario.clone()];
        Ok(plain(brief, program, arguments, "it is this program: install Adjutant again"))
    }

    fn conversation(&self, _: &Brief) -> Box<dyn Conversation> {
        Box::<Reader>::default()
    }

    fn restore(&self, snapshot: &str) -> Result<Box<dyn Conversation>, SnapshotError> {
        restore(snapshot)
    }

    fn transcript(&self, line: &OutputLine) -> Vec<TranscriptEntry> {
        transcript::read(line, plain_line)
    }
}

/// A scripted agent stands for one that speaks: its plain lines are words. What has colours was printed by a
/// program that it ran.
fn plain_line(text: &str) -> Option<TranscriptEntry> {
    if text.contains('\u{1b}') {
        return Some(TranscriptEntry::printed(text));
    }
    TranscriptEntry::words(EntryKind::Message, text)
}

#[cfg(test)]
mod tests;
