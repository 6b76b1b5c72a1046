//! Queries for people: the board, the crew, needs, and the stories of agents and tasks.

pub(crate) mod agent_story;
pub(crate) mod board;
pub(crate) mod crew;
pub(crate) mod needs;
pub(crate) mod task_story;
pub(crate) mod totals;
