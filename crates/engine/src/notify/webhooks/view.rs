//! Views of webhooks and their deliveries. They contain no secret.

use model::Timestamp;
use model::webhook::DeliveryState;
use store::{Delivery, Page, RESENT_LINE_PREFIX, Tx, Webhook};
use wire::webhooks::{DeliveryView, WebhookStatus, WebhookView};

use super::message::Content;
use super::send::event_of;
use crate::core::error::ToolError;
use crate::core::settings::{WebhookForm, WebhookKey, WebhookSettings};
use crate::notify::service::Notifications;

/// Filter for listing deliveries.
#[derive(Debug, Clone, Copy)]
pub struct DeliveryQuery {
    /// Only those in this state
    pub state: Option<DeliveryState>,
    /// Only those before this number; the newest come first
    pub before: Option<i64>,
    /// Page size
    pub limit: u32,
}

/// Reads a webhook of the configuration with its status.
pub(super) fn webhook_view(tx: &Tx<'_>, hook: &WebhookSettings) -> Result<WebhookView, ToolError> {
    let row = tx.webhook_get(&hook.name)?;
    let at = |time: fn(&Webhook) -> Option<Timestamp>| row.as_ref().and_then(time);
    let disabled_why = row.as_ref().and_then(|row| row.disabled_why.clone());
    let (held, disabled_at) = (hook.problem(), at(|row| row.disabled_at));
    let last_error = row.as_ref().and_then(|row| row.last_error.clone());
    let is_new = at(|row| row.last_ok_at.or(row.last_failed_at)).is_none();
    let state = match (&held, disabled_at) {
        (Some(_), _) => WebhookStatus::Held,
        (None, Some(_)) => WebhookStatus::Disabled,
        (None, None) if is_new => WebhookStatus::New,
        (None, None) if last_error.is_some() => WebhookStatus::Failing,
        (None, None) => WebhookStatus::Ok,
    };
    Ok(WebhookView {
        name: hook.name.clone(),
        url: hook.shown_url(),
        form: hook.form.name().to_owned(),
        kinds: hook.patterns.clone(),
        has_key: matches!(hook.key, WebhookKey::Secret(_)),
        attempts: hook.attempts,
        state,
        problem: held.or(disabled_why),
        disabled_at,
        last_ok_at: at(|row| row.last_ok_at),
        last_failed_at: at(|row| row.last_failed_at),
        last_status: row.as_ref().and_then(|row| row.last_status),
        last_error,
        pending: tx.delivery_count(&hook.name, DeliveryState::Pending)?,
        dead: tx.delivery_count(&hook.name, DeliveryState::Dead)?,
        seen: row.map_or(0, |row| row.seen),
    })
}

/// Reads a message with its body.
pub(super) fn delivery_view(
    tx: &Tx<'_>,
    form: WebhookForm,
    project: &str,
    delivery: Delivery,
) -> Result<DeliveryView, ToolError> {
    let event = event_of(tx, delivery.event)?;
    let body = event.map(|event| Content::of(&event, project).body(form, delivery.id));
    Ok(DeliveryView {
        id: delivery.id,
        event_number: delivery.event,
        kind: delivery.kind,
        state: delivery.state,
        subject: delivery
            .line
            .strip_prefix(RESENT_LINE_PREFIX)
            .unwrap_or(&delivery.line)
            .to_owned(),
        webhook: delivery.webhook,
        attempts: delivery.attempts,
        next_try_at: delivery.due_at,
        last_status: delivery.last_status,
        last_error: delivery.last_error,
        created_at: delivery.created_at,
        ended_at: delivery.ended_at,
        body: body.unwrap_or_default(),
    })
}

impl Notifications {
    /// Every webhook of the configuration, and how it does.
    pub async fn webhooks(&self) -> Result<Vec<WebhookView>, ToolError> {
        let settings = self.settings();
        let all = self.store.scan(move |tx: &Tx<'_>| {
            settings.webhooks.iter().map(|hook| webhook_view(tx, hook)).collect()
        });
        all.await
    }

    /// The messages to a webhook, newest first.
    pub async fn webhook_deliveries(
        &self,
        name: &str,
        which: DeliveryQuery,
    ) -> Result<Page<DeliveryView>, ToolError> {
        let (hook, project) = (self.webhook(name)?, self.project_name());
        let DeliveryQuery { state, before, limit } = which;
        let page = self.store.scan(move |tx: &Tx<'_>| {
            let page = tx.delivery_page(&hook.name, state, before.unwrap_or(i64::MAX), limit)?;
            let views = page.items.into_iter();
            let views = views.map(|one| delivery_view(tx, hook.form, &project, one));
            Ok::<_, ToolError>((views.collect::<Result<Vec<_>, _>>()?, page.next))
        });
        let (items, next) = page.await?;
        Ok(Page { items, next })
    }

    /// Name of the project: its folder's name.
    pub(super) fn project_name(&self) -> String {
        let name = self.options.project.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }
}
