//! The story of a task: its events, agents, cost and neighbours.

use model::money::Usd;
use model::task::TaskStateName;
use model::{AgentId, EpicId, TaskId};
use rusqlite::params;

use crate::core::amount::sum;
use crate::core::error::StoreError;
use crate::core::event::{self, Event};
use crate::core::page::Page;
use crate::core::row::RowReader;
use crate::core::tx::Tx;
use crate::crew::agent::{self, Agent};
use crate::tasks::epic::{self, Epic};
use crate::tasks::task::{Comment, DISPATCH, Dispatch, read_comment, read_dispatch};

/// Page of epics to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EpicPage {
    /// Those that are not completed or cancelled
    Open,
    /// All there ever were
    All,
}

impl Tx<'_> {
    /// Lists a task's events before a number, newest first.
    pub fn task_history(
        &self,
        task: TaskId,
        before: i64,
        limit: u32,
    ) -> Result<Page<Event>, StoreError> {
        // The kinds are those of the index `event_of_task`, which is only used if they are named.
        let rows = self.all(
            "SELECT number, kind, at, agent_id, task_id, data FROM event
             WHERE task_id = $1 AND number < $2
                AND kind IN ('task.created', 'task.assigned', 'task.updated', 'task.commented')
             ORDER BY number DESC LIMIT $3",
            params![task.to_string(), before, i64::from(limit) + 1],
            event::read,
        )?;
        Ok(Page::cut(rows, limit, |event| event.number))
    }

    /// The remark of that number.
    pub fn comment_get(&self, number: i64) -> Result<Option<Comment>, StoreError> {
        self.one(
            "SELECT number, agent_id, body, created_at FROM task_comment WHERE number = $1",
            params![number],
            read_comment,
        )
    }

    /// Lists the last agents on a task, newest first.
    pub fn dispatch_newest(&self, task: i64, limit: u32) -> Result<Vec<Dispatch>, StoreError> {
        self.all(
            &format!(
                "SELECT {DISPATCH} FROM dispatch WHERE task_number = $1
                 ORDER BY started_at DESC, agent_id LIMIT $2"
            ),
            params![task, limit],
            read_dispatch,
        )
    }

    /// The newest agent that works on a task and has not ended.
    pub fn agent_on_task(&self, task: TaskId) -> Result<Option<Agent>, StoreError> {
        self.one(
            &format!(
                "SELECT {} FROM agent WHERE task_id = $1 AND ended_at IS NULL
                 ORDER BY number DESC LIMIT 1",
                agent::COLUMNS
            ),
            params![task.to_string()],
            agent::read,
        )
    }

    /// Sums the reported cost of a task's agents, and counts them.
    pub fn task_cost(&self, task: TaskId) -> Result<(Option<Usd>, i64), StoreError> {
        let found = self.one(
            &format!(
                "SELECT {}, COUNT(*) FROM agent AS a
                 LEFT JOIN run AS r ON r.agent_id = a.id WHERE a.task_id = $1",
                sum("r.cost_nanos"),
            ),
            params![task.to_string()],
            |row| {
                let mut cells = RowReader::of(row);
                Ok((cells.get::<Option<i64>>()?.map(Usd::from_nanos), cells.get()?))
            },
        )?;
        Ok(found.unwrap_or((None, 0)))
    }

    /// Reported cost of an agent.
    pub fn agent_cost(&self, agent: AgentId) -> Result<Option<Usd>, StoreError> {
        let cost = self.one(
            "SELECT cost_nanos FROM run WHERE agent_id = $1",
            params![agent.to_string()],
            |row| RowReader::of(row).get::<Option<i64>>(),
        )?;
        Ok(cost.flatten().map(Usd::from_nanos))
    }

    /// Lists epics, oldest first.
    pub fn epics_in_state(
        &self,
        which: EpicPage,
        after: i64,
        limit: u32,
    ) -> Result<Page<Epic>, StoreError> {
        let only = match which {
            EpicPage::Open => " AND state NOT IN ('COMPLETED', 'CANCELLED')",
            EpicPage::All => "",
        };
        let rows = self.all(
            &format!(
                "SELECT {} FROM epic WHERE number > $1{only} ORDER BY number LIMIT $2",
                epic::COLUMNS
            ),
            params![after, i64::from(limit) + 1],
            epic::read,
        )?;
        Ok(Page::cut(rows, limit, |epic| epic.number))
    }

    /// Sums spending by epic.
    pub fn epic_costs(&self) -> Result<Vec<(EpicId, Usd)>, StoreError> {
        // `spend` is read and not `run`, whose rows are as long as the prompts in them.
        self.all(
            &format!(
                "SELECT a.epic_id, {} AS nanos FROM agent AS a
                 JOIN spend AS s ON s.agent_id = a.id
                 WHERE a.epic_id IS NOT NULL GROUP BY a.epic_id",
                sum("s.nanos"),
            ),
            [],
            |row| {
                let mut cells = RowReader::of(row);
                Ok((cells.parse()?, Usd::from_nanos(cells.get()?)))
            },
        )
    }

    /// The tasks that a task needs, and where they stand.
    pub fn task_need_states(&self, number: i64) -> Result<Vec<(i64, TaskStateName)>, StoreError> {
        self.all(
            "SELECT n.number, n.state FROM task_dependency AS d
             JOIN task AS n ON n.number = d.needs_number
             WHERE d.task_number = $1 ORDER BY n.number",
            params![number],
            |row| {
                let mut cells = RowReader::of(row);
                Ok((cells.get()?, cells.named(TaskStateName::parse)?))
            },
        )
    }

    /// The numbers of the first tasks that wait for a task.
    pub fn task_needed_by(&self, number: i64, limit: u32) -> Result<Vec<i64>, StoreError> {
        self.all(
            "SELECT task_number FROM task_dependency WHERE needs_number = $1
             ORDER BY task_number LIMIT $2",
            params![number, limit],
            |row| RowReader::of(row).get(),
        )
    }

    /// Counts tasks that wait for a task.
    pub fn task_needed_by_count(&self, number: i64) -> Result<i64, StoreError> {
        self.number("SELECT COUNT(*) FROM task_dependency WHERE needs_number = $1", params![number])
    }
}
