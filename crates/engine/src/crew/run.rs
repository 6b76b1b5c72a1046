//! Agents that Adjutant runs itself, from the wish for one to its result.
//!
//! *Remember, then do; doing can be repeated.* [`draft`] records an agent. [`place`] decides whose turn
//! it is and records that. [`launch`] turns the record into a process, [`keeper`] follows it to its end,
//! [`report`] and [`finish`] write down what was seen, [`stop`] records the wish to end somebody.
//! [`reconcile`] takes up, after a restart, whatever lies between a wish and its deed. [`crew`] is the
//! loop that owns all of this.

pub(crate) mod ask;
mod crew;
pub(crate) mod draft;
mod environment;
pub(crate) mod finish;
mod keeper;
mod launch;
mod meter;
pub(crate) mod notes;
mod operator;
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
mod wish;

pub use crew::CrewService;
pub(crate) use crew::Keepers;
pub(crate) use draft::Drafted;
pub(crate) use environment::MissingVariables;
pub(crate) use launch::sandboxed;
pub use operator::{OutputPage, OutputWish};
pub(crate) use output_folders::{OutputFolders, setup_folders};
pub(crate) use wish::Claims;
pub use wish::{Draft, OnCap, Wish};
