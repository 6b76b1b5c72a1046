//! Agents that Adjutant runs itself, from the request to the result.
//!
//! Each step is recorded before it is carried out, and can be repeated. [`draft`] records an agent. [`place`] chooses
//! the queued agents that start. [`launch`] makes the process, [`keeper`] follows it to its end, [`report`] and
//! [`finish`] record what it did, and [`stop`] records the request to end it. After a restart, [`reconcile`] continues
//! whatever was recorded and not carried out. [`crew`] is the loop that owns all of this.

pub(crate) mod ask;
mod crew;
pub(crate) mod draft;
mod environment;
pub(crate) mod finish;
mod keeper;
pub(crate) mod last_message;
mod launch;
mod meter;
pub(crate) mod notes;
mod operator;
mod options;
mod output_folders;
mod overdue;
mod place;
mod prices;
pub(crate) mod reconcile;
mod remembered;
mod report;
pub(crate) mod required_review;
pub(crate) mod reserve;
pub(crate) mod stop;
mod terminal;
pub(crate) mod view;

pub use crew::CrewService;
pub(crate) use crew::Keepers;
pub(crate) use draft::Drafted;
pub(crate) use environment::{MissingVariables, values_of};
pub(crate) use launch::sandboxed;
pub use operator::OutputRequest;
pub(crate) use operator::{output_place, position};
pub(crate) use options::Claims;
pub use options::{Draft, OnCap, RunOptions};
pub(crate) use output_folders::{OutputFolders, setup_folders};
