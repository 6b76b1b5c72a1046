//! Checks that webhooks are reachable and encrypted.

use engine::settings::{WebhookForm, WebhookKey};

use super::Check;
use crate::config::{Config, Webhook};
use crate::environment::Environment;

/// Looks at each webhook of the configuration. Nothing is sent: `adjutant webhooks test NAME` does that.
pub(super) fn look(config: &Config, env: &Environment) -> Vec<Check> {
    config.webhooks.iter().map(|hook| one(hook, env)).collect()
}

fn one(named: &Webhook, env: &Environment) -> Check {
    let hook = named.settings(env);
    let (name, url) = (&hook.name, hook.shown_url());
    let warn = |what: String, next: String| Check::warn("webhooks", what, next);
    match &hook.key {
        WebhookKey::Missing(variable) => {
            let next =
                format!("set `{variable}` where `adjutant up` is run; until then nothing is sent");
            return warn(format!("`{name}`: `{variable}` is not set"), next);
        }
        WebhookKey::Wrong(variable, why) => {
            let next = "until then nothing is sent".to_owned();
            return warn(format!("`{name}`: `{variable}` {why}"), next);
        }
        WebhookKey::Secret(_) if named.secret.is_some() => {
            let next = "name a variable in `secretVariable`, and put the secret there".to_owned();
            return warn(
                format!("`{name}`: its secret stands in config.yaml, which git keeps"),
                next,
            );
        }
        WebhookKey::None | WebhookKey::Secret(_) => {}
    }
    let address = host::post::address(&hook.url);
    let is_open = address.is_some_and(|address| {
        address.scheme_str() == Some("http") && !host::post::is_local(&address)
    });
    if is_open {
        let next = "use `https://`, or keep it on this machine".to_owned();
        return warn(format!("`{name}`: messages to {url} are not encrypted"), next);
    }
    let signed = match (&hook.key, hook.form) {
        (WebhookKey::None, _) => ", not signed",
        (_, WebhookForm::Standard) => ", signed",
        (_, WebhookForm::Inngest) => ", with an event key",
    };
    Check::ok("webhooks", format!("`{name}` is {url}{signed}"))
}
