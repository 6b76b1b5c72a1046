//! `harness`: the crew and its tasks as a coordinator sees them.

pub(super) mod await_agent;
pub(super) mod draft_agent;
pub(super) mod get_task_context;
pub(super) mod kill_agent;
pub(super) mod list_agents;
pub(super) mod list_tasks;
