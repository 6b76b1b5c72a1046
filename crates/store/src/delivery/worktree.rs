//! Worktrees: which agent works where, on which branch, and whether the folder is still there.

use model::review::WorktreeState;
use model::{AgentId, Timestamp};
use rusqlite::{Row, params};

use crate::core::error::StoreError;
use crate::core::page::Page;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// A worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    /// Its place among all worktrees
    pub number: i64,
    /// Current or last agent in it
    pub agent: AgentId,
    /// Where it is
    pub path: String,
    /// Its branch
    pub branch: String,
    /// The commit it began from
    pub base: String,
    /// The branch its work is meant for
    pub target: Option<String>,
    /// Current state
    pub state: WorktreeState,
    /// True if it is removed as soon as no agent works in it
    pub unwanted: bool,
    /// Where its branch stood when it was taken away
    pub head: Option<String>,
    /// The branch on which what was left uncommitted in it is
    pub rescued: Option<String>,
    /// When it was asked for
    pub created_at: Timestamp,
    /// When it was taken away
    pub gone_at: Option<Timestamp>,
}

/// A worktree to be.
#[derive(Debug, Clone)]
pub struct NewWorktree {
    /// Agent that will work in it
    pub agent: AgentId,
    /// Where
    pub path: String,
    /// On which branch
    pub branch: String,
    /// From which commit
    pub base: String,
    /// For which branch
    pub target: Option<String>,
}

/// Page of worktrees to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorktreePage {
    /// Those that are there, or should be
    There,
    /// All there ever were
    All,
}

const COLUMNS: &str = "number, agent_id, path, branch, base, target, state, unwanted, head, rescued, \
     created_at, gone_at";

fn read(row: &Row<'_>) -> Result<Worktree, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(Worktree {
        number: cells.get()?,
        agent: cells.parse()?,
        path: cells.get()?,
        branch: cells.get()?,
        base: cells.get()?,
        target: cells.get()?,
        state: cells.named(WorktreeState::parse)?,
        unwanted: cells.get::<i64>()? != 0,
        head: cells.get()?,
        rescued: cells.get()?,
        created_at: cells.time()?,
        gone_at: cells.time_opt()?,
    })
}

impl Tx<'_> {
    /// Remembers that a worktree is to be made.
    pub fn worktree_insert(&mut self, new: &NewWorktree, now: Timestamp) -> Result<(), StoreError> {
        let number = self.number("SELECT COALESCE(MAX(number), 0) + 1 FROM worktree", [])?;
        self.execute(
            "INSERT INTO worktree (number, agent_id, path, branch, base, target, state, unwanted,
                created_at)
             VALUES ($1, $2, $3, $4, $5, $6, 'wanted', 0, $7)",
            params![
                number,
                new.agent.to_string(),
                new.path,
                new.branch,
                new.base,
                new.target,
                now.as_millis()
            ],
        )?;
        Ok(())
    }

    /// An agent's worktree.
    pub fn worktree_of(&self, agent: AgentId) -> Result<Option<Worktree>, StoreError> {
        self.one(
            &format!("SELECT {COLUMNS} FROM worktree WHERE agent_id = $1"),
            params![agent.to_string()],
            read,
        )
    }

    /// The worktree of a branch, if it is one of ours.
    pub fn worktree_by_branch(&self, branch: &str) -> Result<Option<Worktree>, StoreError> {
        self.one(
            &format!(
                "SELECT {COLUMNS} FROM worktree WHERE branch = $1 ORDER BY number DESC LIMIT 1"
            ),
            params![branch],
            read,
        )
    }

    /// The worktrees that are there and have a folder in them, by its path.
    pub fn worktrees_around(&self, folder: &str) -> Result<Vec<Worktree>, StoreError> {
        self.all(
            &format!(
                "SELECT {COLUMNS} FROM worktree
                 WHERE state <> 'gone' AND substr($1, 1, length(path) + 1) = path || '/'
                 ORDER BY number"
            ),
            params![format!("{folder}/")],
            read,
        )
    }

    /// Lists worktrees, oldest first.
    pub fn worktree_page(
        &self,
        which: WorktreePage,
        after: i64,
        limit: u32,
    ) -> Result<Page<Worktree>, StoreError> {
        let only = match which {
            WorktreePage::There => "state <> 'gone' AND",
            WorktreePage::All => "",
        };
        let rows = self.all(
            &format!(
                "SELECT {COLUMNS} FROM worktree WHERE {only} number > $1 ORDER BY number LIMIT $2"
            ),
            params![after, i64::from(limit) + 1],
            read,
        )?;
        Ok(Page::cut(rows, limit, |worktree| worktree.number))
    }

    /// Says whether a worktree is there.
    pub fn worktree_set(&mut self, agent: AgentId, state: WorktreeState) -> Result<(), StoreError> {
        self.execute(
            "UPDATE worktree SET state = $2, gone_at = NULL WHERE agent_id = $1",
            params![agent.to_string(), state.name()],
        )?;
        Ok(())
    }

    /// Says that a worktree is to be taken away as soon as nobody works in it.
    pub fn worktree_unwanted(&mut self, agent: AgentId) -> Result<(), StoreError> {
        self.execute(
            "UPDATE worktree SET unwanted = 1 WHERE agent_id = $1",
            params![agent.to_string()],
        )?;
        Ok(())
    }

    /// Notes that an agent's work begins from another commit now.
    pub fn worktree_rebased(&mut self, agent: AgentId, base: &str) -> Result<(), StoreError> {
        self.execute(
            "UPDATE worktree SET base = $2 WHERE agent_id = $1",
            params![agent.to_string(), base],
        )?;
        Ok(())
    }

    /// Gives a worktree to the agent that goes on in it.
    pub fn worktree_hand_over(&mut self, from: AgentId, to: AgentId) -> Result<bool, StoreError> {
        let changed = self.execute(
            "UPDATE worktree SET agent_id = $2, unwanted = 0 WHERE agent_id = $1",
            params![from.to_string(), to.to_string()],
        )?;
        Ok(changed > 0)
    }

    /// Notes on which branch it is that was left uncommitted in a worktree.
    pub fn worktree_rescued(&mut self, agent: AgentId, branch: &str) -> Result<(), StoreError> {
        self.execute(
            "UPDATE worktree SET rescued = $2 WHERE agent_id = $1",
            params![agent.to_string(), branch],
        )?;
        Ok(())
    }

    /// Notes that a worktree is gone, and where its branch stood.
    pub fn worktree_gone(
        &mut self,
        agent: AgentId,
        head: Option<&str>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.execute(
            "UPDATE worktree SET state = 'gone', head = COALESCE($2, head), gone_at = $3
             WHERE agent_id = $1",
            params![agent.to_string(), head, now.as_millis()],
        )?;
        Ok(())
    }
}
