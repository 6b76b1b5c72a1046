//! Automatic work: loops, plans, supervisors of epics.

pub(crate) mod loops;
pub(crate) mod office;
pub(crate) mod plans;
pub(crate) mod service;
