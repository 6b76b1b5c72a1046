//! Webhooks: the grammar.

use clap::{Args, Subcommand};

/// `webhooks`.
#[derive(Debug, Args)]
pub(crate) struct WebhooksArgs {
    /// Action (default: list)
    #[command(subcommand)]
    pub(crate) verb: Option<WebhooksVerb>,
}

/// Actions of `webhooks`.
#[derive(Debug, Subcommand)]
pub(crate) enum WebhooksVerb {
    /// List webhooks and their states
    #[command(after_help = "\
Example:
  adjutant webhooks list --json | jq '.webhooks[] | select(.state != \"ok\")'")]
    List,
    /// List messages that could not be delivered
    #[command(after_help = "\
Example:
  adjutant webhooks dead
  adjutant webhooks dead n8n --json | jq '.deliveries[].body'")]
    Dead {
        /// Show only messages to this webhook
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
    /// Retry messages that could not be delivered
    #[command(after_help = "\
Example:
  adjutant webhooks retry n8n msg_0123456789abcdef
  adjutant webhooks retry n8n --all

Each message is tried once more.")]
    Retry {
        /// Name of the webhook
        #[arg(value_name = "NAME")]
        name: String,
        /// Id of the message, from `adjutant webhooks dead`
        #[arg(value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
        id: Option<String>,
        /// Retry all of them
        #[arg(long)]
        all: bool,
    },
    /// Send a test message and show the answer; exits with 1 if it is refused
    #[command(after_help = "\
Example:
  adjutant webhooks test n8n")]
    Test {
        /// Name of the webhook
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Enable a disabled webhook
    #[command(after_help = "\
Example:
  adjutant webhooks enable n8n
  adjutant webhooks enable n8n --skip-missed")]
    Enable {
        /// Name of the webhook
        #[arg(value_name = "NAME")]
        name: String,
        /// Skip events that happened meanwhile
        #[arg(long)]
        skip_missed: bool,
    },
}
