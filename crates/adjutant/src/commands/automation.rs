//! Commands about loops, plans and the office.

mod event_log;
pub(crate) mod loops;
pub(crate) mod office;
pub(crate) mod plans;
