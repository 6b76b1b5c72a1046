//! The outbox: jobs with effects outside, recorded before they begin and until they end.

use model::review::OutboxJobKind;
use model::{AgentId, OutboxJobId, Timestamp};
use rusqlite::{Row, params};

use crate::core::error::StoreError;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// A job to be recorded.
#[derive(Debug, Clone)]
pub struct NewOutboxJob {
    /// Its id
    pub id: OutboxJobId,
    /// Kind of job
    pub kind: OutboxJobKind,
    /// Jobs of one lane run one after the other
    pub lane: String,
    /// Agent concerned
    pub agent: Option<AgentId>,
    /// Requesting agent
    pub caller: Option<AgentId>,
    /// Parameters as JSON
    pub parameters: String,
}

/// An outbox job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxJob {
    /// Its place among all outbox jobs
    pub number: i64,
    /// Its id
    pub id: OutboxJobId,
    /// Kind of job
    pub kind: OutboxJobKind,
    /// Jobs of one lane run one after the other
    pub lane: String,
    /// Agent concerned
    pub agent: Option<AgentId>,
    /// Requesting agent
    pub caller: Option<AgentId>,
    /// Parameters as JSON
    pub parameters: String,
    /// Progress notes as JSON
    pub notes: Option<String>,
    /// Number of attempts
    pub tries: u32,
    /// When it may be begun again
    pub due_at: Timestamp,
    /// The answer, as JSON
    pub answer: Option<String>,
    /// The error, as JSON
    pub error: Option<String>,
    /// When it was asked for
    pub created_at: Timestamp,
    /// When it was over
    pub ended_at: Option<Timestamp>,
}

const COLUMNS: &str = "number, id, kind, lane, agent_id, caller_id, wish, notes, tries, due_at, answer, \
     error, created_at, ended_at";

fn read(row: &Row<'_>) -> Result<OutboxJob, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(OutboxJob {
        number: cells.get()?,
        id: cells.parse()?,
        kind: cells.named(OutboxJobKind::parse)?,
        lane: cells.get()?,
        agent: cells.parse_opt()?,
        caller: cells.parse_opt()?,
        parameters: cells.get()?,
        notes: cells.get()?,
        tries: cells.count()?,
        due_at: cells.time()?,
        answer: cells.get()?,
        error: cells.get()?,
        created_at: cells.time()?,
        ended_at: cells.time_opt()?,
    })
}

impl Tx<'_> {
    /// Remembers what is to be done.
    pub fn outbox_job_insert(
        &mut self,
        new: &NewOutboxJob,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let number = self.number("SELECT COALESCE(MAX(number), 0) + 1 FROM errand", [])?;
        self.execute(
            "INSERT INTO errand (number, id, kind, lane, agent_id, caller_id, wish, tries, due_at,
                created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, $8)",
            params![
                number,
                new.id.to_string(),
                new.kind.name(),
                new.lane,
                new.agent.map(|id| id.to_string()),
                new.caller.map(|id| id.to_string()),
                new.parameters,
                now.as_millis()
            ],
        )?;
        Ok(())
    }

    /// The job of that id.
    pub fn outbox_job_get(&self, id: OutboxJobId) -> Result<Option<OutboxJob>, StoreError> {
        self.one(
            &format!("SELECT {COLUMNS} FROM errand WHERE id = $1"),
            params![id.to_string()],
            read,
        )
    }

    /// All that is not over, oldest first.
    pub fn outbox_jobs_open(&self) -> Result<Vec<OutboxJob>, StoreError> {
        self.all(
            &format!("SELECT {COLUMNS} FROM errand WHERE ended_at IS NULL ORDER BY number"),
            [],
            read,
        )
    }

    /// The job of a kind for an agent that is not over, if there is one.
    pub fn outbox_job_open_of(
        &self,
        kind: OutboxJobKind,
        agent: AgentId,
    ) -> Result<Option<OutboxJob>, StoreError> {
        self.one(
            &format!(
                "SELECT {COLUMNS} FROM errand
                 WHERE agent_id = $1 AND kind = $2 AND ended_at IS NULL ORDER BY number LIMIT 1"
            ),
            params![agent.to_string(), kind.name()],
            read,
        )
    }

    /// Notes what is known of an outbox job now.
    pub fn outbox_job_set_notes(&mut self, id: OutboxJobId, notes: &str) -> Result<(), StoreError> {
        self.execute("UPDATE errand SET notes = $2 WHERE id = $1", params![id.to_string(), notes])?;
        Ok(())
    }

    /// Notes that an outbox job has to wait until then.
    pub fn outbox_job_reschedule(
        &mut self,
        id: OutboxJobId,
        due: Timestamp,
    ) -> Result<(), StoreError> {
        self.execute(
            "UPDATE errand SET due_at = $2 WHERE id = $1 AND ended_at IS NULL",
            params![id.to_string(), due.as_millis()],
        )?;
        Ok(())
    }

    /// Notes that an outbox job went wrong, and when it is begun again.
    pub fn outbox_job_retry(&mut self, id: OutboxJobId, due: Timestamp) -> Result<(), StoreError> {
        self.execute(
            "UPDATE errand SET tries = tries + 1, due_at = $2 WHERE id = $1 AND ended_at IS NULL",
            params![id.to_string(), due.as_millis()],
        )?;
        Ok(())
    }

    /// Notes what came of an outbox job: an answer or an error, as JSON. False if it was over already.
    pub fn outbox_job_end(
        &mut self,
        id: OutboxJobId,
        outcome: Result<&str, &str>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let changed = self.execute(
            "UPDATE errand SET answer = $2, error = $3, ended_at = $4
             WHERE id = $1 AND ended_at IS NULL",
            params![id.to_string(), outcome.ok(), outcome.err(), now.as_millis()],
        )?;
        Ok(changed > 0)
    }
}
