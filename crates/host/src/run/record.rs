//! Records that a supervisor writes about itself and the end of its run.
//!
//! Nothing is flushed to the disk itself: a power cut ends the agents anyway, and starting many must be
//! quick. A reader still never sees half a file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use model::Timestamp;
use rustix::io::Errno;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Position;
use crate::files::{self, FileError, at};

/// Upper bound on what is read of a small file; the longest has a command's arguments.
const MAX_SMALL_BYTES: u64 = 16 * 1024 * 1024;

/// Cause of a run's end: the first request decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndCause {
    /// By itself
    Exited,
    /// Because a person or a caller asked for it
    Stopped,
    /// Because its time was up
    TimedOut,
    /// It never began: the program could not be started
    NotStarted,
    /// Because nobody renewed its lease in time
    LeaseLost,
}

/// End of a run, as stored in `exit.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExitRecord {
    /// Cause of the end
    pub ended: EndCause,
    /// Reason, in the words of the one who asked for it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The agent's exit code, if it ended by itself or after being asked to
    pub code: Option<i32>,
    /// The signal that ended the agent, if one did
    pub signal: Option<i32>,
    /// When it was started
    #[serde(with = "millis")]
    pub started_at: Timestamp,
    /// When all of it was gone
    #[serde(with = "millis")]
    pub ended_at: Timestamp,
    /// Number of processes left behind when it ended by itself
    pub left_behind: u32,
    /// Number of lines in both directions
    pub lines: u64,
    /// Number of bytes in both directions
    pub bytes: u64,
    /// Number of dropped lines
    pub dropped_lines: u64,
    /// Number of dropped bytes
    pub dropped_bytes: u64,
    /// Bytes that never reached the disk, because it was full or failed
    #[serde(default)]
    pub unwritten_bytes: u64,
    /// Where the output ends
    pub last: Position,
}

/// Supervisor of a run, as stored in `supervisor.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SupervisorRecord {
    /// The supervisor's process
    pub pid: u32,
    /// The agent's process
    pub agent_pid: u32,
    /// When the agent was started
    #[serde(with = "millis")]
    pub started_at: Timestamp,
    /// When the supervisor was started, in clock ticks since the machine was; where the system tells
    pub start_time: Option<u64>,
    /// Boot id of the machine, where available
    pub boot_id: Option<String>,
    /// The control group that the agent was started in, where there is one
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<PathBuf>,
    /// Where the supervisor listens; absent in an earlier version, which listens in the run folder
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<PathBuf>,
}

mod millis {
    //! A point in time as a number, which is short and the same in every language.

    use model::Timestamp;
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
    pub(super) fn serialize<S: Serializer>(at: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_i64(at.as_millis())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
        i64::deserialize(from).map(Timestamp::from_millis)
    }
}

/// The name of a segment's file.
pub(crate) fn segment_name(segment: u32) -> String {
    match segment {
        0 => "output.jsonl".to_owned(),
        number => format!("output.{number}.jsonl"),
    }
}

/// Opens a file of a run folder; none where there is none, or something else of that name. The agent can
/// write there: opening a pipe of its making would block for ever.
pub(super) fn open_regular(path: &Path) -> io::Result<Option<File>> {
    match files::open_regular(path) {
        Ok(file) => Ok(Some(file)),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidInput) =>
        {
            Ok(None)
        }
        // A socket.
        Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads a small file of a run folder; none where there is none, or what is there is no text.
pub(super) fn read_small(path: &Path) -> Result<Option<String>, FileError> {
    let Some(file) = open_regular(path).map_err(at("open", path))? else { return Ok(None) };
    let bytes = files::read_at_most(&file, MAX_SMALL_BYTES).map_err(at("read", path))?;
    Ok(String::from_utf8(bytes).ok())
}

/// Reads a small file, or nothing where there is none.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, FileError> {
    let Some(text) = read_small(path)? else { return Ok(None) };
    serde_json::from_str(&text).map(Some).map_err(|error| at("understand", path)(error.into()))
}

/// Writes a small file, whole, for the owner alone.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), FileError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let scratch = path.with_file_name(name);
    let written = || -> io::Result<()> {
        let mut text = serde_json::to_vec(value)?;
        text.push(b'\n');
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let mut file = files::open_with(&mut options, &scratch)?;
        file.write_all(&text)?;
        fs::rename(&scratch, path)
    };
    written().map_err(at("write", path))
}
