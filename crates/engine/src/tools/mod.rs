//! The registry: every tool there is, in the order in which lists show them.

mod mail;
mod paging;
pub(crate) mod task_change;

use crate::tool::ToolDef;

/// Every tool. A new one is one file and one line here.
pub static TOOLS: &[ToolDef] = &[
    ToolDef::wait::<mail::list_inbox::ListInbox>(),
    ToolDef::write::<mail::read::Read>(),
    ToolDef::write::<mail::send::Send>(),
    ToolDef::write::<mail::reply::Reply>(),
];
