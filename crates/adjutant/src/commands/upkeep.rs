//! Commands that keep house: clean, back up, restore.

pub(crate) mod backup;
pub(crate) mod clean;
pub(crate) mod restore;
