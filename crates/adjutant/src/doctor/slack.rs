//! Checks the connection to Slack. Without tokens it makes no request.

use std::path::Path;
use std::time::Duration;

use host::slack::{Slack, SlackError, SlackTokens};

use super::Check;
use crate::config::Config;
use crate::environment::Environment;
use crate::home::Home;

/// Timeout of an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Looks whether Slack takes the tokens.
pub(crate) async fn look(flag: Option<&Path>, env: &Environment) -> Vec<Check> {
    let Some(config) = Home::find(flag, env).ok().and_then(|home| {
        // Its problem was reported already.
        Config::load(&home, env, &[]).ok().map(|loaded| loaded.config)
    }) else {
        return Vec::new();
    };
    let slack = &config.slack;
    let variables = [&slack.bot_token_variable, &slack.app_token_variable];
    let (bot, app) = match variables.map(|name| env.variable(name)) {
        [None, None] => return Vec::new(),
        [Some(bot), Some(app)] => (bot, app),
        [bot, _] => {
            let missing = if bot.is_none() { variables[0] } else { variables[1] };
            let next = "both tokens are needed where `adjutant up` is run; until then Slack is off";
            return vec![Check::warn("slack", format!("`{missing}` is not set"), next)];
        }
    };
    let mut checks = vec![match ask(&slack.api_url, SlackTokens { bot: &bot, app: &app }).await {
        Ok(team) => Check::ok("slack", format!("the tokens are good for {team}")),
        Err((variable, error)) => {
            let name = variables.get(variable).map_or("", |name| name.as_str());
            let next = match &error {
                SlackError::Refused { .. } => "copy it again from the app's page in Slack",
                _ => "look whether this machine reaches Slack",
            };
            Check::fail("slack", format!("`{name}`: {error}"), next)
        }
    }];
    if slack.users.is_empty() {
        let next = "name the ids of those who may give orders in `slack.users`";
        checks.push(Check::warn("slack", "no user may give orders, so Slack is off", next));
    }
    checks
}

/// The workspace, or which token is not taken and why.
async fn ask(url: &str, tokens: SlackTokens<'_>) -> Result<String, (usize, SlackError)> {
    let slack = Slack::new(url, tokens, ANSWER_TIMEOUT).map_err(|error| (0, error))?;
    let identity = slack.identity().await.map_err(|error| (0, error))?;
    slack.can_connect().await.map_err(|error| (1, error))?;
    Ok(identity.team)
}
