//! The registry: every tool there is, in the order in which lists show them.

mod agent;
mod epic;
mod harness;
mod mail;
mod paging;
mod system;
mod task;
pub(crate) mod task_change;

use crate::tool::ToolDef;

/// Every tool. A new one is one file and one line here.
pub static TOOLS: &[ToolDef] = &[
    ToolDef::read::<harness::list_agents::ListAgents>(),
    ToolDef::read::<harness::list_tasks::ListTasks>(),
    ToolDef::read::<harness::get_task_context::GetTaskContext>(),
    ToolDef::wait::<mail::list_inbox::ListInbox>(),
    ToolDef::write::<mail::read::Read>(),
    ToolDef::write::<mail::send::Send>(),
    ToolDef::write::<mail::reply::Reply>(),
    ToolDef::read::<agent::get_status::GetStatus>(),
    ToolDef::read::<agent::get_task::GetTask>(),
    ToolDef::read::<agent::get_epic::GetEpic>(),
    ToolDef::write::<system::log_decision::LogDecision>(),
];
