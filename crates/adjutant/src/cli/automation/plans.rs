//! Plans: the grammar.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

/// `plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// Action
    #[command(subcommand)]
    pub(crate) verb: PlanVerb,
}

/// Actions of `plan`.
#[derive(Debug, Subcommand)]
pub(crate) enum PlanVerb {
    /// Run a plan and show its progress; exits with 1 if it is not completed
    #[command(after_help = "\
Example:
  adjutant plan run PLAN.md
  adjutant plan run PLAN.md --budget 5 --detach
  adjutant plan run PLAN.md --again     again, from its beginning

A plan is Markdown. Each heading such as `## Step 3: Title` is a step; without
such headings, each item of a numbered list. A step may have the lines
`Depends on: 1, 2`, `Role: coder` and `Budget: 2.50`; `[x]` or `Status: done`
marks it as done. Ctrl-C stops watching, not the plan.")]
    Run(PlanRunArgs),
    /// Show the steps of a plan without running it
    #[command(after_help = "\
Example:
  adjutant plan check PLAN.md
  adjutant plan check PLAN.md --json | jq '.steps[].title'")]
    Check {
        /// Plan, a Markdown file
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: PathBuf,
    },
    /// Show a plan's steps, their agents and questions to you
    #[command(after_help = "\
Example:
  adjutant plan status                  the running plan, or a list
  adjutant plan status release-1-0
  adjutant plan status --json | jq '.questions[].mailId'")]
    Status {
        /// Name of the plan (default: the running one)
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
    /// List the plans, newest first
    #[command(after_help = "\
Example:
  adjutant plan list
  adjutant plan list --json | jq -r '.plans[] | select(.state == \"failed\").name'")]
    List,
    /// Follow a plan until it ends; exits with 1 if it is not completed
    #[command(after_help = "\
Example:
  adjutant plan follow
  adjutant plan follow release-1-0")]
    Follow {
        /// Name of the plan (default: the running one)
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
    /// Stop a plan, kill its agents and free their tasks
    #[command(after_help = "\
Example:
  adjutant plan stop release-1-0")]
    Stop {
        /// Name of the plan
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Resume a plan that was stopped, failed or spent its budget
    #[command(after_help = "\
Example:
  adjutant plan resume release-1-0
  adjutant plan resume release-1-0 --budget 5     with $5 more")]
    Resume {
        /// Name of the plan
        #[arg(value_name = "NAME")]
        name: String,
        /// Add this many dollars to its budget (default: spend what is left)
        #[arg(long, short, value_name = "USD", value_parser = crate::cli::dollars)]
        budget: Option<f64>,
        /// Return without waiting for its end
        #[arg(long)]
        detach: bool,
    },
}

/// `plan run`.
#[derive(Debug, Args)]
pub(crate) struct PlanRunArgs {
    /// Plan, a Markdown file
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Limit what the whole plan may cost, in dollars (default: that of the role or the configuration)
    #[arg(long, short, value_name = "USD", value_parser = crate::cli::dollars)]
    pub(crate) budget: Option<f64>,
    /// Run the coordinator in this role (default: that of the configuration)
    #[arg(long, short, value_name = "ROLE")]
    pub(crate) role: Option<String>,
    /// Run this kind of agent as the coordinator (default: that of the role)
    #[arg(long, value_name = "KIND")]
    pub(crate) agent: Option<String>,
    /// Name the plan (default: derived from its title)
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Run the plan again from its beginning
    #[arg(long)]
    pub(crate) again: bool,
    /// Return without waiting for its end
    #[arg(long)]
    pub(crate) detach: bool,
}
