//! The grammar of `adjutant home`: homes in PostgreSQL, which several servers share.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

/// `home`.
#[derive(Debug, Args)]
pub(crate) struct HomeArgs {
    /// Action
    #[command(subcommand)]
    pub(crate) verb: HomeVerb,
}

/// PostgreSQL that a command is about.
#[derive(Debug, Clone, Args)]
pub(crate) struct DatabaseArgs {
    /// PostgreSQL that keeps the homes, such as `postgres://crew@db/adjutant` (default: `database` of the configuration)
    #[arg(long, value_name = "URL")]
    pub(crate) database: Option<String>,
}

/// Actions of `home`.
#[derive(Debug, Subcommand)]
pub(crate) enum HomeVerb {
    /// Create an empty home in PostgreSQL, with the configuration, roles and templates of this one
    #[command(after_help = "\
Example:
  adjutant home create --database postgres://crew@db/adjutant
  adjutant home create shop

The address and the name are written into config.yaml. The password comes from
PGPASSWORD or PGPASSFILE and is written nowhere. `adjutant up` on any machine
with this configuration then serves the home.")]
    Create {
        /// Name of the home (default: `cluster.home`, else the name of the project's folder)
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// PostgreSQL
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Move this home into PostgreSQL, with everything that is on record
    #[command(after_help = "\
Example:
  adjutant down
  adjutant home import --database postgres://crew@db/adjutant
  adjutant up --detach

No server and no agent may run. The database of this machine stays as it is.")]
    Import {
        /// Name of the home (default: `cluster.home`, else the name of the project's folder)
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// PostgreSQL
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Write the newest state of a home to a folder, or bring the home back to this machine
    #[command(after_help = "\
Example:
  adjutant home export ~/crew-copy    state.db and the files of the home
  adjutant home export                stop sharing: this machine has the home again

Without a folder no server may own the home: stop all of them first.")]
    Export {
        /// Folder to write; it must not exist yet or be empty
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        folder: Option<PathBuf>,
    },
    /// List the homes of a PostgreSQL with their owners
    #[command(after_help = "\
Example:
  adjutant home list
  adjutant home list --database postgres://crew@db/adjutant --json | jq '.homes[].name'")]
    List {
        /// PostgreSQL
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Verify a home: restore it from its snapshot and log, and compare it with this server's file
    #[command(after_help = "\
Example:
  adjutant home check

Exits with 1 if the log, the audit chain or this server's file is not as it
should be. Servers may run meanwhile.")]
    Check,
    /// Write configuration, roles and templates from this folder into the home
    #[command(after_help = "\
Example:
  adjutant home diff
  adjutant home push

They come into force at once, on whichever server owns the home.")]
    Push,
    /// Write configuration, roles and templates of the home into this folder
    #[command(after_help = "\
Example:
  adjutant home pull")]
    Pull,
    /// Show how this folder differs from the configuration, roles and templates of the home
    #[command(after_help = "\
Example:
  adjutant home diff")]
    Diff,
}
