//! Sessions and their iterations.

use model::money::Usd;
use model::{AgentId, AgentStateName, TaskStateName, Timestamp};
use rusqlite::{Row, params};

use crate::core::amount::{stored_money, sum};
use crate::core::error::StoreError;
use crate::core::exact::clean;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// A named run of the loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its name
    pub name: String,
    /// Current iteration
    pub iteration: u32,
    /// When it was declared done
    pub completed_at: Option<Timestamp>,
}

/// One round of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Iteration {
    /// Its number
    pub number: u32,
    /// When it began
    pub started_at: Timestamp,
    /// Summary of the iteration
    pub summary: Option<String>,
    /// When it was over
    pub ended_at: Option<Timestamp>,
    /// Agent of the iteration, if a loop started it
    pub agent: Option<AgentId>,
    /// Outcome of that agent
    pub outcome: Option<AgentStateName>,
    /// Why
    pub reason: Option<String>,
    /// Cost
    pub spent: Option<Usd>,
    /// The number of the task that was begun in it
    pub task: Option<i64>,
    /// The commit that was made of it
    pub commit: Option<String>,
}

const COLUMNS: &str = "number, started_at, summary, ended_at, agent_id, outcome, reason, spent_nanos, \
     task_number, commit_hash";

fn read(row: &Row<'_>) -> Result<Iteration, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(Iteration {
        number: cells.count()?,
        started_at: cells.time()?,
        summary: cells.get()?,
        ended_at: cells.time_opt()?,
        agent: cells.parse_opt()?,
        outcome: cells.named_opt(AgentStateName::parse)?,
        reason: cells.get()?,
        spent: cells.get::<Option<i64>>()?.map(Usd::from_nanos),
        task: cells.get()?,
        commit: cells.get()?,
    })
}

/// End of an iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IterationEnd {
    /// Outcome of its agent
    pub outcome: AgentStateName,
    /// Why
    pub reason: String,
    /// Cost
    pub spent: Usd,
}

impl Tx<'_> {
    /// The session of that name, if it has been used.
    pub fn session_get(&self, name: &str) -> Result<Option<Session>, StoreError> {
        let sql = "SELECT name, iteration, completed_at FROM session WHERE name = $1";
        self.one(sql, params![name], |row| {
            let mut cells = RowReader::of(row);
            Ok(Session {
                name: cells.get()?,
                iteration: cells.count()?,
                completed_at: cells.time_opt()?,
            })
        })
    }

    /// Makes a session if it is not there yet.
    pub fn session_ensure(&mut self, name: &str, now: Timestamp) -> Result<Session, StoreError> {
        self.execute(
            "INSERT INTO session (name, iteration, created_at) VALUES ($1, 0, $2)
             ON CONFLICT (name) DO NOTHING",
            params![name, now.as_millis()],
        )?;
        self.session_get(name)?
            .ok_or_else(|| StoreError::Corrupt(format!("session `{name}` is gone")))
    }

    /// Declares a session done.
    pub fn session_complete(&mut self, name: &str, now: Timestamp) -> Result<(), StoreError> {
        self.execute(
            "UPDATE session SET completed_at = COALESCE(completed_at, $2) WHERE name = $1",
            params![name, now.as_millis()],
        )?;
        Ok(())
    }

    /// Opens a completed session again, because there is new work in it.
    pub fn session_reopen(&mut self, name: &str) -> Result<(), StoreError> {
        self.execute("UPDATE session SET completed_at = NULL WHERE name = $1", params![name])?;
        Ok(())
    }

    /// Says in which iteration a session is.
    pub fn session_set_iteration(&mut self, name: &str, number: u32) -> Result<(), StoreError> {
        self.execute("UPDATE session SET iteration = $2 WHERE name = $1", params![name, number])?;
        Ok(())
    }

    /// Counts a session's tasks by state.
    pub fn session_tasks(&self, name: &str) -> Result<Vec<(TaskStateName, i64)>, StoreError> {
        self.all(
            "SELECT state, COUNT(*) FROM task WHERE session = $1 GROUP BY state ORDER BY state",
            params![name],
            |row| {
                let mut cells = RowReader::of(row);
                Ok((cells.named(TaskStateName::parse)?, cells.get()?))
            },
        )
    }

    /// Sums up an iteration; the last word counts.
    pub fn iteration_summarise(
        &mut self,
        session: &str,
        number: u32,
        summary: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO iteration (session, number, started_at, ended_at, summary)
             VALUES ($1, $2, $3, $3, $4)
             ON CONFLICT (session, number) DO UPDATE SET summary = excluded.summary,
                ended_at = CASE WHEN iteration.agent_id IS NULL THEN excluded.ended_at
                    ELSE iteration.ended_at END",
            params![session, number, now.as_millis(), clean(summary)],
        )?;
        Ok(())
    }

    /// Begins an iteration with its agent; false where it was begun already.
    pub fn iteration_begin(
        &mut self,
        session: &str,
        number: u32,
        agent: AgentId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let changed = self.execute(
            "INSERT INTO iteration (session, number, started_at, agent_id) VALUES ($1, $2, $3, $4)
             ON CONFLICT (session, number) DO NOTHING",
            params![session, number, now.as_millis(), agent.to_string()],
        )?;
        Ok(changed > 0)
    }

    /// Ends an iteration.
    pub fn iteration_end(
        &mut self,
        session: &str,
        number: u32,
        end: &IterationEnd,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.execute(
            "UPDATE iteration SET ended_at = $3, outcome = $4, reason = $5, spent_nanos = $6
             WHERE session = $1 AND number = $2",
            params![
                session,
                number,
                now.as_millis(),
                end.outcome.stored(),
                end.reason,
                stored_money(end.spent)
            ],
        )?;
        Ok(())
    }

    /// Notes which task was begun in an iteration.
    pub fn iteration_set_task(
        &mut self,
        session: &str,
        number: u32,
        task: i64,
    ) -> Result<(), StoreError> {
        self.execute(
            "UPDATE iteration SET task_number = $3 WHERE session = $1 AND number = $2",
            params![session, number, task],
        )?;
        Ok(())
    }

    /// Notes which commit was made of an iteration.
    pub fn iteration_set_commit(
        &mut self,
        session: &str,
        number: u32,
        commit: &str,
    ) -> Result<(), StoreError> {
        self.execute(
            "UPDATE iteration SET commit_hash = $3 WHERE session = $1 AND number = $2",
            params![session, number, commit],
        )?;
        Ok(())
    }

    /// An iteration of a session.
    pub fn iteration_get(
        &self,
        session: &str,
        number: u32,
    ) -> Result<Option<Iteration>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM iteration WHERE session = $1 AND number = $2");
        self.one(&sql, params![session, number], read)
    }

    /// The iterations of a session, in order.
    pub fn iteration_list(&self, session: &str) -> Result<Vec<Iteration>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM iteration WHERE session = $1 ORDER BY number");
        self.all(&sql, params![session], read)
    }

    /// The last iterations of a session, newest first.
    pub fn iterations_newest(
        &self,
        session: &str,
        limit: u32,
    ) -> Result<Vec<Iteration>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM iteration WHERE session = $1 ORDER BY number DESC LIMIT $2"
        );
        self.all(&sql, params![session, limit], read)
    }

    /// Total cost of a session's iterations.
    pub fn session_spent(&self, session: &str) -> Result<Usd, StoreError> {
        let sum = sum("spent_nanos");
        let sql = format!("SELECT COALESCE({sum}, 0) FROM iteration WHERE session = $1");
        self.number(&sql, params![session]).map(Usd::from_nanos)
    }
}
