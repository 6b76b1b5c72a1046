//! The registry: every tool there is, in the order in which lists show them.

mod agent;
pub(crate) mod agents;
mod epic;
mod harness;
pub(crate) mod items;
mod mail;
mod paging;
mod session;
mod system;
mod task;
pub(crate) mod task_add;
pub(crate) mod task_change;
mod task_hold;
mod task_needs;

use crate::tool::ToolDef;

/// Every tool. A new one is one file and one line here.
pub static TOOLS: &[ToolDef] = &[
    ToolDef::write::<harness::draft_agent::DraftAgent>(),
    ToolDef::wait::<harness::await_agent::AwaitAgent>(),
    ToolDef::ask::<harness::kill_agent::KillAgent>(),
    ToolDef::read::<harness::list_agents::ListAgents>(),
    ToolDef::read::<harness::list_tasks::ListTasks>(),
    ToolDef::read::<harness::get_task_context::GetTaskContext>(),
    ToolDef::ask::<agents::spawn_claude::SpawnClaude>(),
    ToolDef::ask::<agents::spawn_codex::SpawnCodex>(),
    ToolDef::ask::<agents::spawn_parallel::SpawnParallel>(),
    ToolDef::read::<agents::list_running::ListRunning>(),
    ToolDef::wait::<agents::get_result::GetResult>(),
    ToolDef::wait::<mail::list_inbox::ListInbox>(),
    ToolDef::write::<mail::read::Read>(),
    ToolDef::write::<mail::send::Send>(),
    ToolDef::write::<mail::reply::Reply>(),
    ToolDef::read::<agent::get_status::GetStatus>(),
    ToolDef::read::<agent::get_task::GetTask>(),
    ToolDef::read::<agent::get_epic::GetEpic>(),
    ToolDef::write::<system::log_decision::LogDecision>(),
    ToolDef::write::<task::create::Create>(),
    ToolDef::write::<task::assign::Assign>(),
    ToolDef::write::<task::update_status::UpdateStatus>(),
    ToolDef::write::<task::add_comment::AddComment>(),
    ToolDef::read::<task::get::Get>(),
    ToolDef::read::<task::list::List>(),
    ToolDef::write::<epic::create::Create>(),
    ToolDef::write::<epic::update_status::UpdateStatus>(),
    ToolDef::read::<epic::get::Get>(),
    ToolDef::read::<epic::list::List>(),
    ToolDef::write::<session::task_add::TaskAdd>(),
    ToolDef::write::<session::task_update::TaskUpdate>(),
    ToolDef::read::<session::task_list::TaskList>(),
    ToolDef::write::<session::task_next::TaskNext>(),
    ToolDef::write::<session::note_add::NoteAdd>(),
    ToolDef::read::<session::note_list::NoteList>(),
    ToolDef::write::<session::iteration_summary::IterationSummary>(),
    ToolDef::write::<session::session_complete::SessionComplete>(),
];
