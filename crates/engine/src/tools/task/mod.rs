//! `task`: units of work, as the office speaks of them.

pub(super) mod add_comment;
pub(super) mod assign;
pub(super) mod create;
pub(super) mod get;
pub(super) mod list;
pub(super) mod update_status;
