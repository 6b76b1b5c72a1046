//! `system`: what agents write down about themselves.

pub(super) mod log_decision;
