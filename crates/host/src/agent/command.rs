//! Kind `command`: any program. The prompt comes on its standard input and lies in a file; what it
//! prints is its report.
//!
//! The last line, where it is a result (see [`report`]), is the result; else the last 64 KiB of
//! output are its summary. Success also depends on its exit code, which
//! is not ours to judge.

pub(super) mod transcript;

use std::path::Path;

use model::money::Usd;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::claude::{MCP_CONFIG, mcp_config};
use super::{
    Brief, Conversation, EndReport, EndReportStatus, Event, Kind, PermissionVerdict, Plan,
    PlanError, RoleKey, SnapshotError, Step, Supports, TranscriptEntry, report,
};
use crate::run::{OutputLine, Stdin, Stream};

/// The prompt's file in the run folder.
const PROMPT_FILE: &str = "prompt.md";
/// As much of the output is kept as a summary.
const MAX_SUMMARY_BYTES: usize = 64 * 1024;

/// Capabilities of plain programs: they may report their cost.
pub(super) const PLAIN_SUPPORTS: Supports = Supports {
    wake: false,
    resume: false,
    cost: true,
    system_prompt: false,
    permissions: false,
    schema: false,
    default_model: false,
    plain_output: true,
    reads: &[],
};

/// Its name.
pub(super) const NAME: &str = "command";

/// The kind.
#[derive(Debug)]
pub(super) struct Command;

impl Kind for Command {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self) -> Supports {
        PLAIN_SUPPORTS
    }

    fn config(&self) -> &'static str {
        include_str!("command/config.yaml")
    }

    fn role_key(&self) -> Option<RoleKey> {
        Some(RoleKey { name: NAME, is_required: true, is_path: false })
    }

    fn plan(&self, brief: &Brief) -> Result<Plan, PlanError> {
        let mut words = brief.runner.binary.iter().chain(&brief.command);
        let Some(program) = words.next() else {
            return Err(PlanError {
                problem: "kind `command` does not know what to run: write `command: [program, \
                          argument]` in the role"
                    .to_owned(),
            });
        };
        let places = [
            ("{prompt_file}", brief.run_folder.join(PROMPT_FILE)),
            ("{mcp_config}", brief.run_folder.join(MCP_CONFIG)),
            ("{cwd}", brief.directory.clone()),
        ];
        let arguments = brief.runner.arguments.iter().chain(words);
        let arguments = arguments.map(|argument| fill(argument, &places)).collect();
        Ok(plain(brief, program.clone(), arguments, INSTALL_HINT))
    }

    fn conversation(&self, _: &Brief) -> Box<dyn Conversation> {
        Box::<Reader>::default()
    }

    fn restore(&self, snapshot: &str) -> Result<Box<dyn Conversation>, SnapshotError> {
        restore(snapshot)
    }

    fn transcript(&self, line: &OutputLine) -> Vec<TranscriptEntry> {
        transcript::read(line, |text| Some(TranscriptEntry::printed(text)))
    }
}

const INSTALL_HINT: &str = "install it, or mend `command` in the role";

/// Builds the plan of a plain program.
pub(super) fn plain(
    brief: &Brief,
    program: String,
    arguments: Vec<String>,
    install: &'static str,
) -> Plan {
    Plan {
        program,
        install,
        arguments,
        environment: Vec::new(),
        files: vec![
            (PROMPT_FILE.to_owned(), brief.prompt.clone()),
            (MCP_CONFIG.to_owned(), mcp_config(&brief.servers, &[], brief.call_timeout_ms)),
        ],
        stdin: Stdin::File(PROMPT_FILE.to_owned()),
        warnings: Vec::new(),
    }
}

/// Puts paths where an argument names them. What was put in is not looked at again.
fn fill<P: AsRef<Path>>(argument: &str, places: &[(&str, P)]) -> String {
    let mut filled = String::new();
    let mut rest = argument;
    while let Some((at, name, path)) = places
        .iter()
        .filter_map(|(name, path)| Some((rest.find(name)?, *name, path.as_ref())))
        .min_by_key(|(at, ..)| *at)
    {
        filled.push_str(rest.get(..at).unwrap_or_default());
        filled.push_str(&path.to_string_lossy());
        rest = rest.get(at + name.len()..).unwrap_or_default();
    }
    filled + rest
}

/// The conversation of a plain program: it listens.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Reader {
    /// The end of what it printed, whole lines if one line fits
    tail: String,
    /// The last line, where it is a result
    result: Option<Value>,
    /// Reported cost, in billionths of a dollar
    cost: i64,
}

/// A reader as it was written down.
pub(super) fn restore(snapshot: &str) -> Result<Box<dyn Conversation>, SnapshotError> {
    Ok(Box::new(serde_json::from_str::<Reader>(snapshot)?))
}

impl Reader {
    fn keep(&mut self, line: &str) {
        self.tail.push_str(last_bytes(line, MAX_SUMMARY_BYTES - 1));
        self.tail.push('\n');
        // Cut now and then: for each of many short lines it would be copied whole.
        if self.tail.len() > 2 * MAX_SUMMARY_BYTES {
            self.tail = self.last().to_owned();
        }
    }

    /// As much of the end as a summary may be long.
    fn last(&self) -> &str {
        if self.tail.len() <= MAX_SUMMARY_BYTES {
            return &self.tail;
        }
        let kept = last_bytes(&self.tail, MAX_SUMMARY_BYTES);
        // A line that lost its beginning says something else.
        kept.split_once('\n').map_or(kept, |(_, whole)| whole)
    }
}

fn last_bytes(text: &str, most: usize) -> &str {
    let from = text.len().saturating_sub(most);
    (from..=text.len()).find_map(|from| text.get(from..)).unwrap_or_default()
}

impl Conversation for Reader {
    fn begin(&mut self) -> Vec<Step> {
        Vec::new()
    }

    fn line(&mut self, line: &OutputLine) -> Vec<Step> {
        if line.stream != Stream::Out {
            return Vec::new();
        }
        let is_object = line.text.trim_start().starts_with('{');
        let value = is_object.then(|| serde_json::from_str::<Value>(&line.text).ok());
        let value = value.flatten().unwrap_or_default();
        if value["adjutant"].is_object() {
            let mut cost = Usd::from_nanos(self.cost);
            let events = report::events(&value["adjutant"], &mut cost);
            self.cost = cost.nanos();
            return events.into_iter().map(Step::Saw).collect();
        }
        if !line.text.trim().is_empty() {
            self.result = report::result(value);
        }
        self.keep(&line.text);
        Vec::new()
    }

    fn tell(&mut self, _: &str) -> Vec<Step> {
        Vec::new()
    }

    fn answer(&mut self, _: &str, _: PermissionVerdict) -> Vec<Step> {
        Vec::new()
    }

    fn interrupt(&mut self) -> Vec<Step> {
        Vec::new()
    }

    fn end(&mut self) -> Vec<Step> {
        // Left in its place: after a crash the end is asked for again.
        let done = match self.result.clone() {
            Some(value) => EndReport {
                verdict: report::verdict(&value),
                text: value["summary"].as_str().unwrap_or_default().to_owned(),
                value: Some(value),
            },
            None => EndReport {
                verdict: EndReportStatus::Success,
                text: self.last().trim_end().to_owned(),
                value: None,
            },
        };
        vec![Step::Saw(Event::Done(done))]
    }

    fn snapshot(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
pub(super) mod tests;
