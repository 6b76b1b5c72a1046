//! Removal of old data that nothing needs any more. Each operation removes a
//! bounded number of rows, so that others are not kept from writing.
//!
//! Events up to the *floor* may be missing. Below it only those are left that a live agent or an
//! open task needs for its history; who reads events in order begins behind it.

use model::{AgentId, Timestamp};
use rusqlite::params;

use crate::core::error::StoreError;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// Events of live agents and open tasks, which are their history.
const NEEDED_EVENT: &str =
    "EXISTS (SELECT 1 FROM agent WHERE agent.id = event.agent_id AND ended_at IS NULL)
     OR EXISTS (SELECT 1 FROM task WHERE task.id = event.task_id
        AND state NOT IN ('completed', 'failed', 'cancelled'))";

/// Selection of removable events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventRetention {
    /// Only those before this time
    pub before: Timestamp,
    /// True if Slack is on, so that its cursor counts
    pub slack: bool,
}

/// A consumer that keeps events from being removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventPin {
    /// Name of the consumer, as `webhook n8n`
    pub by: String,
    /// Events after this number are needed
    pub after: i64,
}

/// A branch of an agent that has ended, which nothing on record needs any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CleanableBranch {
    /// Owner
    pub agent: AgentId,
    /// The branch
    pub branch: String,
    /// The branch with what was left uncommitted
    pub rescued: Option<String>,
}

impl Tx<'_> {
    /// Events up to this number may have been removed; 0 where none was.
    pub fn event_floor(&self) -> Result<i64, StoreError> {
        self.number("SELECT COALESCE(MAX(number), 0) FROM event_floor", [])
    }

    /// Lists consumers that still need old events, with their positions.
    pub fn event_pins(&self, which: EventRetention) -> Result<Vec<EventPin>, StoreError> {
        let mut pins = self.all(
            "SELECT 'webhook ' || name, seen FROM webhook WHERE gone_at IS NULL
             UNION ALL
             SELECT 'undelivered messages to webhook ' || webhook, MIN(event) - 1 FROM delivery
             WHERE state IN ('pending', 'dead') GROUP BY webhook
             UNION ALL
             SELECT 'loop ' || session, seen FROM loop WHERE ended_at IS NULL",
            [],
            read_pin,
        )?;
        if which.slack {
            pins.extend(self.all("SELECT 'slack', events FROM slack_cursor", [], read_pin)?);
        }
        Ok(pins)
    }

    /// The number up to which events may go.
    pub fn event_removable(&self, which: EventRetention) -> Result<i64, StoreError> {
        let mut until = self.event_removable_by_age(which.before)?;
        for pin in self.event_pins(which)? {
            until = until.min(pin.after);
        }
        Ok(until.max(self.event_floor()?))
    }

    /// The number up to which events are old enough to go, no matter which reader needs them.
    pub fn event_removable_by_age(&self, before: Timestamp) -> Result<i64, StoreError> {
        // The newest event stays: numbers go on from it.
        Ok((self.event_number_at(before)? - 1).min(self.event_last()? - 1))
    }

    /// Counts removable events.
    pub fn events_removable_count(&self, until: i64) -> Result<i64, StoreError> {
        self.number(
            &format!("SELECT COUNT(*) FROM event WHERE number <= $1 AND NOT ({NEEDED_EVENT})"),
            params![until],
        )
    }

    /// Removes events that nobody needs, at most `limit`, and says how many. The floor rises first, so
    /// that nobody reads across a gap.
    pub fn events_remove(
        &mut self,
        which: EventRetention,
        limit: u32,
    ) -> Result<usize, StoreError> {
        let until = self.event_removable(which)?;
        if until == 0 {
            return Ok(0);
        }
        self.execute(
            "INSERT INTO event_floor (id, number) VALUES (1, $1)
             ON CONFLICT (id) DO UPDATE SET number = excluded.number",
            params![until],
        )?;
        self.execute(
            &format!(
                "DELETE FROM event WHERE number IN (
                    SELECT number FROM event WHERE number <= $1 AND NOT ({NEEDED_EVENT})
                    ORDER BY number LIMIT $2)"
            ),
            params![until, limit],
        )
    }

    /// The number of the first event from a time on, as far as times are in order.
    fn event_number_at(&self, at: Timestamp) -> Result<i64, StoreError> {
        let (mut low, mut high) = (1, self.event_last()? + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            let found: Option<(i64, Timestamp)> = self.one(
                "SELECT number, at FROM event WHERE number >= $1 ORDER BY number LIMIT 1",
                params![middle],
                |row| {
                    let mut cells = RowReader::of(row);
                    Ok((cells.get()?, cells.time()?))
                },
            )?;
            match found {
                Some((_, found)) if found < at => low = middle + 1,
                _ => high = middle,
            }
        }
        Ok(low)
    }

    /// Counts delivered webhook messages older than a time.
    pub fn deliveries_delivered_count(&self, before: Timestamp) -> Result<i64, StoreError> {
        self.number(
            "SELECT COUNT(*) FROM delivery WHERE state = 'delivered' AND ended_at < $1",
            params![before.as_millis()],
        )
    }

    /// Removes delivered messages to webhooks, at most `limit`, and says how many.
    pub fn deliveries_remove(
        &mut self,
        before: Timestamp,
        limit: u32,
    ) -> Result<usize, StoreError> {
        self.execute(
            "DELETE FROM delivery WHERE number IN (
                SELECT number FROM delivery WHERE state = 'delivered' AND ended_at < $1
                ORDER BY ended_at, number LIMIT $2)",
            params![before.as_millis(), limit],
        )
    }

    /// Counts remembered answers older than a time.
    pub fn idempotency_count(&self, before: Timestamp) -> Result<i64, StoreError> {
        self.number("SELECT COUNT(*) FROM answered WHERE at < $1", params![before.as_millis()])
    }

    /// Removes remembered answers, at most `limit`, and says how many.
    pub fn idempotency_remove(
        &mut self,
        before: Timestamp,
        limit: u32,
    ) -> Result<usize, StoreError> {
        self.execute(
            "DELETE FROM answered WHERE (principal, key) IN (
                SELECT principal, key FROM answered WHERE at < $1
                ORDER BY at, principal, key LIMIT $2)",
            params![before.as_millis(), limit],
        )
    }

    /// Returns whether an agent ended before a time. One that is unknown has not.
    pub fn agent_ended_before(&self, id: AgentId, before: Timestamp) -> Result<bool, StoreError> {
        let ended = "SELECT COUNT(*) FROM agent WHERE id = $1 AND ended_at < $2";
        Ok(self.number(ended, params![id.to_string(), before.as_millis()])? > 0)
    }

    /// Branches of agents whose worktrees were taken away before a time, and which no open task,
    /// review, merge, pull request or job needs.
    pub fn branches_cleanable(
        &self,
        before: Timestamp,
    ) -> Result<Vec<CleanableBranch>, StoreError> {
        self.all(
            "SELECT w.agent_id, w.branch, w.rescued FROM worktree w
             JOIN agent a ON a.id = w.agent_id
             WHERE w.state = 'gone' AND w.gone_at < $1 AND a.ended_at < $1
                AND NOT EXISTS (SELECT 1 FROM task t WHERE t.id = a.task_id
                    AND t.state NOT IN ('completed', 'failed', 'cancelled'))
                AND NOT EXISTS (SELECT 1 FROM review r WHERE r.ended_at IS NULL
                    AND (r.branch = w.branch OR r.coder_id = a.id OR r.reviewer_id = a.id))
                AND NOT EXISTS (SELECT 1 FROM merge m WHERE m.ended_at IS NULL
                    AND (m.branch = w.branch OR m.target = w.branch))
                AND NOT EXISTS (SELECT 1 FROM pull_request p WHERE p.state = 'open'
                    AND (p.branch = w.branch OR p.base = w.branch))
                AND NOT EXISTS (SELECT 1 FROM worktree o WHERE o.state <> 'gone'
                    AND o.target = w.branch)
                AND NOT EXISTS (SELECT 1 FROM errand e WHERE e.ended_at IS NULL
                    AND e.agent_id = a.id)
             ORDER BY w.number",
            params![before.as_millis()],
            |row| {
                let mut cells = RowReader::of(row);
                Ok(CleanableBranch {
                    agent: cells.parse()?,
                    branch: cells.get()?,
                    rescued: cells.get()?,
                })
            },
        )
    }

    /// The sessions of loops that ended before a time.
    pub fn loops_ended_before(&self, before: Timestamp) -> Result<Vec<String>, StoreError> {
        self.all(
            "SELECT session FROM loop WHERE ended_at < $1 ORDER BY number",
            params![before.as_millis()],
            |row| RowReader::of(row).get(),
        )
    }

    /// Returns whether a merge with that id is over, and was before a time.
    pub fn merge_ended_before(&self, id: &str, before: Timestamp) -> Result<bool, StoreError> {
        let ended = "SELECT COUNT(*) FROM merge WHERE id = $1 AND ended_at < $2";
        Ok(self.number(ended, params![id, before.as_millis()])? > 0)
    }
}

fn read_pin(row: &rusqlite::Row<'_>) -> Result<EventPin, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(EventPin { by: cells.get()?, after: cells.get()? })
}
