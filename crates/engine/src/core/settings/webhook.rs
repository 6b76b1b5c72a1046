//! Webhook settings.

use std::fmt;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use model::event::EventKind;

/// Prefix of a signing key.
const PREFIX: &str = "whsec_";
/// Allowed length of a key, in bytes.
const KEY_BYTES: std::ops::RangeInclusive<usize> = 24..=64;
/// No key of Inngest's is longer.
const MAX_EVENT_KEY_CHARS: usize = 200;

/// Base64 with or without the signs at its end.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Endpoint that receives events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookSettings {
    /// Name
    pub name: String,
    /// Where it is
    pub url: String,
    /// In which form it is told
    pub form: WebhookForm,
    /// Patterns of event kinds, as configured
    pub patterns: Vec<String>,
    /// Those kinds
    pub kinds: Vec<EventKind>,
    /// Signing key or credential
    pub key: WebhookKey,
    /// Attempts per message
    pub attempts: u32,
}

impl WebhookSettings {
    /// Where it is, for everybody's eyes: paths and questions often are secrets.
    pub fn shown_url(&self) -> String {
        shown(&self.url)
    }

    /// Why nothing can be sent to it, if so.
    pub fn problem(&self) -> Option<String> {
        match &self.key {
            WebhookKey::None | WebhookKey::Secret(_) => None,
            WebhookKey::Missing(variable) => Some(format!("the variable `{variable}` is not set")),
            WebhookKey::Wrong(variable, why) => Some(format!("the variable `{variable}` {why}")),
        }
    }
}

/// An address without what may be secret in it.
pub fn shown(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    // A name and a password are refused elsewhere; should they be there, they are not for everybody.
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let path = if path.len() > 1 { "/…" } else { path };
    format!("{scheme}://{host}{path}")
}

/// The form of a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WebhookForm {
    /// That of the Standard Webhooks specification
    #[default]
    Standard,
    /// As Inngest takes events
    Inngest,
}

impl WebhookForm {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Inngest => "inngest",
        }
    }

    /// Takes a key that fits the form, or says what is wrong with it. The words do not have the key in them.
    pub fn check(self, key: &str) -> Result<(), String> {
        match self {
            Self::Standard => decode(key).map(|_| ()).ok_or_else(|| {
                format!(
                    "must be `{PREFIX}` and {} to {} bytes in base64, as \
                     `{PREFIX}$(openssl rand -base64 32)` makes one",
                    KEY_BYTES.start(),
                    KEY_BYTES.end()
                )
            }),
            Self::Inngest => {
                let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
                let good = !key.is_empty() && key.len() <= MAX_EVENT_KEY_CHARS;
                if good && key.chars().all(fits) {
                    Ok(())
                } else {
                    Err("must be Inngest's event key: letters, digits, `-` and `_`".to_owned())
                }
            }
        }
    }
}

/// The bytes of a key to sign with.
pub(crate) fn decode(key: &str) -> Option<Vec<u8>> {
    let bytes = BASE64.decode(key.strip_prefix(PREFIX)?).ok()?;
    KEY_BYTES.contains(&bytes.len()).then_some(bytes)
}

/// Signing key or credential of a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebhookKey {
    /// Nothing: receivers cannot verify the messages
    None,
    /// This
    Secret(Secret),
    /// Value of an environment variable that is not set
    Missing(String),
    /// Value of an environment variable that is invalid, with the reason
    Wrong(String, String),
}

/// A secret, which is not shown by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A secret.
    pub const fn new(text: String) -> Self {
        Self(text)
    }

    /// The secret itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_fits_its_form() {
        let standard = |key: &str| WebhookForm::Standard.check(key).is_ok();
        assert!(standard("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
        assert!(standard(&format!("whsec_{}", "A".repeat(43))), "without its last sign");
        for key in ["", "whsec_", "whsec_c2hvcnQ=", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_!"] {
            assert!(!standard(key), "{key}");
        }
        assert!(!standard(&format!("whsec_{}", "A".repeat(200))), "too long");
        let inngest = |key: &str| WebhookForm::Inngest.check(key).is_ok();
        assert!(inngest("dev") && inngest("aB3_-x"));
        assert!(!inngest("") && !inngest("a/b") && !inngest("a b") && !inngest(&"a".repeat(201)));
    }

    #[test]
    fn no_secret_is_shown() {
        for (url, expected) in [
            ("https://hooks.example.com/services/T/B/xyz", "https://hooks.example.com/…"),
            ("http://127.0.0.1:5678?key=1", "http://127.0.0.1:5678/…"),
            ("https://me:word@example.com/", "https://example.com/"),
            ("https://example.com", "https://example.com"),
        ] {
            assert_eq!(shown(url), expected);
        }
        assert_eq!(format!("{:?}", Secret::new("sesame".to_owned())), "Secret(…)");
    }
}
