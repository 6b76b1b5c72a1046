//! The service that tells the outside of events: webhooks and Slack.

use std::ops::Deref;
use std::sync::Arc;

use crate::automation::service::Automation;
use crate::notify::slack::SlackState;
use crate::notify::webhooks::WebhookState;

/// Handle to notifications. Cheap to clone; all clones are the same one.
#[derive(Debug, Clone)]
pub struct Notifications(Arc<NotificationsState>);

/// State behind every clone of [`Notifications`].
#[derive(Debug)]
pub struct NotificationsState {
    automation: Automation,
    pub(crate) webhook_state: WebhookState,
    pub(crate) slack_state: SlackState,
}

impl Deref for Notifications {
    type Target = NotificationsState;

    fn deref(&self) -> &NotificationsState {
        &self.0
    }
}

impl Deref for NotificationsState {
    type Target = Automation;

    fn deref(&self) -> &Automation {
        &self.automation
    }
}

impl Notifications {
    pub(crate) fn new(automation: Automation) -> Self {
        let (webhook_state, slack_state) = (WebhookState::default(), SlackState::default());
        Self(Arc::new(NotificationsState { automation, webhook_state, slack_state }))
    }
}
