//! The service that removes what is over and old, and copies the record.

use std::ops::Deref;
use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::views::service::Views;

/// Handle to the upkeep. Cheap to clone; all clones are the same one.
#[derive(Debug, Clone)]
pub struct Upkeep(Arc<UpkeepState>);

/// State behind every clone of [`Upkeep`].
#[derive(Debug)]
pub struct UpkeepState {
    views: Views,
    /// Its one permit is held while something is cleaned
    pub(crate) cleaning: Semaphore,
}

impl Deref for Upkeep {
    type Target = UpkeepState;

    fn deref(&self) -> &UpkeepState {
        &self.0
    }
}

impl Deref for UpkeepState {
    type Target = Views;

    fn deref(&self) -> &Views {
        &self.views
    }
}

impl Upkeep {
    pub(crate) fn new(views: Views) -> Self {
        Self(Arc::new(UpkeepState { views, cleaning: Semaphore::new(1) }))
    }
}
