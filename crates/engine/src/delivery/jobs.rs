//! The jobs of the outbox: the runner, and a handler for each kind.
//!
//! A handler looks before it acts, so that it can be begun again from the start after a crash. A job ends in one
//! transaction with what follows from it, and one that cannot be done is undone first. [`Point`] names the places
//! between the steps.

mod approval;
pub(crate) mod commit;
pub(crate) mod feedback;
pub(crate) mod issues;
mod merge;
pub(crate) mod pull;
pub(crate) mod rebase;
mod review;
mod runner;
mod tidy;

use model::{OutboxJobId, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use store::{OutboxJob, Tx};

use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::core::point::Point;
use crate::delivery::outbox::{decode_notes, decode_params};

pub use runner::OutboxRunner;

/// Attempts after a transient failure.
const RETRIES: u32 = 3;

/// The parameters of a job that is run: one that cannot be decoded is never tried again.
fn params_of<W: DeserializeOwned>(job: &OutboxJob) -> Result<W, JobError> {
    decode_params(job).map_err(JobError::Never)
}

/// The notes of a job that is run: one that cannot be decoded is never tried again.
fn notes_of<N: DeserializeOwned>(job: &OutboxJob) -> Result<Option<N>, JobError> {
    decode_notes(job).map_err(JobError::Never)
}

/// Stores the notes of an outbox job, for its next start.
async fn note<N: Serialize>(engine: &Core, id: OutboxJobId, notes: &N) -> Result<(), ToolError> {
    let notes = serde_json::to_string(notes).map_err(ToolError::internal)?;
    Ok(engine.store.write(move |tx| tx.outbox_job_set_notes(id, &notes)).await?)
}

/// Consequence of a finished job: applied in the transaction of its end, perhaps more than
/// once.
type Ending = Box<dyn Fn(&mut Tx<'_>, Timestamp) -> Result<Value, ToolError> + Send + Sync>;

/// Why an outbox job is not done.
#[derive(Debug)]
enum JobError {
    /// It may go better in a moment
    Again(ToolError),
    /// It has to wait until then
    Until(Timestamp),
    /// The server ends; the next one goes on
    Leave,
    /// It cannot be done
    Never(ToolError),
}

impl From<ToolError> for JobError {
    fn from(error: ToolError) -> Self {
        if error.is_transient() { Self::Again(error) } else { Self::Never(error) }
    }
}

impl From<host::git::GitError> for JobError {
    fn from(error: host::git::GitError) -> Self {
        ToolError::from(error).into()
    }
}

#[cfg(test)]
mod tests;
