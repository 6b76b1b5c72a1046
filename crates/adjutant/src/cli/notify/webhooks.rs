//! Webhooks: the grammar.

use clap::{Args, Subcommand};

/// `webhooks`.
#[derive(Debug, Args)]
pub(crate) struct WebhooksArgs {
    /// What to do; without it they are listed
    #[command(subcommand)]
    pub(crate) verb: Option<WebhooksVerb>,
}

/// What to do with webhooks.
#[derive(Debug, Subcommand)]
pub(crate) enum WebhooksVerb {
    /// List them, and how each does
    #[command(after_help = "\
Example:
  adjutant webhooks list --json | jq '.webhooks[] | select(.state != \"ok\")'")]
    List,
    /// List the messages that were given up
    #[command(after_help = "\
Example:
  adjutant webhooks dead
  adjutant webhooks dead n8n --json | jq '.deliveries[].body'")]
    Dead {
        /// Only those to this webhook
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
    /// Send messages that were given up again
    #[command(after_help = "\
Example:
  adjutant webhooks retry n8n msg_0123456789abcdef
  adjutant webhooks retry n8n --all

Each is tried once; what fails again is given up again.")]
    Retry {
        /// The webhook
        #[arg(value_name = "NAME")]
        name: String,
        /// The message, as `adjutant webhooks dead` names it
        #[arg(value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
        id: Option<String>,
        /// All that were given up
        #[arg(long)]
        all: bool,
    },
    /// Send a message of no meaning now, and say what came back; exits with 1 where it was not taken
    #[command(after_help = "\
Example:
  adjutant webhooks test n8n")]
    Test {
        /// The webhook
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Go on with a webhook that is disabled
    #[command(after_help = "\
Example:
  adjutant webhooks enable n8n
  adjutant webhooks enable n8n --skip-missed")]
    Enable {
        /// The webhook
        #[arg(value_name = "NAME")]
        name: String,
        /// Leave out what happened meanwhile
        #[arg(long)]
        skip_missed: bool,
    },
}
