//! The service of loops, plans and the office.

use std::ops::Deref;

use crate::delivery::service::Delivery;

/// Handle to automation, which keeps nothing in memory. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Automation(Delivery);

impl Deref for Automation {
    type Target = Delivery;

    fn deref(&self) -> &Delivery {
        &self.0
    }
}

impl Automation {
    pub(crate) const fn new(delivery: Delivery) -> Self {
        Self(delivery)
    }
}
