//! Lists of tasks, and the next task.

use model::task::TaskStateName;
use model::{AgentId, EpicId};
use rusqlite::params;

use crate::core::error::StoreError;
use crate::core::page::Page;
use crate::core::row::RowReader;
use crate::core::tx::Tx;
use crate::tasks::task::{COLUMNS, Task, read};

/// Filter for listing tasks.
#[derive(Debug, Clone, Default)]
pub struct TaskFilter {
    /// Only those in one of these states; none is all
    pub states: Vec<TaskStateName>,
    /// Only those of this epic
    pub epic: Option<EpicId>,
    /// Only those of this session
    pub session: Option<String>,
}

impl TaskFilter {
    fn condition(&self) -> String {
        let mut condition = String::new();
        if !self.states.is_empty() {
            // Names of our own: nothing from outside gets into the text of a query.
            let names: Vec<String> =
                self.states.iter().map(|state| format!("'{}'", state.stored())).collect();
            condition = format!(" AND state IN ({})", names.join(", "));
        }
        if self.epic.is_some() {
            condition.push_str(" AND epic_id = $3");
        }
        if self.session.is_some() {
            condition.push_str(" AND session = $4");
        }
        condition
    }
}

/// Order of a list.
#[derive(Debug, Clone, Copy)]
enum Order {
    OldestFirst,
    NewestFirst,
}

impl Tx<'_> {
    /// Lists tasks, oldest first.
    pub fn task_page(
        &self,
        filter: &TaskFilter,
        after: i64,
        limit: u32,
    ) -> Result<Page<Task>, StoreError> {
        self.task_rows(filter, Order::OldestFirst, after, limit)
    }

    /// Lists tasks, newest first.
    pub fn task_page_newest(
        &self,
        filter: &TaskFilter,
        before: i64,
        limit: u32,
    ) -> Result<Page<Task>, StoreError> {
        self.task_rows(filter, Order::NewestFirst, before, limit)
    }

    fn task_rows(
        &self,
        filter: &TaskFilter,
        order: Order,
        cursor: i64,
        limit: u32,
    ) -> Result<Page<Task>, StoreError> {
        let (from, order) = match order {
            Order::OldestFirst => ("number > $1", "number"),
            Order::NewestFirst => ("number < $1", "number DESC"),
        };
        let sql = format!(
            "SELECT {COLUMNS} FROM task WHERE {from}{} ORDER BY {order} LIMIT $2",
            filter.condition()
        );
        let mut statement = self.statement(&sql)?;
        // Which parameters there are depends on the filter, so each is bound by its number.
        statement.raw_bind_parameter(1, cursor)?;
        statement.raw_bind_parameter(2, i64::from(limit) + 1)?;
        if let Some(epic) = filter.epic {
            statement.raw_bind_parameter(3, epic.to_string())?;
        }
        if let Some(session) = &filter.session {
            statement.raw_bind_parameter(4, session)?;
        }
        let mut rows = statement.raw_query();
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(read(row)?);
        }
        Ok(Page::cut(found, limit, |task| task.number))
    }

    /// Counts an epic's tasks by state; states without any are left out.
    pub fn task_counts(&self, epic: EpicId) -> Result<Vec<(TaskStateName, i64)>, StoreError> {
        self.all(
            "SELECT state, COUNT(*) AS tasks FROM task WHERE epic_id = $1 GROUP BY state",
            params![epic.to_string()],
            |row| {
                let mut cells = RowReader::of(row);
                Ok((cells.named(TaskStateName::parse)?, cells.get()?))
            },
        )
    }

    /// The task of a session that comes next for an agent: what is given to it or to nobody, needs
    /// nothing that is not done, and is the first by priority and then by age.
    pub fn task_next(
        &self,
        session: &str,
        agent: Option<AgentId>,
    ) -> Result<Option<Task>, StoreError> {
        let ready = |state: &str, mine: &str| {
            format!(
                "SELECT {COLUMNS} FROM task AS t
                 WHERE session = $1 AND state = '{state}' {mine} AND NOT EXISTS (
                    SELECT 1 FROM task_dependency AS d JOIN task AS n ON n.number = d.needs_number
                    WHERE d.task_number = t.number AND n.state NOT IN ('completed', 'cancelled'))
                 ORDER BY priority, number LIMIT 1"
            )
        };
        let free = self.one(&ready("pending", ""), params![session], read)?;
        let Some(agent) = agent else { return Ok(free) };
        let mine = self.one(
            &ready("assigned", "AND assigned_agent_id = $2"),
            params![session, agent.to_string()],
            read,
        )?;
        Ok(match (mine, free) {
            (Some(mine), Some(free)) => {
                let mine_first = (mine.priority, mine.number) < (free.priority, free.number);
                Some(if mine_first { mine } else { free })
            }
            (mine, free) => mine.or(free),
        })
    }
}
