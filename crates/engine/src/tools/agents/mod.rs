//! `agents`: agents started from a bare prompt, as the spawner's seed has them.

pub(super) mod get_result;
pub(super) mod list_running;
pub(crate) mod spawn;
pub(super) mod spawn_claude;
pub(super) mod spawn_codex;
pub(super) mod spawn_parallel;
