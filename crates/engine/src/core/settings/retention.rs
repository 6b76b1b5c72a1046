//! Settings of retention.

use model::Age;

/// Ages after which the server removes things by itself. An absent age keeps them for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetentionSettings {
    /// Run folders of agents, merges and loops
    pub runs: Option<Age>,
    /// Raw output in run folders
    pub output: Option<Age>,
    /// Agents' branches and rescue branches that another branch has
    pub branches: Option<Age>,
    /// Delivered messages to webhooks
    pub deliveries: Option<Age>,
    /// Answers that are remembered for calls with a key; never less than a day
    pub answers: Option<Age>,
    /// Events that nothing needs
    pub events: Option<Age>,
    /// Rows of the audit chain, which move into archives
    pub audit: Option<Age>,
}

impl Default for RetentionSettings {
    fn default() -> Self {
        Self {
            runs: None,
            output: None,
            branches: None,
            deliveries: Some(Age::days(30)),
            answers: Some(Age::days(1)),
            events: None,
            audit: None,
        }
    }
}
