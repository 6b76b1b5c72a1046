//! Tasks, their dependencies, comments and dispatches.

use model::task::{Claim, Priority, TaskRef, TaskState, TaskStateName};
use model::{AgentId, EpicId, TaskId, Timestamp};
use rusqlite::{Row, params};

use crate::core::error::StoreError;
use crate::core::exact::{Field, clean};
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// A task to be.
#[derive(Debug, Clone)]
pub struct NewTask {
    /// Its id
    pub id: TaskId,
    /// Its name for people
    pub slug: String,
    /// In which session
    pub session: String,
    /// Title, one line
    pub title: String,
    /// Description
    pub description: Option<String>,
    /// Priority
    pub priority: Priority,
    /// Epic
    pub epic: Option<EpicId>,
    /// In which iteration it came up
    pub iteration: u32,
}

/// A unit of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its number: `TAS-12`
    pub number: i64,
    /// Its id
    pub id: TaskId,
    /// Its name for people
    pub slug: String,
    /// In which session
    pub session: String,
    /// Title, one line
    pub title: String,
    /// Description
    pub description: Option<String>,
    /// Where it stands
    pub state: TaskState,
    /// Priority
    pub priority: Priority,
    /// Epic
    pub epic: Option<EpicId>,
    /// To whom it was last given
    pub assigned_agent: Option<AgentId>,
    /// Number of claims so far
    pub claim_number: i64,
    /// Number of agents that ended without finishing it
    pub attempts: u32,
    /// Number of tasks it depends on
    pub needs: u32,
    /// Where its files are
    pub worktree_path: Option<String>,
    /// On which branch
    pub branch_name: Option<String>,
    /// Its pull request
    pub pr_url: Option<String>,
    /// In which iteration it came up
    pub iteration: u32,
    /// When it was made
    pub created_at: Timestamp,
    /// When it last changed
    pub updated_at: Timestamp,
}

/// A remark on a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// Its number
    pub number: i64,
    /// Author; `None` for the operator
    pub agent: Option<AgentId>,
    /// Text
    pub body: String,
    /// When
    pub created_at: Timestamp,
}

/// An agent's work on a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dispatch {
    /// Agent
    pub agent: AgentId,
    /// In which role
    pub role: String,
    /// From when
    pub started_at: Timestamp,
    /// Until when
    pub ended_at: Option<Timestamp>,
    /// Final status
    pub status: Option<String>,
    /// Result as JSON
    pub result: Option<String>,
}

pub(crate) const COLUMNS: &str = "number, id, slug, session, title, description, state, reason, priority, \
     epic_id, assigned_agent_id, claim_number, claim_agent_id, claim_attempt, attempts, needs, \
     worktree_path, branch_name, pr_url, iteration, created_at, updated_at";

pub(crate) fn read(row: &Row<'_>) -> Result<Task, StoreError> {
    let mut cells = RowReader::of(row);
    let (number, id, slug) = (cells.get()?, cells.parse()?, cells.get()?);
    let (session, title, description) = (cells.get()?, cells.get()?, cells.get()?);
    let (state, reason) = (cells.named(TaskStateName::parse)?, cells.get()?);
    let priority = Priority::new(cells.get()?).ok_or_else(|| cells.damaged(&"it is none"))?;
    let (epic, assigned_agent) = (cells.parse_opt()?, cells.parse_opt()?);
    let (claim_number, claim) = read_claim(&mut cells)?;
    Ok(Task {
        number,
        id,
        slug,
        session,
        title,
        description,
        state: match state {
            TaskStateName::Pending => TaskState::Pending,
            TaskStateName::Assigned => TaskState::Assigned {
                to: assigned_agent.ok_or_else(|| cells.damaged(&"it is assigned to nobody"))?,
            },
            TaskStateName::InProgress => TaskState::InProgress { claim },
            TaskStateName::Review => TaskState::Review { claim },
            TaskStateName::Blocked => TaskState::Blocked { claim, reason },
            TaskStateName::Completed => TaskState::Completed,
            TaskStateName::Failed => TaskState::Failed { reason },
            TaskStateName::Cancelled => TaskState::Cancelled { reason },
        },
        priority,
        epic,
        assigned_agent,
        claim_number,
        attempts: cells.count()?,
        needs: cells.count()?,
        worktree_path: cells.get()?,
        branch_name: cells.get()?,
        pr_url: cells.get()?,
        iteration: cells.count()?,
        created_at: cells.time()?,
        updated_at: cells.time()?,
    })
}

/// Reads `claim_number`, `claim_agent_id` and `claim_attempt`.
/// The columns of a dispatch, as `read_dispatch` reads them.
pub(crate) const DISPATCH: &str = "agent_id, role, started_at, ended_at, status, result";

pub(crate) fn read_dispatch(row: &Row<'_>) -> Result<Dispatch, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(Dispatch {
        agent: cells.parse()?,
        role: cells.get()?,
        started_at: cells.time()?,
        ended_at: cells.time_opt()?,
        status: cells.get()?,
        result: cells.get()?,
    })
}

/// Reads a remark: `number, agent_id, body, created_at`.
pub(crate) fn read_comment(row: &Row<'_>) -> Result<Comment, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(Comment {
        number: cells.get()?,
        agent: cells.parse_opt()?,
        body: cells.get()?,
        created_at: cells.time()?,
    })
}

fn read_claim(cells: &mut RowReader<'_>) -> Result<(i64, Option<Claim>), StoreError> {
    let (number, holder) = (cells.get()?, cells.parse_opt()?);
    let attempt: Option<u32> = cells.get()?;
    let claim = match (holder, attempt) {
        (Some(holder), Some(attempt)) => Some(Claim { holder, attempt, number }),
        _ => None,
    };
    Ok((number, claim))
}

/// The title of an open task, as it is compared with others.
fn content_key(title: &str, state: TaskStateName) -> Option<String> {
    (!state.is_closed()).then(|| clean(title).trim().to_lowercase())
}

impl Tx<'_> {
    /// A task as it was written, for the agent that works on it.
    pub fn task_exact(&self, mut task: Task) -> Result<Task, StoreError> {
        let id = task.id.to_string();
        task.title = self.exact(&id, Field::Title, task.title)?;
        task.description = task
            .description
            .map(|description| self.exact(&id, Field::Description, description))
            .transpose()?;
        Ok(task)
    }

    /// Records a new task.
    pub fn task_insert(&mut self, new: &NewTask, now: Timestamp) -> Result<Task, StoreError> {
        let number = self.number("SELECT COALESCE(MAX(number), 0) + 1 FROM task", [])?;
        let id = new.id.to_string();
        let title = self.keep_exact(&id, Field::Title, &new.title, now)?;
        let description = new
            .description
            .as_ref()
            .map(|text| self.keep_exact(&id, Field::Description, text, now))
            .transpose()?;
        self.execute(
            "INSERT INTO task (number, id, slug, session, title, description, state, priority,
                epic_id, claim_number, attempts, needs, iteration, content_key, created_at, updated_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, 0, 0, $10, $11, $12, $12)",
            params![
                number,
                id,
                new.slug,
                new.session,
                title,
                description,
                TaskStateName::Pending.stored(),
                new.priority.number(),
                new.epic.map(|id| id.to_string()),
                new.iteration,
                content_key(&new.title, TaskStateName::Pending),
                now.as_millis()
            ],
        )?;
        self.task_find(&TaskRef::Number(number))?
            .ok_or_else(|| StoreError::Corrupt(format!("task {number} is gone")))
    }

    /// The open task of a session with that title, if there is one.
    pub fn task_with_title(&self, session: &str, title: &str) -> Result<Option<Task>, StoreError> {
        self.one(
            &format!(
                "SELECT {COLUMNS} FROM task WHERE session = $1 AND content_key = $2
                 ORDER BY number LIMIT 1"
            ),
            params![session, content_key(title, TaskStateName::Pending)],
            read,
        )
    }

    /// The task of that name.
    pub fn task_find(&self, name: &TaskRef) -> Result<Option<Task>, StoreError> {
        match name {
            TaskRef::Id(id) => self.one(
                &format!("SELECT {COLUMNS} FROM task WHERE id = $1"),
                params![id.to_string()],
                read,
            ),
            TaskRef::Number(number) => self.one(
                &format!("SELECT {COLUMNS} FROM task WHERE number = $1"),
                params![number],
                read,
            ),
            TaskRef::Slug(slug) => self.one(
                &format!("SELECT {COLUMNS} FROM task WHERE slug = $1"),
                params![slug],
                read,
            ),
        }
    }

    /// True if a slug is taken.
    pub fn task_slug_exists(&self, slug: &str) -> Result<bool, StoreError> {
        Ok(self.number("SELECT COUNT(*) FROM task WHERE slug = $1", params![slug])? > 0)
    }

    /// The slugs of the newest tasks, for hints.
    pub fn task_recent_slugs(&self, limit: u32) -> Result<Vec<String>, StoreError> {
        self.all("SELECT slug FROM task ORDER BY number DESC LIMIT $1", params![limit], |row| {
            RowReader::of(row).get()
        })
    }

    /// Writes down what was decided about a task: its state, to whom it is given, how urgent it is.
    pub fn task_save(&mut self, task: &Task, now: Timestamp) -> Result<(), StoreError> {
        let claim = task.state.claim();
        let assigned = match task.state {
            TaskState::Assigned { to } => Some(to),
            _ => task.assigned_agent,
        };
        self.execute(
            "UPDATE task SET state = $2, reason = $3, priority = $4, assigned_agent_id = $5,
                claim_agent_id = $6, claim_attempt = $7, claim_number = $8, attempts = $9,
                content_key = $10, updated_at = $11
             WHERE number = $1",
            params![
                task.number,
                task.state.name().stored(),
                task.state.reason(),
                task.priority.number(),
                assigned.map(|id| id.to_string()),
                claim.map(|claim| claim.holder.to_string()),
                claim.map(|claim| claim.attempt),
                task.claim_number,
                task.attempts,
                content_key(&task.title, task.state.name()),
                now.as_millis()
            ],
        )?;
        Ok(())
    }

    /// Says where a task is worked on.
    pub fn task_set_worktree(
        &mut self,
        id: TaskId,
        path: &str,
        branch: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.execute(
            "UPDATE task SET worktree_path = $2, branch_name = $3, updated_at = $4 WHERE id = $1",
            params![id.to_string(), path, branch, now.as_millis()],
        )?;
        Ok(())
    }

    /// Says by which pull request a task goes in.
    pub fn task_set_pull(
        &mut self,
        id: TaskId,
        url: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.execute(
            "UPDATE task SET pr_url = $2, updated_at = $3 WHERE id = $1",
            params![id.to_string(), url, now.as_millis()],
        )?;
        Ok(())
    }

    /// The tasks that an agent holds a claim on.
    pub fn tasks_claimed_by(&self, agent: AgentId) -> Result<Vec<Task>, StoreError> {
        self.all(
            &format!("SELECT {COLUMNS} FROM task WHERE claim_agent_id = $1 ORDER BY number"),
            params![agent.to_string()],
            read,
        )
    }

    /// The tasks that were given to an agent and not begun.
    pub fn tasks_assigned_to(&self, agent: AgentId) -> Result<Vec<Task>, StoreError> {
        self.all(
            &format!(
                "SELECT {COLUMNS} FROM task WHERE state = 'assigned' AND assigned_agent_id = $1
                 ORDER BY number"
            ),
            params![agent.to_string()],
            read,
        )
    }

    /// The numbers of the tasks that a task needs.
    pub fn task_needs(&self, number: i64) -> Result<Vec<i64>, StoreError> {
        self.all(
            "SELECT needs_number FROM task_dependency WHERE task_number = $1 ORDER BY needs_number",
            params![number],
            |row| RowReader::of(row).get(),
        )
    }

    /// The ids of the tasks that a task needs.
    pub fn task_need_ids(&self, number: i64) -> Result<Vec<TaskId>, StoreError> {
        self.all(
            "SELECT n.id FROM task_dependency AS d JOIN task AS n ON n.number = d.needs_number
             WHERE d.task_number = $1 ORDER BY n.number",
            params![number],
            |row| RowReader::of(row).parse(),
        )
    }

    /// Makes a task need another. The caller has looked for cycles.
    pub fn task_add_need(&mut self, number: i64, needs: i64) -> Result<(), StoreError> {
        let added = self.execute(
            "INSERT INTO task_dependency (task_number, needs_number) VALUES ($1, $2)
             ON CONFLICT (task_number, needs_number) DO NOTHING",
            params![number, needs],
        )?;
        if added > 0 {
            self.execute("UPDATE task SET needs = needs + 1 WHERE number = $1", params![number])?;
        }
        Ok(())
    }

    /// Writes a remark on a task and gives its number.
    pub fn comment_insert(
        &mut self,
        task: i64,
        agent: Option<AgentId>,
        body: &str,
        now: Timestamp,
    ) -> Result<i64, StoreError> {
        let number = self.number("SELECT COALESCE(MAX(number), 0) + 1 FROM task_comment", [])?;
        self.execute(
            "INSERT INTO task_comment (number, task_number, agent_id, body, created_at)
             VALUES ($1, $2, $3, $4, $5)",
            params![number, task, agent.map(|id| id.to_string()), clean(body), now.as_millis()],
        )?;
        Ok(number)
    }

    /// The last remarks on a task, in order.
    pub fn comment_list(&self, task: i64, limit: u32) -> Result<Vec<Comment>, StoreError> {
        self.comment_list_before(task, i64::MAX, limit)
    }

    /// The last remarks on a task before the one of a number, in order.
    pub fn comment_list_before(
        &self,
        task: i64,
        before: i64,
        limit: u32,
    ) -> Result<Vec<Comment>, StoreError> {
        let mut newest_first = self.all(
            "SELECT number, agent_id, body, created_at FROM task_comment
             WHERE task_number = $1 AND number < $2
             ORDER BY number DESC LIMIT $3",
            params![task, before, limit],
            read_comment,
        )?;
        newest_first.reverse();
        Ok(newest_first)
    }

    /// Counts the comments on a task before a number.
    pub fn comment_count_before(&self, task: i64, before: i64) -> Result<u64, StoreError> {
        let count = self.number(
            "SELECT COUNT(*) FROM task_comment WHERE task_number = $1 AND number < $2",
            params![task, before],
        )?;
        Ok(u64::try_from(count).unwrap_or_default())
    }

    /// Notes that an agent works on a task.
    pub fn dispatch_begin(
        &mut self,
        task: i64,
        agent: AgentId,
        role: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO dispatch (task_number, agent_id, role, started_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (task_number, agent_id) DO NOTHING",
            params![task, agent.to_string(), role, now.as_millis()],
        )?;
        Ok(())
    }

    /// Notes how an agent's work ended, on every task where it has not ended yet.
    pub fn dispatch_end(
        &mut self,
        agent: AgentId,
        status: &str,
        result: Option<&str>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.execute(
            "UPDATE dispatch SET ended_at = $2, status = $3, result = $4
             WHERE agent_id = $1 AND ended_at IS NULL",
            params![agent.to_string(), now.as_millis(), status, result],
        )?;
        Ok(())
    }

    /// Lists the agents that worked on a task, in order.
    pub fn dispatch_list(&self, task: i64) -> Result<Vec<Dispatch>, StoreError> {
        self.all(
            &format!(
                "SELECT {DISPATCH} FROM dispatch WHERE task_number = $1
                 ORDER BY started_at, agent_id"
            ),
            params![task],
            read_dispatch,
        )
    }

    /// Counts the agents that worked on a task.
    pub fn dispatch_count(&self, task: i64) -> Result<i64, StoreError> {
        self.number("SELECT COUNT(*) FROM dispatch WHERE task_number = $1", params![task])
    }
}
