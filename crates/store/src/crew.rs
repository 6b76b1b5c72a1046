//! Agents, their runs, their tree, their questions and their budgets.

pub(crate) mod agent;
pub(crate) mod budget;
pub(crate) mod budget_reserve;
pub(crate) mod question;
pub(crate) mod run;
pub(crate) mod spend;
pub(crate) mod tree;
