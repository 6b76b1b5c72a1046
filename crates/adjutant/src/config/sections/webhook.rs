//! Webhooks.

use std::fmt;

use engine::settings::{self, WebhookKey, WebhookSettings};
use model::event::EventKind;
use model::nearest::nearest;
use model::webhook::{DEFAULT_ATTEMPTS, kinds_of};
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};

use super::review::{variable, within};
use crate::environment::Environment;

/// No name is longer.
const MAX_NAME_BYTES: usize = 64;

/// Endpoint that receives events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", try_from = "RawWebhook")]
pub(crate) struct Webhook {
    /// Name
    pub(crate) name: String,
    /// Where
    pub(crate) url: String,
    /// Kinds of events; `*` matches anything
    pub(crate) kinds: Vec<String>,
    /// The key of the signature; better kept in a variable
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) secret: Option<Secret>,
    /// The variable that holds the key
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) secret_variable: Option<String>,
    /// In which form
    pub(crate) form: WebhookForm,
    /// Attempts per message
    pub(crate) attempts: u32,
}

/// Parsed entry of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RawWebhook {
    #[serde(deserialize_with = "name")]
    name: String,
    #[serde(deserialize_with = "address")]
    url: String,
    #[serde(default = "every_kind", alias = "events", deserialize_with = "kinds")]
    kinds: Vec<String>,
    #[serde(default)]
    secret: Option<String>,
    #[serde(default, alias = "secretEnv", deserialize_with = "variable_or_none")]
    secret_variable: Option<String>,
    #[serde(default)]
    form: WebhookForm,
    #[serde(default = "attempts", deserialize_with = "tries")]
    attempts: u32,
}

impl TryFrom<RawWebhook> for Webhook {
    type Error = String;

    fn try_from(given: RawWebhook) -> Result<Self, String> {
        let RawWebhook { name, url, kinds, secret, secret_variable, form, attempts } = given;
        match (&secret, &secret_variable) {
            (Some(_), Some(_)) => {
                return Err(format!("`{name}` has a `secret` and a `secretVariable`; keep one"));
            }
            (None, None) if form == WebhookForm::Inngest => {
                return Err(format!(
                    "`{name}` needs Inngest's event key: in a variable that `secretVariable` names, or as `secret`"
                ));
            }
            _ => {}
        }
        if let Some(secret) = &secret {
            let form = settings::WebhookForm::from(form);
            form.check(secret).map_err(|why| format!("the `secret` of `{name}` {why}"))?;
        }
        let secret = secret.map(Secret);
        Ok(Self { name, url, kinds, secret, secret_variable, form, attempts })
    }
}

impl Webhook {
    /// Converts to the engine's settings.
    pub(crate) fn settings(&self, env: &Environment) -> WebhookSettings {
        let form = settings::WebhookForm::from(self.form);
        let secret = |text: &str| WebhookKey::Secret(settings::Secret::new(text.to_owned()));
        let key = match (&self.secret, &self.secret_variable) {
            (Some(Secret(text)), _) => secret(text),
            (None, None) => WebhookKey::None,
            (None, Some(variable)) => match env.variable(variable) {
                None => WebhookKey::Missing(variable.clone()),
                Some(text) => match form.check(text.trim()) {
                    Ok(()) => secret(text.trim()),
                    Err(why) => WebhookKey::Wrong(variable.clone(), why),
                },
            },
        };
        let wanted = |kind: &&EventKind| {
            self.kinds.iter().any(|pattern| model::webhook::fits(pattern, **kind))
        };
        WebhookSettings {
            name: self.name.clone(),
            url: self.url.clone(),
            form,
            patterns: self.kinds.clone(),
            kinds: EventKind::ALL.iter().filter(wanted).copied().collect(),
            key,
            attempts: self.attempts,
        }
    }
}

/// A secret, which is not shown by accident. It is written where a configuration is made of another.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// The form of a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WebhookForm {
    /// That of the Standard Webhooks specification
    #[default]
    #[serde(alias = "plain")]
    Standard,
    /// As Inngest wants it
    Inngest,
}

impl From<WebhookForm> for settings::WebhookForm {
    fn from(form: WebhookForm) -> Self {
        match form {
            WebhookForm::Standard => Self::Standard,
            WebhookForm::Inngest => Self::Inngest,
        }
    }
}

fn every_kind() -> Vec<String> {
    vec!["*".to_owned()]
}

const fn attempts() -> u32 {
    DEFAULT_ATTEMPTS
}

fn tries<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    within(from, 1..=20)
}

/// Names stand in addresses and on command lines.
fn name<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric());
    if begins && text.len() <= MAX_NAME_BYTES && text.chars().all(fits) {
        return Ok(text);
    }
    Err(D::Error::custom(format!(
        "must be a name of up to {MAX_NAME_BYTES} letters, digits, `-`, `_` and `.`, as `n8n`"
    )))
}

/// The address is not repeated: it may have a secret in it.
fn address<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    let secret_in_it = text
        .split_once("://")
        .is_some_and(|(_, rest)| rest.split('/').next().is_some_and(|host| host.contains('@')));
    if secret_in_it {
        return Err(D::Error::custom("must be an address without a name and a password"));
    }
    match host::post::address(&text) {
        Some(_) => Ok(text),
        None => Err(D::Error::custom("must be an address, as `https://hooks.example.com/x`")),
    }
}

fn kinds<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let patterns = Vec::<String>::deserialize(from)?;
    for pattern in &patterns {
        if kinds_of(pattern).is_empty() {
            let known = EventKind::ALL.iter().map(|kind| kind.name());
            let near = match nearest(pattern, known) {
                Some(near) => format!("; did you mean `{near}`?"),
                None => ", as `agent.*` or `task.updated`".to_owned(),
            };
            return Err(D::Error::custom(format!("`{pattern}` fits no kind of event{near}")));
        }
    }
    if patterns.is_empty() {
        return Err(D::Error::custom("names no kind; leave it out for all of them"));
    }
    Ok(patterns)
}

fn variable_or_none<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    variable(from).map(Some)
}

/// A list in which no name stands twice.
pub(crate) fn webhooks<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Webhook>, D::Error> {
    let all = Vec::<Webhook>::deserialize(from)?;
    for (index, hook) in all.iter().enumerate() {
        if all.iter().take(index).any(|other| other.name == hook.name) {
            return Err(D::Error::custom(format!("two webhooks are called `{}`", hook.name)));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests;
