//! Spending over time and by subject, for plots.

use std::collections::HashMap;

use model::agent::AgentStateName;
use model::money::Usd;
use model::{AgentId, TaskId, Timestamp};
use rusqlite::params;

use crate::core::amount::sum;
use crate::core::error::StoreError;
use crate::core::row::RowReader;
use crate::core::tx::Tx;
use crate::crew::budget::SpendBy;
use crate::crew::run::{Tokens, read_tokens};

/// Number of ended agents considered for one figure.
const MAX_ENDED_AGENTS: u32 = 5000;

/// Spending of one group in one hour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpendPoint {
    /// When the hour began
    pub hour: Timestamp,
    /// On what: a role, a model, a task's slug, an agent
    pub key: String,
    /// Money
    pub money: Usd,
    /// Tokens
    pub tokens: Tokens,
}

/// A period of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeSpan {
    /// First moment
    pub from: Timestamp,
    /// First moment after it
    pub to: Timestamp,
}

/// Total cost of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskCost {
    /// The task
    pub task: TaskId,
    /// Its number
    pub number: i64,
    /// Its slug
    pub slug: String,
    /// Title
    pub title: String,
    /// Money
    pub money: Usd,
}

/// An agent in a tree of budgets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineageNode {
    /// Agent
    pub agent: AgentId,
    /// In which role
    pub role: String,
    /// Parent agent
    pub parent: Option<AgentId>,
    /// Where it stands
    pub state: AgentStateName,
    /// The number of its task
    pub task: Option<i64>,
    /// Cap for it and its descendants
    pub cap: Option<Usd>,
    /// Amount spent by it and its descendants
    pub spent: Usd,
}

impl Tx<'_> {
    /// Lists spending in a period by hour and group, in order of the hours.
    pub fn spend_points(&self, by: SpendBy, span: TimeSpan) -> Result<Vec<SpendPoint>, StoreError> {
        let key = match by {
            SpendBy::Role => "a.role",
            SpendBy::Model => "s.model",
            SpendBy::Task => "COALESCE(t.slug, '-')",
            SpendBy::Agent => "s.agent_id",
            SpendBy::Hour => "'-'",
        };
        self.all(
            &format!(
                "SELECT s.hour, {key}, {}, {}, {}, {}, {}
                 FROM spend AS s JOIN agent AS a ON a.id = s.agent_id
                    LEFT JOIN task AS t ON t.id = a.task_id
                 WHERE s.hour >= $1 AND s.hour < $2 GROUP BY 1, 2 ORDER BY 1, 2",
                sum("s.nanos"),
                sum("s.tokens_in"),
                sum("s.tokens_out"),
                sum("s.cache_read"),
                sum("s.cache_write"),
            ),
            params![span.from.as_millis(), span.to.as_millis()],
            |row| {
                let mut cells = RowReader::of(row);
                Ok(SpendPoint {
                    hour: cells.time()?,
                    key: cells.get()?,
                    money: Usd::from_nanos(cells.get()?),
                    tokens: read_tokens(&mut cells)?,
                })
            },
        )
    }

    /// The same by lineage: what is spent below an agent counts for who stands above all.
    pub fn spend_points_by_lineage(&self, span: TimeSpan) -> Result<Vec<SpendPoint>, StoreError> {
        let mut roots: HashMap<String, String> = HashMap::new();
        let mut sums: Vec<SpendPoint> = Vec::new();
        let mut at: HashMap<(Timestamp, String), usize> = HashMap::new();
        for point in self.spend_points(SpendBy::Agent, span)? {
            let root = match roots.get(&point.key) {
                Some(root) => root.clone(),
                None => self.agent_root(&point.key, &mut roots)?,
            };
            if let Some(sum) = at.get(&(point.hour, root.clone())).and_then(|at| sums.get_mut(*at))
            {
                sum.money += point.money;
                sum.tokens += point.tokens;
                continue;
            }
            at.insert((point.hour, root.clone()), sums.len());
            sums.push(SpendPoint { key: root, ..point });
        }
        Ok(sums)
    }

    /// Finds the root of an agent's tree, and remembers it for every ancestor on the way.
    fn agent_root(
        &self,
        id: &str,
        roots: &mut HashMap<String, String>,
    ) -> Result<String, StoreError> {
        let (mut way, mut here) = (Vec::new(), id.to_owned());
        let root = loop {
            if let Some(root) = roots.get(&here) {
                break root.clone();
            }
            let parent: Option<Option<String>> =
                self.one("SELECT parent_id FROM agent WHERE id = $1", params![here], |row| {
                    RowReader::of(row).get()
                })?;
            match parent.flatten() {
                Some(above) => way.push(std::mem::replace(&mut here, above)),
                None => break here.clone(),
            }
        };
        way.push(here);
        for id in way {
            roots.insert(id, root.clone());
        }
        Ok(root)
    }

    /// Lists the cost of completed tasks whose last agent ended in a period, the most expensive first.
    /// A task of which nobody knows what it cost is left out.
    pub fn spend_on_done(&self, span: TimeSpan) -> Result<Vec<TaskCost>, StoreError> {
        self.spend_on_tasks(
            "t.state = 'completed'
                AND t.id IN (SELECT task_id FROM agent WHERE ended_at >= $1 AND ended_at < $2
                    AND task_id IS NOT NULL ORDER BY ended_at DESC LIMIT $3)",
            span,
        )
    }

    /// Lists the cost of agents that failed in a period, by task, the most expensive first; costs
    /// had no task is the second answer.
    pub fn spend_on_failed(&self, span: TimeSpan) -> Result<(Vec<TaskCost>, Usd), StoreError> {
        let failed = "a.id IN (SELECT id FROM agent WHERE ended_at >= $1 AND ended_at < $2
                AND state IN ('failed', 'timed_out', 'over_budget', 'abandoned', 'lost')
                ORDER BY ended_at DESC LIMIT $3)";
        let tasks = self.spend_on_tasks(failed, span)?;
        let alone = self.number(
            &format!(
                "SELECT COALESCE({}, 0) FROM agent AS a JOIN run AS r ON r.agent_id = a.id
                 WHERE a.task_id IS NULL AND {failed}",
                sum("r.cost_nanos"),
            ),
            params![span.from.as_millis(), span.to.as_millis(), MAX_ENDED_AGENTS],
        )?;
        Ok((tasks, Usd::from_nanos(alone)))
    }

    fn spend_on_tasks(&self, which: &str, span: TimeSpan) -> Result<Vec<TaskCost>, StoreError> {
        self.all(
            &format!(
                "SELECT t.id, t.number, t.slug, t.title, {}
                 FROM task AS t JOIN agent AS a ON a.task_id = t.id
                    JOIN run AS r ON r.agent_id = a.id
                 WHERE {which} GROUP BY t.id HAVING COUNT(r.cost_nanos) > 0
                 ORDER BY 5 DESC, t.number",
                sum("r.cost_nanos"),
            ),
            params![span.from.as_millis(), span.to.as_millis(), MAX_ENDED_AGENTS],
            |row| {
                let mut cells = RowReader::of(row);
                Ok(TaskCost {
                    task: cells.parse()?,
                    number: cells.get()?,
                    slug: cells.get()?,
                    title: cells.get()?,
                    money: Usd::from_nanos(cells.get()?),
                })
            },
        )
    }

    /// The agent without a parent that has spent the most of those that live, else the one that ended last.
    pub fn spend_largest_root(&self) -> Result<Option<AgentId>, StoreError> {
        let live = self.one(
            "SELECT a.id FROM agent AS a LEFT JOIN budget AS b ON b.agent_id = a.id
             WHERE a.ended_at IS NULL AND a.parent_id IS NULL AND a.kind <> 'enlisted'
             ORDER BY COALESCE(b.spent_nanos, 0) DESC, a.number LIMIT 1",
            [],
            |row| RowReader::of(row).parse(),
        )?;
        if live.is_some() {
            return Ok(live);
        }
        self.one(
            "SELECT id FROM agent
             WHERE ended_at IS NOT NULL AND parent_id IS NULL AND kind <> 'enlisted'
             ORDER BY ended_at DESC LIMIT 1",
            [],
            |row| RowReader::of(row).parse(),
        )
    }

    /// An agent and those below it with their budgets, parents before children, at most `limit`.
    pub fn spend_lineage(&self, root: AgentId, limit: u32) -> Result<Vec<LineageNode>, StoreError> {
        self.all(
            "WITH RECURSIVE below (id, level) AS (
                SELECT id, 0 FROM agent WHERE id = $1
                UNION ALL
                SELECT a.id, b.level + 1 FROM below AS b JOIN agent AS a ON a.parent_id = b.id
                ORDER BY 2 LIMIT $2)
             SELECT a.id, a.role, a.parent_id, a.state, t.number, u.cap_nanos,
                COALESCE(u.spent_nanos, 0)
             FROM below AS b JOIN agent AS a ON a.id = b.id
                LEFT JOIN task AS t ON t.id = a.task_id
                LEFT JOIN budget AS u ON u.agent_id = a.id
             ORDER BY b.level, a.number",
            params![root.to_string(), limit],
            |row| {
                let mut cells = RowReader::of(row);
                Ok(LineageNode {
                    agent: cells.parse()?,
                    role: cells.get()?,
                    parent: cells.parse_opt()?,
                    state: cells.named(AgentStateName::parse)?,
                    task: cells.get()?,
                    cap: cells.get::<Option<i64>>()?.map(Usd::from_nanos),
                    spent: Usd::from_nanos(cells.get()?),
                })
            },
        )
    }
}
