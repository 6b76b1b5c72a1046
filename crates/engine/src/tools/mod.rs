//! The registry: every tool there is, in the order in which lists show them.

mod agent;
pub(crate) mod agents;
pub(crate) mod epic;
pub(crate) mod files;
mod git;
mod harness;
pub(crate) mod items;
mod mail;
mod orchestrator;
pub(crate) mod resources;
mod review;
mod session;
mod supervisor;
mod system;
mod task;
pub(crate) mod templates;

use crate::call::tool::ToolDef;

/// Other names of tools, each with the canonical one. They can be called, and no list shows them.
pub const ALIASES: &[(&str, &str)] =
    &[("mcp__review__create_pr", "mcp__review__create_pull_request")];

/// The tool of a canonical name or an alias, if it is one of those that there always are.
pub fn by_name(name: &str) -> Option<&'static ToolDef> {
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, tool)| tool);
    TOOLS.iter().find(|tool| tool.name == name)
}

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
    ToolDef::probe::<supervisor::get_review_queue::GetReviewQueue>(),
    ToolDef::ask::<supervisor::approve_task::ApproveTask>(),
    ToolDef::write::<supervisor::request_changes::RequestChanges>(),
    ToolDef::write::<supervisor::force_complete_task::ForceCompleteTask>(),
    ToolDef::ask::<supervisor::create_epic_pr::CreateEpicPr>(),
    ToolDef::probe::<orchestrator::list_supervisors::ListSupervisors>(),
    ToolDef::probe::<orchestrator::check_supervisor_health::CheckSupervisorHealth>(),
    ToolDef::write::<orchestrator::create_supervisor::CreateSupervisor>(),
    ToolDef::ask::<orchestrator::recover_supervisor::RecoverSupervisor>(),
    ToolDef::read::<orchestrator::list_pending_epics::ListPendingEpics>(),
    ToolDef::probe::<git::get_diff::GetDiff>(),
    ToolDef::ask::<git::commit::Commit>(),
    ToolDef::ask::<git::rebase::Rebase>(),
    ToolDef::write::<files::reserve::Reserve>(),
    ToolDef::write::<files::release::Release>(),
    ToolDef::read::<files::list_reservations::ListReservations>(),
    ToolDef::ask::<review::request_review::RequestReview>(),
    ToolDef::ask::<review::create_pull_request::CreatePullRequest>(),
    ToolDef::ask::<review::send_feedback::SendFeedback>(),
    ToolDef::ask::<review::create_issues::CreateIssues>(),
    ToolDef::write::<session::task_add::TaskAdd>(),
    ToolDef::write::<session::task_update::TaskUpdate>(),
    ToolDef::read::<session::task_list::TaskList>(),
    ToolDef::write::<session::task_next::TaskNext>(),
    ToolDef::write::<session::note_add::NoteAdd>(),
    ToolDef::read::<session::note_list::NoteList>(),
    ToolDef::write::<session::iteration_summary::IterationSummary>(),
    ToolDef::write::<session::session_complete::SessionComplete>(),
];
