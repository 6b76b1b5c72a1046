//! One run of an agent on disk: its specification, its output and its end. The server's side.
//!
//! A run is a folder. The supervisor beside the agent writes it; the server reads it, and talks to the
//! supervisor through a socket. Neither needs the other to be alive.
//!
//! | file | who writes it | what it says |
//! |---|---|---|
//! | `spec.json` | the server | what to run; of the environment it has the names and never the values |
//! | `lock` | the supervisor | held as long as it lives: the kernel lets go when it dies |
//! | `claim` | the first to ask | that this run was begun, or that it never will be |
//! | `supervisor.json` | the supervisor | process ids, start times, the machine's boot, its socket |
//! | `output.jsonl`, `output.N.jsonl` | the supervisor | every line, as it came |
//! | `control` | a supervisor of an earlier version | the socket itself |
//! | `exit.json` | the supervisor | how it ended; written whole, last |
//! | `supervisor.log` | the supervisor | why it could not do its work, if it could not |
//!
//! Values of the environment reach the supervisor through a pipe at its start ([`Handover`]) and are kept
//! in its memory alone.

mod ancestry;
mod cgroup;
mod control;
mod folder;
mod handover;
mod holder;
mod output;
mod record;
mod socket;
mod starter;
mod sweep;
mod tail;

use std::path::PathBuf;

use model::Timestamp;
use serde::{Deserialize, Serialize};

use crate::boot_clock::BootTime;

pub use ancestry::supervisors_above;
pub use control::{Control, ControlReceiver, ControlSender, Notice};
pub use folder::{RunFolder, RunStatus, StartedSupervisor};
pub use handover::{Handover, Variables};
pub use output::OutputReader;
pub use record::{EndCause, ExitRecord, SupervisorRecord};
pub use tail::OutputRange;

pub(crate) use cgroup::Cgroup;
pub(crate) use control::{MAX_INPUT_BYTES, MAX_MESSAGE_BYTES, Request};
pub(crate) use folder::{CLAIM_TAKEN, claim};
pub(crate) use handover::{SLOT_PREFIX, has_values};
pub(crate) use output::OutputPiece;
pub(crate) use record::{read_json, segment_name, write_json};
pub(crate) use socket::Socket;
#[cfg(target_os = "linux")]
pub(crate) use starter::MAX_FOLDER_BYTES;

/// The variable by which the processes of a run are recognised: its folder.
pub(crate) const RUN_VARIABLE: &str = "ADJUTANT_RUN";

/// Specification of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The program, by its path
    pub program: PathBuf,
    /// Its arguments
    pub arguments: Vec<String>,
    /// Its whole environment. Only the names are written to disk; what is read back has empty values
    #[serde(with = "handover::names")]
    pub environment: Vec<(String, String)>,
    /// Where it works
    pub directory: PathBuf,
    /// Where its standard input comes from
    pub stdin: Stdin,
    /// Time limit
    pub time_limit_ms: Option<u64>,
    /// Grace period after a request to end
    pub grace_ms: u64,
    /// Bytes of output kept, head and tail
    pub max_output_bytes: u64,
    /// End of its lease on the machine's boot clock, unless it is renewed; a run without a lease needs no renewal
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<BootTime>,
}

/// Where an agent's standard input comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stdin {
    /// Nowhere
    Closed,
    /// A file in the run folder
    File(String),
    /// Lines arrive over the control socket
    Open,
}

/// Direction of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// From its standard output
    Out,
    /// From its standard error
    Err,
    /// To its standard input
    In,
}

/// A line, as it was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputLine {
    /// When it came
    pub at: Timestamp,
    /// Direction
    pub stream: Stream,
    /// Text; invalid UTF-8 is replaced
    pub text: String,
    /// Number of bytes omitted because the line is too long
    pub cut: u64,
}

/// Read position in a run's output: a segment and an offset at the beginning of a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    /// Segment number: 0 is the head
    pub segment: u32,
    /// Where in it
    pub offset: u64,
}
