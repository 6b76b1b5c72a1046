//! Tasks, epics, sessions with their notes, and reserved files.

pub(crate) mod epic;
pub(crate) mod note;
pub(crate) mod reservation;
pub(crate) mod session;
pub(crate) mod task;
pub(crate) mod task_list;
