//! The operator's actions on webhooks: retry, test, enable.

use std::time::Duration;

use model::DeliveryId;
use model::nearest::nearest;
use model::webhook::DeliveryState;
use serde_json::{Value, json};
use store::{Page, Tx};
use tokio::time::Instant;
use wire::webhooks::{DeliveryView, TestDelivery, WebhookView};

use super::message::Content;
use super::send;
use super::view::{delivery_view, webhook_view};
use crate::call::cx::fresh;
use crate::core::error::ToolError;
use crate::core::settings::WebhookSettings;
use crate::notify::service::Notifications;

/// Messages retried at once.
const RETRY_BATCH: u32 = 1000;

impl Notifications {
    /// The webhook of that name in the configuration.
    pub(super) fn webhook(&self, name: &str) -> Result<WebhookSettings, ToolError> {
        let settings = self.settings();
        if let Some(hook) = settings.webhooks.iter().find(|hook| hook.name == name) {
            return Ok(hook.clone());
        }
        let error = ToolError::not_found(format!("there is no webhook `{name}`"));
        let known = settings.webhooks.iter().map(|hook| hook.name.as_str());
        Err(match nearest(name, known) {
            Some(near) => error.hint(format!("did you mean `{near}`?")).detail("nearest", near),
            None => error.hint("`adjutant webhooks` lists them; add one in the configuration"),
        })
    }

    /// Sends a message that was given up again, once and beside all others.
    pub async fn webhook_retry(
        &self,
        name: &str,
        id: DeliveryId,
    ) -> Result<DeliveryView, ToolError> {
        let (hook, engine) = (self.sendable(name)?, self.clone());
        let (form, project) = (hook.form, self.project_name());
        let view = self.store.write(move |tx| {
            let missing = || {
                ToolError::not_found(format!("there is no message `{id}` to `{}`", hook.name))
                    .hint("`adjutant webhooks dead` lists failed messages")
            };
            let delivery = tx.delivery_get(&hook.name, id)?.ok_or_else(missing)?;
            if !tx.delivery_retry(&delivery, engine.now())? {
                let state = delivery.state.name();
                return Err(ToolError::conflict(format!("`{id}` has not failed: it is {state}"))
                    .hint("only failed messages can be retried")
                    .detail("state", state));
            }
            let input = json!({ "webhook": hook.name, "deliveryId": id });
            record(tx, &engine, "operator__webhook_retry", &input, &json!({ "retried": 1 }))?;
            let delivery = tx.delivery_get(&hook.name, id)?.ok_or_else(missing)?;
            delivery_view(tx, form, &project, delivery)
        });
        let view = view.await?;
        self.webhook_state.ring();
        Ok(view)
    }

    /// Sends everything that was given up again, and says how much that was.
    pub async fn webhook_retry_all(&self, name: &str) -> Result<u64, ToolError> {
        let (hook, engine) = (self.sendable(name)?, self.clone());
        let retried = self.store.write(move |tx| {
            let mut retried = 0;
            loop {
                let page =
                    tx.delivery_page(&hook.name, Some(DeliveryState::Dead), i64::MAX, RETRY_BATCH)?;
                let Page { items, next } = page;
                for delivery in &items {
                    retried += u64::from(tx.delivery_retry(delivery, engine.now())?);
                }
                if next.is_none() {
                    break;
                }
            }
            let (input, output) = (json!({ "webhook": hook.name }), json!({ "retried": retried }));
            record(tx, &engine, "operator__webhook_retry", &input, &output)?;
            Ok::<_, ToolError>(retried)
        });
        let retried = retried.await?;
        self.webhook_state.ring();
        Ok(retried)
    }

    /// Sends a message of no meaning now, and says what came back.
    pub async fn webhook_test(&self, name: &str) -> Result<TestDelivery, ToolError> {
        let hook = self.webhook(name)?;
        if let Some(problem) = hook.problem() {
            return Err(cannot_send(name, &problem));
        }
        let (id, at) = (fresh(DeliveryId::from_bits)?, self.now());
        let data = json!({
            "number": null, "project": self.project_name(), "agentId": null, "taskId": null,
            "details": { "webhook": name, "message": "This is a test of this webhook." },
        });
        let content = Content { kind: "webhook.test", at, data };
        let begun = Instant::now();
        let (_, tried) = send::post(self, &hook, id, &content).await;
        let sent = TestDelivery {
            webhook: name.to_owned(),
            id,
            ok: tried.error.is_none(),
            status: tried.status,
            error: tried.error,
            millis: millis(begun.elapsed()),
        };
        let (input, output) = (json!({ "webhook": name }), json!(sent));
        let engine = self.clone();
        let noted = self
            .store
            .write(move |tx| record(tx, &engine, "operator__webhook_test", &input, &output));
        noted.await?;
        Ok(sent)
    }

    /// Goes on with a webhook that is disabled: from where it stopped, or with what happens from now on.
    pub async fn webhook_enable(&self, name: &str, from: Resume) -> Result<WebhookView, ToolError> {
        let (hook, engine) = (self.webhook(name)?, self.clone());
        let view = self.store.write(move |tx| {
            if !tx.webhook_enable(&hook.name, engine.now())? {
                return Err(ToolError::conflict(format!("`{}` is not disabled", hook.name)));
            }
            if from == Resume::Now {
                tx.webhook_skip(&hook.name)?;
            }
            let input = json!({ "webhook": hook.name, "skipMissed": from == Resume::Now });
            record(tx, &engine, "operator__webhook_enable", &input, &json!({ "enabled": true }))?;
            webhook_view(tx, &hook)
        });
        let view = view.await?;
        self.webhook_state.ring();
        Ok(view)
    }

    /// A webhook to which something can be sent.
    fn sendable(&self, name: &str) -> Result<WebhookSettings, ToolError> {
        let hook = self.webhook(name)?;
        if let Some(problem) = hook.problem() {
            return Err(cannot_send(name, &problem));
        }
        let row = self.store.read(|tx| tx.webhook_get(name))?;
        if row.is_some_and(|row| row.disabled_at.is_some()) {
            return Err(ToolError::conflict(format!("the webhook `{name}` is disabled"))
                .hint(format!("enable it first: `adjutant webhooks enable {name}`")));
        }
        Ok(hook)
    }
}

/// Where a webhook that was disabled goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// Where it stopped
    Missed,
    /// With what happens from now on
    Now,
}

fn cannot_send(name: &str, problem: &str) -> ToolError {
    ToolError::conflict(format!("nothing can be sent to `{name}`: {problem}"))
        .hint("set it in the server's environment, then restart the server")
}

fn record(
    tx: &mut Tx<'_>,
    engine: &Notifications,
    tool: &str,
    input: &Value,
    output: &Value,
) -> Result<(), ToolError> {
    tx.audit_append(&engine.operator_row(tool, None, input.to_string(), output))?;
    Ok(())
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
