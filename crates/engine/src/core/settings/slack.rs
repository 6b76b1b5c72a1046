//! Settings of Slack, and roles for messages.

use regex_lite::Regex;

/// Slack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlackSettings {
    /// The base URL of the API
    pub api_url: String,
    /// The variable that holds the bot's token
    pub bot_token_variable: String,
    /// The variable that holds the app's token
    pub app_token_variable: String,
    /// Users who may give orders; empty means nobody
    pub users: Vec<String>,
    /// Debounce time for a message, in milliseconds
    pub debounce_ms: u64,
    /// Reactions that show progress
    pub reactions: SlackReactions,
}

impl Default for SlackSettings {
    fn default() -> Self {
        Self {
            api_url: "https://slack.com/api".to_owned(),
            bot_token_variable: "SLACK_BOT_TOKEN".to_owned(),
            app_token_variable: "SLACK_APP_TOKEN".to_owned(),
            users: Vec::new(),
            debounce_ms: 2000,
            reactions: SlackReactions::default(),
        }
    }
}

/// Emoji, by what they stand for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlackReactions {
    /// Read
    pub received: String,
    /// Under way
    pub working: String,
    /// Done
    pub success: String,
    /// Failed
    pub failure: String,
}

impl Default for SlackReactions {
    fn default() -> Self {
        Self {
            received: "eyes".to_owned(),
            working: "hammer".to_owned(),
            success: "white_check_mark".to_owned(),
            failure: "x".to_owned(),
        }
    }
}

/// Routing of messages to roles.
#[derive(Debug, Clone, Default)]
pub struct RoutingSettings {
    /// Where no rule fits
    pub default: Option<String>,
    /// The first that fits decides
    pub rules: Vec<RoutingRule>,
}

/// Sends what fits a pattern to a role.
#[derive(Debug, Clone)]
pub struct RoutingRule {
    /// Pattern that the text must match
    pub pattern: Regex,
    /// The role
    pub role: String,
    /// Where it works
    pub cwd: Option<String>,
}

impl RoutingRule {
    /// A rule, or what is wrong with its pattern. Case does not count.
    pub fn new(pattern: &str, role: &str, cwd: Option<&str>) -> Result<Self, String> {
        let built = regex_lite::RegexBuilder::new(pattern).case_insensitive(true).build();
        let pattern = built.map_err(|error| error.to_string())?;
        Ok(Self { pattern, role: role.to_owned(), cwd: cwd.map(str::to_owned) })
    }
}
