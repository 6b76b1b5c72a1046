//! Agents.

use model::agent::{AgentState, AgentStateName};
use model::{AgentId, EpicId, TaskId, Timestamp};
use rusqlite::{Row, params};

use crate::core::error::StoreError;
use crate::core::exact::clean;
use crate::core::page::Page;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// An agent to be.
#[derive(Debug, Clone)]
pub struct NewAgent {
    /// Its id
    pub id: AgentId,
    /// Its role's name
    pub role: String,
    /// Its category's name
    pub category: String,
    /// Kind of agent
    pub kind: String,
    /// Parent agent; `None` for the operator
    pub parent: Option<AgentId>,
    /// Depth below the operator
    pub depth: u32,
    /// Current task
    pub task: Option<TaskId>,
    /// Current epic
    pub epic: Option<EpicId>,
    /// The loop that started it
    pub session: Option<String>,
    /// In which of its iterations
    pub iteration: Option<u32>,
    /// Where it stands from the start
    pub state: AgentState,
    /// Where it works
    pub cwd: Option<String>,
    /// The hash of its token
    pub token_hash: Option<String>,
}

/// One run of a role or of a bare prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Its place among all agents
    pub number: i64,
    /// Its id
    pub id: AgentId,
    /// Its role's name
    pub role: String,
    /// Its category's name
    pub category: String,
    /// Kind of agent
    pub kind: String,
    /// Parent agent; `None` for the operator
    pub parent: Option<AgentId>,
    /// Depth below the operator
    pub depth: u32,
    /// Current task
    pub task: Option<TaskId>,
    /// Current epic
    pub epic: Option<EpicId>,
    /// The loop that started it
    pub session: Option<String>,
    /// In which of its iterations
    pub iteration: Option<u32>,
    /// Where it stands
    pub state: AgentState,
    /// Attempt number
    pub attempt: u32,
    /// Where it works
    pub cwd: Option<String>,
    /// The terminal in which it can be watched
    pub tmux_session: Option<String>,
    /// When it was recorded
    pub created_at: Timestamp,
    /// When it last changed
    pub updated_at: Timestamp,
    /// When it last did something
    pub last_active_at: Timestamp,
    /// The rights that were in force when it was recorded, by their number
    pub rights: i64,
}

impl Agent {
    /// When it ended, if it has.
    pub const fn ended_at(&self) -> Option<Timestamp> {
        match &self.state {
            AgentState::Ended { at, .. } => Some(*at),
            _ => None,
        }
    }
}

/// Page of agents to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentPage {
    /// Those that have not ended
    Live,
    /// All there ever were
    All,
}

pub(crate) const COLUMNS: &str = "number, id, role, category, kind, parent_id, depth, task_id, epic_id, session, \
     state, reason, limited_until, ended_at, attempt, cwd, tmux_session, created_at, updated_at, \
     last_active_at, iteration, rights";

pub(crate) fn read(row: &Row<'_>) -> Result<Agent, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(Agent {
        number: cells.get()?,
        id: cells.parse()?,
        role: cells.get()?,
        category: cells.get()?,
        kind: cells.get()?,
        parent: cells.parse_opt()?,
        depth: cells.count()?,
        task: cells.parse_opt()?,
        epic: cells.parse_opt()?,
        session: cells.get()?,
        state: read_state(&mut cells)?,
        attempt: cells.count()?,
        cwd: cells.get()?,
        tmux_session: cells.get()?,
        created_at: cells.time()?,
        updated_at: cells.time()?,
        last_active_at: cells.time()?,
        iteration: cells.get()?,
        rights: cells.get()?,
    })
}

/// Reads `state`, `reason`, `limited_until` and `ended_at`.
fn read_state(cells: &mut RowReader<'_>) -> Result<AgentState, StoreError> {
    let name = cells.named(AgentStateName::parse)?;
    let reason: Option<String> = cells.get()?;
    let (until, ended_at) = (cells.time_opt()?, cells.time_opt()?);
    let missing = || cells.damaged(&"a time is missing for its state");
    Ok(match name {
        AgentStateName::Queued => AgentState::Queued,
        AgentStateName::Starting => AgentState::Starting,
        AgentStateName::Running => AgentState::Running,
        AgentStateName::WaitingReview => AgentState::WaitingReview,
        AgentStateName::WaitingInput => AgentState::WaitingInput,
        AgentStateName::Limited => AgentState::Limited { until: until.ok_or_else(missing)? },
        ended => AgentState::Ended {
            outcome: ended.outcome().ok_or_else(missing)?,
            reason: reason.unwrap_or_default(),
            at: ended_at.ok_or_else(missing)?,
        },
    })
}

impl Tx<'_> {
    /// Records a new agent.
    pub fn agent_insert(&mut self, new: &NewAgent, now: Timestamp) -> Result<(), StoreError> {
        let number = self.number("SELECT COALESCE(MAX(number), 0) + 1 FROM agent", [])?;
        let rights = self.rights_last()?;
        self.execute(
            "INSERT INTO agent (number, id, role, category, kind, parent_id, depth, task_id, epic_id,
                session, state, attempt, cwd, token_hash, created_at, updated_at, last_active_at, iteration,
                rights)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 1, $12, $13, $14, $14, $14, $15,
                $16)",
            params![
                number,
                new.id.to_string(),
                new.role,
                new.category,
                new.kind,
                new.parent.map(|id| id.to_string()),
                new.depth,
                new.task.map(|id| id.to_string()),
                new.epic.map(|id| id.to_string()),
                new.session,
                new.state.name().stored(),
                new.cwd,
                new.token_hash,
                now.as_millis(),
                new.iteration,
                rights
            ],
        )?;
        Ok(())
    }

    /// The agent of that id.
    pub fn agent_get(&self, id: AgentId) -> Result<Option<Agent>, StoreError> {
        self.one(
            &format!("SELECT {COLUMNS} FROM agent WHERE id = $1"),
            params![id.to_string()],
            read,
        )
    }

    /// The agent whose token has that hash. An ended agent's token is void.
    pub fn agent_by_token(&self, hash: &str) -> Result<Option<Agent>, StoreError> {
        self.one(&format!("SELECT {COLUMNS} FROM agent WHERE token_hash = $1"), params![hash], read)
    }

    /// The hash of an agent's token, by its first hex digits.
    pub fn agent_token_hash(&self, beginning: &str) -> Result<Option<String>, StoreError> {
        // Every hex digit sorts before this one.
        let end = format!("{beginning}g");
        self.one(
            "SELECT token_hash FROM agent WHERE token_hash >= $1 AND token_hash < $2 LIMIT 1",
            params![beginning, end],
            |row| Ok(row.get(0)?),
        )
    }

    /// Notes that an agent did something; false if it has ended.
    pub fn agent_touch(&mut self, id: AgentId, now: Timestamp) -> Result<bool, StoreError> {
        let changed = self.execute(
            // A row that was written late must not make the last sign of life older than it is.
            "UPDATE agent
             SET last_active_at = CASE WHEN last_active_at > $2 THEN last_active_at ELSE $2 END
             WHERE id = $1 AND ended_at IS NULL",
            params![id.to_string(), now.as_millis()],
        )?;
        Ok(changed > 0)
    }

    /// Moves an agent to the state that was decided for it. An end voids its token.
    pub fn agent_advance(
        &mut self,
        id: AgentId,
        to: &AgentState,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (reason, until, ended_at) = match to {
            AgentState::Limited { until } => (None, Some(until.as_millis()), None),
            AgentState::Ended { reason, at, .. } => (Some(reason), None, Some(at.as_millis())),
            _ => (None, None, None),
        };
        self.execute(
            "UPDATE agent SET state = $2, reason = $3, limited_until = $4, ended_at = $5,
                updated_at = $6,
                token_hash = CASE WHEN $5 IS NULL THEN token_hash ELSE NULL END
             WHERE id = $1",
            params![
                id.to_string(),
                to.name().stored(),
                reason.map(|reason| clean(reason)),
                until,
                ended_at,
                now.as_millis()
            ],
        )?;
        Ok(())
    }

    /// Sets what an agent works on.
    pub fn agent_set_task(
        &mut self,
        id: AgentId,
        task: TaskId,
        epic: Option<EpicId>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.execute(
            "UPDATE agent SET task_id = $2, epic_id = COALESCE($3, epic_id), updated_at = $4
             WHERE id = $1",
            params![
                id.to_string(),
                task.to_string(),
                epic.map(|id| id.to_string()),
                now.as_millis()
            ],
        )?;
        Ok(())
    }

    /// Notes that a live agent no longer works on a task, because another agent has it now.
    pub fn agent_drop_task(
        &mut self,
        id: AgentId,
        task: TaskId,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.execute(
            "UPDATE agent SET task_id = NULL, updated_at = $3
             WHERE id = $1 AND task_id = $2 AND ended_at IS NULL",
            params![id.to_string(), task.to_string(), now.as_millis()],
        )?;
        Ok(())
    }

    /// Says where an agent works.
    pub fn agent_set_cwd(&mut self, id: AgentId, cwd: &str) -> Result<(), StoreError> {
        self.execute("UPDATE agent SET cwd = $2 WHERE id = $1", params![id.to_string(), cwd])?;
        Ok(())
    }

    /// Lists agents, oldest first.
    pub fn agent_page(
        &self,
        which: AgentPage,
        after: i64,
        limit: u32,
    ) -> Result<Page<Agent>, StoreError> {
        let only = match which {
            AgentPage::Live => "ended_at IS NULL AND",
            AgentPage::All => "",
        };
        let rows = self.all(
            &format!(
                "SELECT {COLUMNS} FROM agent WHERE {only} number > $1 ORDER BY number LIMIT $2"
            ),
            params![after, i64::from(limit) + 1],
            read,
        )?;
        Ok(Page::cut(rows, limit, |agent| agent.number))
    }

    /// The last agents that ended, newest first.
    pub fn agents_ended(&self, limit: u32) -> Result<Vec<Agent>, StoreError> {
        self.all(
            &format!(
                "SELECT {COLUMNS} FROM agent WHERE ended_at IS NOT NULL
                 ORDER BY number DESC LIMIT $1"
            ),
            params![limit],
            read,
        )
    }

    /// Counts live agents.
    pub fn agents_live_count(&self) -> Result<i64, StoreError> {
        self.number("SELECT COUNT(*) FROM agent WHERE ended_at IS NULL", [])
    }

    /// The live supervisor of an epic, if it has one.
    pub fn agent_supervising(&self, epic: EpicId) -> Result<Option<Agent>, StoreError> {
        self.one(
            &format!(
                "SELECT {COLUMNS} FROM agent
                 WHERE epic_id = $1 AND category = 'supervisor' AND ended_at IS NULL
                 ORDER BY number LIMIT 1"
            ),
            params![epic.to_string()],
            read,
        )
    }
}
