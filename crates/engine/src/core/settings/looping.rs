//! Settings of loops: role, limits and hooks.

use std::collections::BTreeMap;

use model::session::Moment;

/// Loops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopSettings {
    /// The role of a loop's agents
    pub role: String,
    /// Default number of iterations; 0 is no limit
    pub iterations: u32,
    /// With how many failed iterations in a row it gives up
    pub failures: u32,
    /// Default for committing each iteration
    pub commit: bool,
    /// The file with the text of its prompt, relative to the project; the one built in where absent
    pub template: Option<String>,
    /// Hooks by moment
    pub hooks: BTreeMap<Moment, Vec<HookSettings>>,
}

impl Default for LoopSettings {
    fn default() -> Self {
        Self {
            role: "builder".to_owned(),
            iterations: 10,
            failures: 3,
            commit: false,
            template: None,
            hooks: BTreeMap::new(),
        }
    }
}

/// A command that runs around an iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookSettings {
    /// The program and its arguments, with `{{variable}}` in them
    pub command: Vec<String>,
    /// Time limit in seconds
    pub timeout_s: u32,
    /// True if its output is passed to the next agent
    pub pipe_output: bool,
}

impl HookSettings {
    /// Default timeout of a hook, in seconds.
    pub const TIMEOUT_S: u32 = 30;
    /// Variables allowed in its arguments.
    pub const VARIABLES: [&'static str; 5] =
        ["session", "iteration", "task_id", "task_content", "error"];
}
