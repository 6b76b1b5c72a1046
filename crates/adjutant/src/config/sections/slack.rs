//! Sections `slack` and `routing`: Slack, and roles for messages.

use engine::settings::{RoutingRule, RoutingSettings, SlackReactions, SlackSettings};
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};

use super::review::variable;

/// Routing of messages to roles.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Routing {
    /// Where no rule fits
    pub(crate) default: Option<String>,
    /// The first that fits decides
    pub(crate) rules: Vec<Rule>,
}

impl From<&Routing> for RoutingSettings {
    fn from(routing: &Routing) -> Self {
        let rule = |rule: &Rule| {
            // A pattern that cannot be read was refused with its line.
            RoutingRule::new(&rule.pattern, &rule.role, rule.cwd.as_deref()).ok()
        };
        let default = routing.default.clone().filter(|role| !role.trim().is_empty());
        Self { default, rules: routing.rules.iter().filter_map(rule).collect() }
    }
}

/// Sends what fits a pattern to a role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Rule {
    /// A regular expression; case does not count
    #[serde(deserialize_with = "pattern")]
    pub(crate) pattern: String,
    /// The role
    pub(crate) role: String,
    /// Where it works
    #[serde(default)]
    pub(crate) cwd: Option<String>,
}

fn pattern<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    match RoutingRule::new(&text, "", None) {
        Ok(_) => Ok(text),
        Err(why) => Err(D::Error::custom(format!("`{text}` is no regular expression: {why}"))),
    }
}

/// Slack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Slack {
    /// Users who may give orders; empty means nobody
    #[serde(deserialize_with = "users")]
    pub(crate) users: Vec<String>,
    /// Debounce time for a message, in milliseconds
    #[serde(deserialize_with = "debounce")]
    pub(crate) debounce_ms: u64,
    /// Reactions that show progress
    pub(crate) reactions: Reactions,
    /// The base URL of the API
    #[serde(deserialize_with = "address")]
    pub(crate) api_url: String,
    /// The variable that holds the bot's token
    #[serde(deserialize_with = "variable")]
    pub(crate) bot_token_variable: String,
    /// The variable that holds the app's token
    #[serde(deserialize_with = "variable")]
    pub(crate) app_token_variable: String,
}

impl Default for Slack {
    fn default() -> Self {
        let SlackSettings {
            api_url,
            bot_token_variable,
            app_token_variable,
            users,
            debounce_ms,
            reactions: _,
        } = SlackSettings::default();
        let reactions = Reactions::default();
        Self { users, debounce_ms, reactions, api_url, bot_token_variable, app_token_variable }
    }
}

impl From<&Slack> for SlackSettings {
    fn from(slack: &Slack) -> Self {
        let Reactions { received, working, success, failure } = slack.reactions.clone();
        Self {
            api_url: slack.api_url.clone(),
            bot_token_variable: slack.bot_token_variable.clone(),
            app_token_variable: slack.app_token_variable.clone(),
            users: slack.users.clone(),
            debounce_ms: slack.debounce_ms,
            reactions: SlackReactions { received, working, success, failure },
        }
    }
}

fn users<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let users = Vec::<String>::deserialize(from)?;
    let is_id = |id: &str| {
        id.starts_with(['U', 'W']) && id.len() > 1 && id.chars().all(|c| c.is_ascii_alphanumeric())
    };
    match users.iter().find(|user| !is_id(user)) {
        None => Ok(users),
        Some(odd) => Err(D::Error::custom(format!(
            "`{odd}` is no id of a user, as `U012AB3CD`; Slack shows it in the profile under \"Copy member ID\""
        ))),
    }
}

fn debounce<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let millis = u64::deserialize(from)?;
    if millis <= 600_000 {
        Ok(millis)
    } else {
        Err(D::Error::custom("must be 600000 at most, which is ten minutes"))
    }
}

fn address<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    let uri = host::post::address(&text).filter(|uri| uri.query().is_none());
    let safe =
        uri.is_some_and(|uri| uri.scheme_str() == Some("https") || host::post::is_local(&uri));
    if safe {
        Ok(text)
    } else {
        Err(D::Error::custom(
            "must be an address, as `https://slack.com/api`; tokens are sent there",
        ))
    }
}

/// Emoji, by what they stand for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Reactions {
    /// Read
    #[serde(deserialize_with = "emoji")]
    pub(crate) received: String,
    /// Under way
    #[serde(deserialize_with = "emoji")]
    pub(crate) working: String,
    /// Done
    #[serde(deserialize_with = "emoji")]
    pub(crate) success: String,
    /// Failed
    #[serde(deserialize_with = "emoji")]
    pub(crate) failure: String,
}

impl Default for Reactions {
    fn default() -> Self {
        let SlackReactions { received, working, success, failure } = SlackReactions::default();
        Self { received, working, success, failure }
    }
}

/// Slack knows an emoji by its name; the colons around it are only for people.
fn emoji<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    let name = text.trim_matches(':');
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | ':');
    if name.is_empty() || !name.chars().all(fits) {
        return Err(D::Error::custom("must be the name of an emoji, as `eyes`"));
    }
    Ok(name.to_owned())
}
