//! The service of those who watch.

use std::ops::Deref;
use std::sync::Arc;

use crate::notify::service::Notifications;
use crate::views::crew::Memo;
use crate::views::record::LastVerified;

/// Handle to the views. Cheap to clone; all clones are the same one.
#[derive(Debug, Clone)]
pub struct Views(Arc<ViewsState>);

/// State behind every clone of [`Views`].
#[derive(Debug)]
pub struct ViewsState {
    notifications: Notifications,
    /// Cached list of live agents
    pub(crate) memo: Memo,
    /// Position up to which the chain of calls was verified last
    pub(crate) last_verified: LastVerified,
}

impl Deref for Views {
    type Target = ViewsState;

    fn deref(&self) -> &ViewsState {
        &self.0
    }
}

impl Deref for ViewsState {
    type Target = Notifications;

    fn deref(&self) -> &Notifications {
        &self.notifications
    }
}

impl Views {
    pub(crate) fn new(notifications: Notifications) -> Self {
        Self(Arc::new(ViewsState {
            notifications,
            memo: Memo::default(),
            last_verified: LastVerified::default(),
        }))
    }
}
