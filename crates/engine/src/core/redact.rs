//! Secrets in the engine: the values that this server knows, and redaction of texts.

use model::redact::{is_secret_name, learn_secrets, scrub};
use serde_json::{Value, json};

use crate::core::options::Options;
use crate::core::output::Output;
use crate::core::settings::{Settings, WebhookKey};

pub(crate) use model::redact::{LineRedactor, redact};

/// Learns the secrets that the server was started with.
pub(crate) fn learn_options(options: &Options) {
    let agents =
        options.agent_environment.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let operator = options
        .operator_environment
        .iter()
        .filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
    let secrets = agents.chain(operator).filter(|(name, value)| is_secret_variable(name, value));
    learn_secrets(secrets.map(|(_, value)| value));
    let given =
        [&options.github.token, &options.github.webhook, &options.slack.bot, &options.slack.app];
    learn_secrets(given.into_iter().flatten().map(String::as_str));
}

/// Learns the secrets that the configuration names.
pub(crate) fn learn_settings(settings: &Settings) {
    for runner in settings.runners.values() {
        learn_variables(&runner.environment);
    }
    for server in &settings.project_servers {
        learn_secrets(server.secrets().iter().map(String::as_str));
    }
    learn_secrets(settings.webhooks.iter().filter_map(|hook| match &hook.key {
        WebhookKey::Secret(secret) => Some(secret.reveal()),
        WebhookKey::None | WebhookKey::Missing(_) | WebhookKey::Wrong(..) => None,
    }));
}

/// Learns the secrets among variables of an environment.
pub(crate) fn learn_variables(variables: &[(String, String)]) {
    let variables = variables.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let secrets = variables.filter(|(name, value)| is_secret_variable(name, value));
    learn_secrets(secrets.map(|(_, value)| value));
}

/// Returns whether a variable holds a secret. A path is none: it says where one is.
fn is_secret_variable(name: &str, value: &str) -> bool {
    is_secret_name(name) && !value.starts_with('/')
}

/// Input of a call as the record keeps it.
#[derive(Debug)]
pub(crate) struct Recorded {
    /// JSON without its secrets
    pub(crate) text: String,
    has_secrets: bool,
}

impl Recorded {
    pub(crate) fn of(input: &Value) -> Self {
        let text = input.to_string();
        match scrub(&text) {
            Some(text) => Self { text, has_secrets: true },
            None => Self { text, has_secrets: false },
        }
    }

    /// Tells the writer of a call that its input had secrets: the answer gets a field `redacted` that names the
    /// fields. What goes to the addressee is exact, so that nothing has to be sent again.
    pub(crate) fn tell_writer(&self, input: &Value, output: Output) -> Output {
        let Some(fields) = input.as_object().filter(|_| self.has_secrets) else { return output };
        let fields: Vec<&str> = fields
            .iter()
            .filter(|(_, value)| scrub(&value.to_string()).is_some())
            .map(|(name, _)| name.as_str())
            .collect();
        let Some(text) = output.text.strip_suffix('}').filter(|_| !fields.is_empty()) else {
            return output;
        };
        let note = json!({
            "fields": fields,
            "note": "The record keeps this text without its secrets. The addressee gets it as you wrote it, for 24 \
                hours. Give secrets as environment variables instead.",
        });
        let comma = if text == "{" { "" } else { "," };
        Output { text: format!("{text}{comma}\"redacted\":{note}}}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_writer_is_told_which_fields_had_secrets() {
        let input = json!({ "subject": "keys", "body": "Bearer abcdefghijklmnop123", "n": 1 });
        for text in ["{}", r#"{"mailId":"mail_1"}"#] {
            let told = Recorded::of(&input).tell_writer(&input, Output { text: text.to_owned() });
            let told: Value = serde_json::from_str(&told.text).unwrap();
            assert_eq!(told["redacted"]["fields"], json!(["body"]));
        }
        let plain = json!({ "body": "plain" });
        let quiet = Recorded::of(&plain).tell_writer(&plain, Output { text: "{}".to_owned() });
        assert_eq!(quiet.text, "{}");
    }
}
