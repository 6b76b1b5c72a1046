//! Plans: the grammar.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

/// `plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// What to do
    #[command(subcommand)]
    pub(crate) verb: PlanVerb,
}

/// What to do with plans.
#[derive(Debug, Subcommand)]
pub(crate) enum PlanVerb {
    /// Run a plan to its end, and show how it goes; exits with 1 where it is not completed
    #[command(after_help = "\
Example:
  adjutant plan run PLAN.md
  adjutant plan run PLAN.md --budget 5 --detach
  adjutant plan run PLAN.md --again     once more, from its beginning

A plan is Markdown. Each heading as `## Step 3: Title` is a step; where there is
none, each item of a numbered list. In a step, `Depends on: 1, 2`, `Role: coder`
and `Budget: 2.50` are read, and `[x]` or `Status: done` marks it as done.
Ctrl-C ends the watching and not the plan.")]
    Run(PlanRunArgs),
    /// Show the steps of a plan, without running it
    #[command(after_help = "\
Example:
  adjutant plan check PLAN.md
  adjutant plan check PLAN.md --json | jq '.steps[].title'")]
    Check {
        /// The plan, a file in Markdown
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: PathBuf,
    },
    /// Show where a plan stands: its steps, who is at each, what you are asked
    #[command(after_help = "\
Example:
  adjutant plan status                  the plan that runs, or a list
  adjutant plan status release-1-0
  adjutant plan status --json | jq '.questions[].mailId'")]
    Status {
        /// The plan (default: the one that runs)
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
    /// List the plans, newest first
    #[command(after_help = "\
Example:
  adjutant plan list
  adjutant plan list --json | jq -r '.plans[] | select(.state == \"failed\").name'")]
    List,
    /// Show how a plan goes, until it ends; exits with 1 where it is not completed
    #[command(after_help = "\
Example:
  adjutant plan follow
  adjutant plan follow release-1-0")]
    Follow {
        /// The plan (default: the one that runs)
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
    /// End a plan, with all agents that work for it; what they were at is free again
    #[command(after_help = "\
Example:
  adjutant plan stop release-1-0")]
    Stop {
        /// The plan
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Go on with a plan that stopped, failed or had spent its budget
    #[command(after_help = "\
Example:
  adjutant plan resume release-1-0
  adjutant plan resume release-1-0 --budget 5     with five dollars more")]
    Resume {
        /// The plan
        #[arg(value_name = "NAME")]
        name: String,
        /// How much more it may cost, in dollars (default: what is left)
        #[arg(long, short, value_name = "USD", value_parser = crate::cli::dollars)]
        budget: Option<f64>,
        /// Do not wait for its end
        #[arg(long)]
        detach: bool,
    },
}

/// `plan run`.
#[derive(Debug, Args)]
pub(crate) struct PlanRunArgs {
    /// The plan, a file in Markdown
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// What all of it may cost, in dollars (default: as role or configuration say)
    #[arg(long, short, value_name = "USD", value_parser = crate::cli::dollars)]
    pub(crate) budget: Option<f64>,
    /// The role that runs it (default: as the configuration says)
    #[arg(long, short, value_name = "ROLE")]
    pub(crate) role: Option<String>,
    /// The kind of agent that runs it (default: as the role says)
    #[arg(long, value_name = "KIND")]
    pub(crate) agent: Option<String>,
    /// What to call it (default: made from its title)
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Run it once more, from its beginning, where it was run already
    #[arg(long)]
    pub(crate) again: bool,
    /// Do not wait for its end
    #[arg(long)]
    pub(crate) detach: bool,
}
