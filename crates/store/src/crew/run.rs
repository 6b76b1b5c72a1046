//! Runs: the prompt, the read position and the result of agents that Adjutant runs.
//!
//! Whatever a process reports comes with the attempt it belongs to; what an older attempt reports is
//! refused, so that a process that was given up cannot overwrite its successor.

use model::agent::{AgentStateName, Outcome};
use model::money::Usd;
use model::{AgentId, Timestamp};
use rusqlite::{Row, params};

use crate::core::amount::{added, stored, stored_money};
use crate::core::error::StoreError;
use crate::core::exact::{Field, clean};
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// A run to be.
#[derive(Debug, Clone)]
pub struct NewRun {
    /// Owner
    pub agent: AgentId,
    /// Prompt
    pub prompt: String,
    /// Summary, one line
    pub summary: String,
    /// Everything else it is asked with, as JSON
    pub options: String,
    /// The agent whose conversation it goes on with
    pub resumed_from: Option<AgentId>,
    /// The conversation to go on with
    pub conversation: Option<String>,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Owner
    pub agent: AgentId,
    /// Prompt
    pub prompt: String,
    /// Summary, one line
    pub summary: String,
    /// Everything else it was asked with, as JSON
    pub options: String,
    /// The agent whose conversation it goes on with
    pub resumed_from: Option<AgentId>,
    /// The model that answers it
    pub model: Option<String>,
    /// The name by which a later process goes on with the conversation
    pub conversation: Option<String>,
    /// Read position in its output
    pub read: ReadPosition,
    /// The request to end it
    pub stop: Option<StopRequest>,
    /// When its first attempt began
    pub started_at: Option<Timestamp>,
    /// When it must be over
    pub deadline_at: Option<Timestamp>,
    /// Running time of earlier attempts
    pub ran_ms: i64,
    /// Result as JSON
    pub result: Option<String>,
    /// Cost, if known
    pub cost: Option<Usd>,
    /// Tokens used
    pub tokens: Tokens,
    /// When its process ended while it waits for a review
    pub parked_at: Option<Timestamp>,
    /// Prompt of its next attempt, if it differs
    pub next_prompt: Option<String>,
    /// Machine that has the run folder of its present attempt, where a home has several
    pub machine: Option<String>,
}

/// Read position in a run's output, with the reader's state at it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadPosition {
    /// Number of the output segment
    pub segment: u32,
    /// Where in it
    pub position: u64,
    /// The reader's notes
    pub notes: Option<String>,
}

/// The request to end an agent. The first one counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopRequest {
    /// Requested outcome
    pub outcome: Outcome,
    /// Why
    pub reason: String,
}

/// Tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Read, without those from a cache
    pub input: u64,
    /// Written
    pub output: u64,
    /// Read from a cache
    pub cache_read: u64,
    /// Written to a cache
    pub cache_write: u64,
}

impl Tokens {
    /// All that were read, from wherever.
    pub const fn read(self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// All of them.
    pub const fn all(self) -> u64 {
        self.read().saturating_add(self.output)
    }
}

impl std::ops::AddAssign for Tokens {
    fn add_assign(&mut self, more: Self) {
        self.input = self.input.saturating_add(more.input);
        self.output = self.output.saturating_add(more.output);
        self.cache_read = self.cache_read.saturating_add(more.cache_read);
        self.cache_write = self.cache_write.saturating_add(more.cache_write);
    }
}

/// Progress report of a process.
#[derive(Debug, Clone, Default)]
pub struct RunReport {
    /// Read position in its output
    pub read: ReadPosition,
    /// The conversation's name, if it was told
    pub conversation: Option<String>,
    /// The model, if it was told
    pub model: Option<String>,
}

const COLUMNS: &str = "agent_id, prompt, summary, wish, resumed_from, model, conversation, segment, \
     position, notes, stop_outcome, stop_reason, started_at, deadline_at, ran_ms, result, cost_nanos, \
     tokens_in, tokens_out, cache_read, cache_write, parked_at, next_prompt, machine";

fn read(row: &Row<'_>) -> Result<Run, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(Run {
        agent: cells.parse()?,
        prompt: cells.get()?,
        summary: cells.get()?,
        options: cells.get()?,
        resumed_from: cells.parse_opt()?,
        model: cells.get()?,
        conversation: cells.get()?,
        read: ReadPosition {
            segment: cells.count()?,
            position: cells.large()?,
            notes: cells.get()?,
        },
        stop: read_stop(&mut cells)?,
        started_at: cells.time_opt()?,
        deadline_at: cells.time_opt()?,
        ran_ms: cells.get()?,
        result: cells.get()?,
        cost: cells.get::<Option<i64>>()?.map(Usd::from_nanos),
        tokens: read_tokens(&mut cells)?,
        parked_at: cells.time_opt()?,
        next_prompt: cells.get()?,
        machine: cells.get()?,
    })
}

fn read_stop(cells: &mut RowReader<'_>) -> Result<Option<StopRequest>, StoreError> {
    let state: Option<String> = cells.get()?;
    let outcome = state
        .map(|state| {
            let outcome = AgentStateName::parse(&state).and_then(AgentStateName::outcome);
            outcome.ok_or_else(|| cells.damaged(&format!("`{state}` is no end")))
        })
        .transpose()?;
    let reason: Option<String> = cells.get()?;
    Ok(outcome.map(|outcome| StopRequest { outcome, reason: reason.unwrap_or_default() }))
}

pub(crate) fn read_tokens(cells: &mut RowReader<'_>) -> Result<Tokens, StoreError> {
    Ok(Tokens {
        input: cells.large()?,
        output: cells.large()?,
        cache_read: cells.large()?,
        cache_write: cells.large()?,
    })
}

impl Tx<'_> {
    /// Restores an agent's exact prompts, for that agent.
    pub fn run_exact(&self, agent: AgentId, mut run: Run) -> Result<Run, StoreError> {
        let id = agent.to_string();
        run.prompt = self.exact(&id, Field::Prompt, run.prompt)?;
        run.next_prompt =
            run.next_prompt.map(|prompt| self.exact(&id, Field::NextPrompt, prompt)).transpose()?;
        Ok(run)
    }

    /// Records what an agent is asked.
    pub fn run_insert(&mut self, new: &NewRun) -> Result<(), StoreError> {
        let id = new.agent.to_string();
        let at = self.run_last_active_at(&id)?;
        let prompt = self.keep_exact(&id, Field::Prompt, &new.prompt, at)?;
        self.execute(
            "INSERT INTO run (agent_id, prompt, summary, wish, resumed_from, conversation, segment,
                position, ran_ms, tokens_in, tokens_out, cache_read, cache_write)
             VALUES ($1, $2, $3, $4, $5, $6, 0, 0, 0, 0, 0, 0, 0)",
            params![
                id,
                prompt,
                clean(&new.summary),
                clean(&new.options),
                new.resumed_from.map(|id| id.to_string()),
                new.conversation
            ],
        )?;
        Ok(())
    }

    /// An agent's run; an enlisted agent has none.
    pub fn run_get(&self, agent: AgentId) -> Result<Option<Run>, StoreError> {
        self.one(
            &format!("SELECT {COLUMNS} FROM run WHERE agent_id = $1"),
            params![agent.to_string()],
            read,
        )
    }

    /// Notes that an attempt begins, and on which machine: its output is read from the start.
    pub fn run_begin(
        &mut self,
        agent: AgentId,
        deadline: Option<Timestamp>,
        machine: Option<&str>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.execute(
            "UPDATE run SET started_at = COALESCE(started_at, $2), deadline_at = $3, machine = $4,
                segment = 0, position = 0, notes = NULL, parked_at = NULL
             WHERE agent_id = $1",
            params![
                agent.to_string(),
                now.as_millis(),
                deadline.map(Timestamp::as_millis),
                machine
            ],
        )?;
        Ok(())
    }

    /// Notes how far a process was followed; false if it is not the agent's present attempt.
    pub fn run_report(
        &mut self,
        agent: AgentId,
        attempt: u32,
        report: &RunReport,
    ) -> Result<bool, StoreError> {
        let changed = self.execute(
            "UPDATE run SET segment = $3, position = $4, notes = $5,
                conversation = COALESCE($6, conversation), model = COALESCE($7, model)
             WHERE agent_id = $1
               AND EXISTS (SELECT 1 FROM agent WHERE id = $1 AND attempt = $2 AND ended_at IS NULL)",
            params![
                agent.to_string(),
                attempt,
                report.read.segment,
                stored(report.read.position),
                report.read.notes,
                report.conversation,
                report.model
            ],
        )?;
        Ok(changed > 0)
    }

    /// Adds to what an agent used itself.
    pub fn run_use(
        &mut self,
        agent: AgentId,
        tokens: Tokens,
        cost: Option<Usd>,
    ) -> Result<(), StoreError> {
        self.execute(
            &format!(
                "UPDATE run SET tokens_in = {}, tokens_out = {}, cache_read = {}, cache_write = {},
                    cost_nanos = CASE WHEN $6 IS NULL THEN cost_nanos ELSE {} END
                 WHERE agent_id = $1",
                added("tokens_in", "$2"),
                added("tokens_out", "$3"),
                added("cache_read", "$4"),
                added("cache_write", "$5"),
                added("COALESCE(cost_nanos, 0)", "$6"),
            ),
            params![
                agent.to_string(),
                stored(tokens.input),
                stored(tokens.output),
                stored(tokens.cache_read),
                stored(tokens.cache_write),
                cost.map(stored_money)
            ],
        )?;
        Ok(())
    }

    /// Remembers the request to end an agent; false if there is one already.
    pub fn run_stop(&mut self, agent: AgentId, stop: &StopRequest) -> Result<bool, StoreError> {
        let changed = self.execute(
            "UPDATE run SET stop_outcome = $2, stop_reason = $3
             WHERE agent_id = $1 AND stop_outcome IS NULL",
            params![agent.to_string(), stop.outcome.state().stored(), stop.reason],
        )?;
        Ok(changed > 0)
    }

    /// Notes that an attempt is over and another will follow.
    pub fn run_pause(&mut self, agent: AgentId, ran_ms: i64) -> Result<(), StoreError> {
        self.execute(
            "UPDATE run SET ran_ms = ran_ms + $2, next_prompt = NULL WHERE agent_id = $1",
            params![agent.to_string(), ran_ms],
        )?;
        Ok(())
    }

    /// Notes that a process has ended whose agent has not: it waits for a review.
    pub fn run_park(&mut self, agent: AgentId, now: Timestamp) -> Result<(), StoreError> {
        self.execute(
            "UPDATE run SET parked_at = $2 WHERE agent_id = $1",
            params![agent.to_string(), now.as_millis()],
        )?;
        Ok(())
    }

    /// Says what the next attempt is told instead of the prompt.
    pub fn run_next_prompt(&mut self, agent: AgentId, prompt: &str) -> Result<(), StoreError> {
        let id = agent.to_string();
        let at = self.run_last_active_at(&id)?;
        let prompt = self.keep_exact(&id, Field::NextPrompt, prompt, at)?;
        self.execute("UPDATE run SET next_prompt = $2 WHERE agent_id = $1", params![id, prompt])?;
        Ok(())
    }

    /// When something was last heard of an agent: from then on its exact texts are kept.
    fn run_last_active_at(&self, agent: &str) -> Result<Timestamp, StoreError> {
        let millis = self.number(
            "SELECT COALESCE(MAX(last_active_at), 0) FROM agent WHERE id = $1",
            params![agent],
        )?;
        Ok(Timestamp::from_millis(millis))
    }

    /// Notes what came of a run.
    pub fn run_finish(&mut self, agent: AgentId, result: &str) -> Result<(), StoreError> {
        self.execute(
            "UPDATE run SET result = $2, notes = NULL WHERE agent_id = $1",
            params![agent.to_string(), result],
        )?;
        Ok(())
    }
}
