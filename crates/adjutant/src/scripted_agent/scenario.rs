//! A parsed scenario. `file.rs` reads its file.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::Code;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::template::Templated;

/// Everything that a file has.
#[derive(Debug)]
pub(super) struct File {
    /// Default scenario
    pub(super) main: Option<Scenario>,
    /// Scenarios by the prompt's first word
    pub(super) named: BTreeMap<String, Scenario>,
    /// Default wait of a call for a server that is gone
    pub(super) patience: Option<Duration>,
}

/// Steps of an agent from its start to its end.
#[derive(Debug)]
pub(super) struct Scenario {
    pub(super) steps: Vec<Step>,
    /// Steps by attempt number
    pub(super) attempts: BTreeMap<u32, Vec<Step>>,
}

impl Scenario {
    /// Steps of this attempt.
    pub(super) fn steps_of(&self, attempt: u32) -> &[Step] {
        self.attempts.range(..=attempt).next_back().map_or(&self.steps, |(_, steps)| steps)
    }
}

/// One thing to do, and where the file says so.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) line: u64,
    pub(super) act: Act,
}

/// An action.
#[derive(Debug)]
pub(super) enum Act {
    /// Prints a text
    Say(String),
    /// Calls a tool
    Call(Box<Call>),
    /// Makes sure that these tools are listed
    ExpectTools(Vec<String>),
    /// Makes sure that these are not
    ExpectNoTools(Vec<String>),
    Write(FileText),
    Append(FileText),
    /// Commits everything, with this message
    Commit(String),
    Run(Run),
    /// Waits so many seconds
    Sleep(Templated<f64>),
    Burn(TokenUse),
    /// Says which model it is
    Model(String),
    Limited(Limited),
    Tool(OwnTool),
    WaitFile(WaitFile),
    Repeat {
        times: Templated<u64>,
        steps: Vec<Step>,
    },
    /// Plays several lists of steps at the same time
    Parallel(Vec<Vec<Step>>),
    /// Ignores SIGTERM from now on
    Deaf,
    Print(Flood),
    /// Closes stdout and stderr and goes on
    CloseOutput,
    /// Ends with a result that says why it failed
    Fail(String),
    /// Ends with this code and no result
    Exit(Templated<u8>),
    /// Ends as if killed
    Crash,
    Result(Outcome),
}

/// A call of a tool, and what is expected of it.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) with: Map<String, Value>,
    /// The name under which the answer is remembered
    pub(super) save: Option<String>,
    /// Expected content of the answer
    pub(super) expect: Option<Value>,
    /// Expected content of the last answer; the call is repeated until then
    pub(super) until: Option<Value>,
    /// Maximum number of calls
    pub(super) tries: Templated<u64>,
    /// Seconds between two calls
    pub(super) pause: Templated<f64>,
    /// The error that is expected instead of an answer
    pub(super) fails: Option<Code>,
    /// Wait for a server that is gone
    pub(super) patience: Option<Duration>,
}

/// A program to run.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) command: Vec<String>,
    /// The exit code that is expected; nobody waits for a program that has none
    pub(super) code: Option<i32>,
}

/// A text for a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileText {
    pub(super) path: String,
    pub(super) text: String,
}

/// Usage to report.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TokenUse {
    pub(super) input_tokens: Option<Templated<u64>>,
    pub(super) output_tokens: Option<Templated<u64>>,
    pub(super) cache_read_tokens: Option<Templated<u64>>,
    pub(super) cache_write_tokens: Option<Templated<u64>>,
    pub(super) cost_usd: Option<Templated<f64>>,
}

/// Usage limit to report.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Limited {
    pub(super) until: Option<String>,
    pub(super) seconds: Option<Templated<f64>>,
}

/// A reported use of a tool of the agent's own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OwnTool {
    pub(super) name: String,
    pub(super) input: Option<Value>,
    pub(super) error: Option<String>,
}

/// A file to wait for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitFile {
    pub(super) path: String,
    /// After so many seconds it will not come any more
    pub(super) seconds: Option<Templated<f64>>,
}

/// Much output.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Flood {
    /// Total bytes
    pub(super) bytes: Templated<u64>,
    /// Length of each line, without its end
    #[serde(default = "eighty")]
    pub(super) line: Templated<u64>,
    /// True for text
    #[serde(default = "yes")]
    pub(super) utf8: bool,
}

fn eighty() -> Templated<u64> {
    Templated::Known(80)
}

fn yes() -> bool {
    true
}

/// Result to report, with unresolved templates.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Outcome {
    #[serde(default = "success")]
    pub(super) status: String,
    pub(super) summary: Option<String>,
    #[serde(default)]
    pub(super) changes: Vec<Value>,
    #[serde(default)]
    pub(super) issues: Vec<Value>,
    #[serde(default)]
    pub(super) questions: Vec<Value>,
}

fn success() -> String {
    "success".to_owned()
}
