//! The service that brings work to where it belongs: reviews, merges, pull requests, worktrees.

use std::ops::Deref;
use std::sync::Arc;

use crate::crew::service::Crew;
use crate::delivery::outbox::OutboxState;

/// Handle to the delivery of work. Cheap to clone; all clones are the same one.
#[derive(Debug, Clone)]
pub struct Delivery(Arc<DeliveryState>);

/// State behind every clone of [`Delivery`].
#[derive(Debug)]
pub struct DeliveryState {
    crew: Crew,
    pub(crate) outbox: Arc<OutboxState>,
}

impl Deref for Delivery {
    type Target = DeliveryState;

    fn deref(&self) -> &DeliveryState {
        &self.0
    }
}

impl Deref for DeliveryState {
    type Target = Crew;

    fn deref(&self) -> &Crew {
        &self.crew
    }
}

impl Delivery {
    pub(crate) fn new(crew: Crew, outbox: Arc<OutboxState>) -> Self {
        Self(Arc::new(DeliveryState { crew, outbox }))
    }
}
