//! Body, headers and signature of a delivery.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use model::event::EventKind;
use model::{DeliveryId, Timestamp};
use serde_json::{Value, json};
use sha2::Sha256;
use store::Event;

use crate::core::redact::redact;
use crate::core::settings::{WebhookForm, WebhookKey, WebhookSettings, webhook_key};

/// Content of a message.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Content {
    /// Kind of the event
    pub(super) kind: &'static str,
    /// When
    pub(super) at: Timestamp,
    /// The rest
    pub(super) data: Value,
}

impl Content {
    /// Content for an event.
    pub(super) fn of(event: &Event, project: &str) -> Self {
        let data = json!({
            "number": event.number, "project": project, "agentId": event.agent, "taskId": event.task,
            "details": event.data,
        });
        Self { kind: event.kind.name(), at: event.at, data }
    }

    /// The body in that form.
    pub(super) fn body(&self, form: WebhookForm, id: DeliveryId) -> Value {
        match form {
            WebhookForm::Standard => {
                json!({ "type": self.kind, "timestamp": self.at, "data": self.data })
            }
            // It takes several at once; one each keeps what belongs together in order.
            WebhookForm::Inngest => json!([{
                "id": id, "name": self.kind, "ts": self.at.as_millis(), "data": self.inngest_data(),
            }]),
        }
    }

    /// Event data in Inngest's form: the details, beside the agent and task they concern. The data of
    /// `mail.sent` is an agreed form, which has nothing else in it.
    fn inngest_data(&self) -> Value {
        let Value::Object(mut data) = self.data.clone() else { return self.data.clone() };
        let Some(Value::Object(details)) = data.remove("details") else { return data.into() };
        if self.kind == EventKind::MailSent.name() {
            return details.into();
        }
        data.extend(details);
        data.into()
    }
}

/// A message as it goes out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    /// Where to
    pub(super) url: String,
    /// Beside those that every message has
    pub(super) headers: Vec<(&'static str, String)>,
    /// Decoded body
    pub(super) body: String,
}

/// A message to a webhook, as it is sent at that time.
pub(super) fn message(
    hook: &WebhookSettings,
    id: DeliveryId,
    content: &Content,
    now: Timestamp,
) -> Message {
    let body = redact(content.body(hook.form, id).to_string());
    let seconds = (now.as_millis() / 1000).to_string();
    let mut headers = vec![("webhook-id", id.to_string()), ("webhook-timestamp", seconds.clone())];
    let secret = match &hook.key {
        WebhookKey::Secret(secret) => Some(secret.reveal()),
        WebhookKey::None | WebhookKey::Missing(_) | WebhookKey::Wrong(..) => None,
    };
    let url = match (hook.form, secret) {
        (WebhookForm::Inngest, Some(key)) => format!("{}/e/{key}", hook.url.trim_end_matches('/')),
        (WebhookForm::Inngest | WebhookForm::Standard, _) => hook.url.clone(),
    };
    if let (WebhookForm::Standard, Some(key)) = (hook.form, secret.and_then(webhook_key)) {
        headers.push(("webhook-signature", sign(&key, &format!("{id}.{seconds}.{body}"))));
    }
    Message { url, headers, body }
}

/// The signature of a text, as it stands in the header.
fn sign(key: &[u8], text: &str) -> String {
    // A key of any length will do.
    let mac = Hmac::<Sha256>::new_from_slice(key).map(|mac| mac.chain_update(text).finalize());
    let signature = mac.map(|mac| BASE64_STANDARD.encode(mac.into_bytes())).unwrap_or_default();
    format!("v1,{signature}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{AgentId, TaskId};

    use crate::core::settings::Secret;

    const KEY: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    fn hook(form: WebhookForm, key: &str) -> WebhookSettings {
        WebhookSettings {
            name: "it".to_owned(),
            url: "http://127.0.0.1:1/x/".to_owned(),
            form,
            patterns: vec!["*".to_owned()],
            kinds: EventKind::ALL.to_vec(),
            key: WebhookKey::Secret(Secret::new(key.to_owned())),
            attempts: 1,
        }
    }

    fn event() -> Event {
        Event {
            number: 7,
            kind: EventKind::AgentFinished,
            at: Timestamp::from_millis(1_763_208_309_042),
            agent: Some(AgentId::from_bits(1)),
            task: Some(TaskId::from_bits(2)),
            data: json!({ "outcome": "succeeded" }),
        }
    }

    /// The specification's own libraries have this in their tests.
    #[test]
    fn the_signature_is_the_specifications() {
        let key = webhook_key(KEY).unwrap();
        let text = r#"msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}"#;
        assert_eq!(sign(&key, text), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn the_body_is_the_specifications_or_inngests() {
        let (id, now) = (DeliveryId::from_bits(3), Timestamp::from_millis(1_763_208_310_999));
        let content = Content::of(&event(), "shop");
        let data = json!({
            "number": 7, "project": "shop", "agentId": "sp_0000000000000001",
            "taskId": "task_0000000000000002", "details": { "outcome": "succeeded" },
        });
        let sent = message(&hook(WebhookForm::Standard, KEY), id, &content, now);
        let body: Value = serde_json::from_str(&sent.body).unwrap();
        let expected = json!({
            "type": "agent.finished", "timestamp": "2025-11-15T12:05:09.042Z", "data": data,
        });
        assert_eq!((body, sent.url.as_str()), (expected, "http://127.0.0.1:1/x/"));
        let names: Vec<&str> = sent.headers.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["webhook-id", "webhook-timestamp", "webhook-signature"]);
        assert_eq!(sent.headers[1].1, "1763208310", "the time of the try, not of the event");

        let sent = message(&hook(WebhookForm::Inngest, "k3y"), id, &content, now);
        let body: Value = serde_json::from_str(&sent.body).unwrap();
        let expected = json!([{
            "id": "msg_0000000000000003", "name": "agent.finished", "ts": 1_763_208_309_042_i64,
            "data": {
                "number": 7, "project": "shop", "agentId": "sp_0000000000000001",
                "taskId": "task_0000000000000002", "outcome": "succeeded",
            },
        }]);
        assert_eq!((body, sent.url.as_str()), (expected, "http://127.0.0.1:1/x/e/k3y"));
        assert_eq!(sent.headers.len(), 2, "the key lets it in");
    }

    #[test]
    fn inngest_gets_mail_in_the_agreed_form() {
        let details = json!({
            "mailId": "mail_1", "toAgentId": null, "isForHuman": true, "subject": "Need help",
        });
        let event = Event { kind: EventKind::MailSent, data: details.clone(), ..event() };
        let content = Content::of(&event, "shop");
        let body = content.body(WebhookForm::Inngest, DeliveryId::from_bits(3));
        assert_eq!((&body[0]["name"], &body[0]["data"]), (&json!("mail.sent"), &details));
    }
}
