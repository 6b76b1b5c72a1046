//! Changes to tasks that several toolsets share.

pub(crate) mod epic;
pub(crate) mod reservations;
pub(crate) mod task_add;
pub(crate) mod task_change;
pub(crate) mod task_hold;
pub(crate) mod task_needs;
pub(crate) mod view;
