//! The grammar of `adjutant home`: homes in PostgreSQL, which several servers share.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use http::Uri;

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

/// `serve`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ServeHomesArgs {
    /// Action
    #[command(subcommand)]
    pub(crate) verb: Option<ServeVerb>,
    /// PostgreSQL that keeps the homes, such as `postgres://crew@db/adjutant` (default: `ADJUTANT_DATABASE`)
    #[arg(long, value_name = "URL")]
    pub(crate) database: Option<String>,
    /// Keep the state of the homes below this folder; only one `serve` uses it (default: in your own state folder)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) state: Option<PathBuf>,
    /// Listen on this address
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) host: IpAddr,
    /// Listen on this port; 0 is any free port (default: `ADJUTANT_SERVER_PORT`, else 3000)
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
    /// Address under which other hosts reach this one (default: where it listens)
    #[arg(long, value_name = "URL", value_parser = host_url)]
    pub(crate) url: Option<String>,
    /// Answer requests for this name too; a home's page is at HOME.NAME. Can be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<String>,
    /// Seconds for which a home stays with a server that is not heard of
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=300))]
    pub(crate) lease: u32,
}

/// Actions of `serve`.
#[derive(Debug, Subcommand)]
pub(crate) enum ServeVerb {
    /// Show the homes of this host and the other hosts; exits with 6 if no `serve` runs here
    #[command(after_help = "\
Example:
  adjutant serve status
  adjutant serve status --json | jq '.homes[] | select(.state == \"failing\")'")]
    Status {
        /// State folder of the `serve` that is meant
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        state: Option<PathBuf>,
    },
}

/// Reads the address of a host: no path, since homes are below it.
fn host_url(text: &str) -> Result<String, String> {
    let fits = text.parse::<Uri>().is_ok_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https"))
            && uri.host().is_some()
            && uri.path() == "/"
            && uri.query().is_none()
    });
    let hint = "write it as `http://crew-1:3000`";
    fits.then(|| text.trim_end_matches('/').to_owned()).ok_or_else(|| hint.to_owned())
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
    /// Make configuration, roles and templates of this folder those of the home
    #[command(after_help = "\
Example:
  adjutant home pull

A file that the home no longer has is removed. What is replaced or removed is
kept in a folder of the state folder, which the answer names.")]
    Pull,
    /// Show how this folder differs from the configuration, roles and templates of the home
    #[command(after_help = "\
Example:
  adjutant home diff")]
    Diff,
}
