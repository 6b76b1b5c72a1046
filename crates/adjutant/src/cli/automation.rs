//! The grammar of the commands about loops, plans and the office.

pub(crate) mod loops;
pub(crate) mod office;
pub(crate) mod plans;
