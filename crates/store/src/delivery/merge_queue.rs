//! The merge queue: approved work for its target branches.

use model::review::MergeState;
use model::{AgentId, MergeId, TaskId, Timestamp};
use rusqlite::{Row, params};

use crate::core::error::StoreError;
use crate::core::page::Page;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// A merge to be.
#[derive(Debug, Clone)]
pub struct NewMerge {
    /// Its id
    pub id: MergeId,
    /// Task whose work is merged
    pub task: TaskId,
    /// Author of the work
    pub agent: Option<AgentId>,
    /// Approving agent; `None` for the operator
    pub approved_by: Option<AgentId>,
    /// On which branch it is
    pub branch: String,
    /// Into which it goes
    pub target: String,
    /// The commit that was approved
    pub commit: String,
    /// True if it is merged as one commit
    pub squash: bool,
}

/// A merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merge {
    /// Its place in the queue
    pub number: i64,
    /// Its id
    pub id: MergeId,
    /// Task whose work is merged
    pub task: TaskId,
    /// Author of the work
    pub agent: Option<AgentId>,
    /// Approving agent; `None` for the operator
    pub approved_by: Option<AgentId>,
    /// On which branch it is
    pub branch: String,
    /// Into which it goes
    pub target: String,
    /// The commit that was approved
    pub commit: String,
    /// The commit it was merged as
    pub merged: Option<String>,
    /// True if it is merged as one commit
    pub squash: bool,
    /// Current state
    pub state: MergeState,
    /// Why it was sent back or is held
    pub reason: Option<String>,
    /// Details of the reason, as JSON
    pub details: Option<String>,
    /// When it was approved
    pub created_at: Timestamp,
    /// When it was over
    pub ended_at: Option<Timestamp>,
}

/// Page of merges to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergePage {
    /// Those that are not over
    Open,
    /// All there ever were
    All,
}

pub(crate) const COLUMNS: &str = "number, id, task_id, agent_id, approved_by, branch, target, commit_hash, \
     merged_hash, squash, state, reason, details, created_at, ended_at";

pub(crate) fn read(row: &Row<'_>) -> Result<Merge, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(Merge {
        number: cells.get()?,
        id: cells.parse()?,
        task: cells.parse()?,
        agent: cells.parse_opt()?,
        approved_by: cells.parse_opt()?,
        branch: cells.get()?,
        target: cells.get()?,
        commit: cells.get()?,
        merged: cells.get()?,
        squash: cells.get()?,
        state: cells.named(MergeState::parse)?,
        reason: cells.get()?,
        details: cells.get()?,
        created_at: cells.time()?,
        ended_at: cells.time_opt()?,
    })
}

/// New state of a merge.
#[derive(Debug, Clone, Copy, Default)]
pub struct MergeChange<'a> {
    /// The commit it was merged as
    pub merged: Option<&'a str>,
    /// Why it was sent back or is held
    pub reason: Option<&'a str>,
    /// Details of the reason, as JSON
    pub details: Option<&'a str>,
}

impl Tx<'_> {
    /// Puts approved work into the queue.
    pub fn merge_insert(&mut self, new: &NewMerge, now: Timestamp) -> Result<(), StoreError> {
        let number = self.number("SELECT COALESCE(MAX(number), 0) + 1 FROM merge", [])?;
        self.execute(
            "INSERT INTO merge (number, id, task_id, agent_id, approved_by, branch, target,
                commit_hash, state, created_at, squash)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'queued', $9, $10)",
            params![
                number,
                new.id.to_string(),
                new.task.to_string(),
                new.agent.map(|id| id.to_string()),
                new.approved_by.map(|id| id.to_string()),
                new.branch,
                new.target,
                new.commit,
                now.as_millis(),
                new.squash
            ],
        )?;
        Ok(())
    }

    /// The merge of that id.
    pub fn merge_get(&self, id: MergeId) -> Result<Option<Merge>, StoreError> {
        self.one(
            &format!("SELECT {COLUMNS} FROM merge WHERE id = $1"),
            params![id.to_string()],
            read,
        )
    }

    /// The newest merge of a task.
    pub fn merge_of(&self, task: TaskId) -> Result<Option<Merge>, StoreError> {
        self.one(
            &format!("SELECT {COLUMNS} FROM merge WHERE task_id = $1 ORDER BY number DESC LIMIT 1"),
            params![task.to_string()],
            read,
        )
    }

    /// Lists merges, oldest first.
    pub fn merge_page(
        &self,
        which: MergePage,
        after: i64,
        limit: u32,
    ) -> Result<Page<Merge>, StoreError> {
        let only = match which {
            MergePage::Open => "ended_at IS NULL AND",
            MergePage::All => "",
        };
        let rows = self.all(
            &format!(
                "SELECT {COLUMNS} FROM merge WHERE {only} number > $1 ORDER BY number LIMIT $2"
            ),
            params![after, i64::from(limit) + 1],
            read,
        )?;
        Ok(Page::cut(rows, limit, |merge| merge.number))
    }

    /// Those that are over, newest first. They are looked for among the newest, of which few are not over.
    pub fn merges_over(&self, limit: u32) -> Result<Vec<Merge>, StoreError> {
        self.all(
            &format!(
                "SELECT {COLUMNS} FROM merge WHERE ended_at IS NOT NULL ORDER BY number DESC LIMIT $1"
            ),
            params![limit],
            read,
        )
    }

    /// Moves a merge; an end has a time.
    pub fn merge_set(
        &mut self,
        id: MergeId,
        state: MergeState,
        change: MergeChange<'_>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let over = matches!(state, MergeState::Merged | MergeState::SentBack);
        self.execute(
            "UPDATE merge SET state = $2, merged_hash = COALESCE($3, merged_hash), reason = $4,
                details = $5, ended_at = $6
             WHERE id = $1",
            params![
                id.to_string(),
                state.name(),
                change.merged,
                change.reason,
                change.details,
                over.then(|| now.as_millis())
            ],
        )?;
        Ok(())
    }
}
