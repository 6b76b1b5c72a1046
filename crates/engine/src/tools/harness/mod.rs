//! `harness`: the crew and its tasks as a coordinator sees them.

pub(super) mod get_task_context;
pub(super) mod list_agents;
pub(super) mod list_tasks;
