//! The crew for people: live agents in one pass, pages of agents, and their details.

use model::agent::AgentStateName;
use model::money::Usd;
use model::{AgentId, EpicId, Timestamp};
use rusqlite::{Row, params};

use crate::core::error::StoreError;
use crate::core::event::{self, Event};
use crate::core::page::Page;
use crate::core::row::RowReader;
use crate::core::tx::Tx;
use crate::crew::agent::{self, Agent, COLUMNS};

/// A live agent, as much of it as counts and trees need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveAgent {
    /// Its place among all agents
    pub number: i64,
    /// Its id
    pub id: AgentId,
    /// Parent agent; `None` for the operator
    pub parent: Option<AgentId>,
    /// Current state
    pub state: AgentStateName,
    /// True if Adjutant runs its process
    pub ours: bool,
}

/// Details of an agent, loaded with one query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentDetails {
    /// Summary, one line; `None` for an enlisted agent
    pub summary: Option<String>,
    /// The model that answers it
    pub model: Option<String>,
    /// Options of its run, as JSON
    pub options: Option<String>,
    /// When its first attempt began
    pub started_at: Option<Timestamp>,
    /// When it must be over
    pub deadline_at: Option<Timestamp>,
    /// Cost, if known
    pub cost: Option<Usd>,
    /// Result as JSON, once it has ended
    pub result: Option<String>,
    /// Cap and spending of it and its descendants; `None` without a budget
    pub budget: Option<(Option<Usd>, Usd)>,
    /// Its task: number, slug and title
    pub task: Option<(i64, String, String)>,
    /// Its epic, or its task's: id and title
    pub epic: Option<(EpicId, String)>,
    /// Number of children, live or ended
    pub children: u32,
}

/// Filter by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrewStateFilter {
    /// All
    Any,
    /// At work, or about to be
    Running,
    /// Waiting for a review, a person or their model
    Waiting,
    /// Waiting for a place
    Queued,
    /// Over
    Ended,
}

impl CrewStateFilter {
    /// As a condition on agents. Names of our own: nothing from outside gets into a query.
    const fn condition(self) -> &'static str {
        match self {
            Self::Any => "1 = 1",
            Self::Running => "ended_at IS NULL AND state IN ('starting', 'running')",
            Self::Waiting => {
                "ended_at IS NULL AND state IN ('waiting_review', 'waiting_input', 'limited')"
            }
            Self::Queued => "state = 'queued'",
            Self::Ended => "ended_at IS NOT NULL",
        }
    }
}

/// Condition of the partial index over agents' lifecycle events; a query must repeat it to use the index.
const LIFECYCLE_EVENT_CONDITION: &str = "kind IN ('agent.created', 'agent.started', 'agent.state_changed', 'agent.stopping', 'agent.warned',
        'agent.asked', 'agent.finished', 'review.requested', 'review.feedback', 'review.ended', 'pull.opened',
        'merge.queued', 'merge.changed')";

fn living(row: &Row<'_>) -> Result<LiveAgent, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(LiveAgent {
        number: cells.get()?,
        id: cells.parse()?,
        parent: cells.parse_opt()?,
        state: cells.named(AgentStateName::parse)?,
        ours: cells.get::<String>()? != "enlisted",
    })
}

fn glance(row: &Row<'_>) -> Result<AgentDetails, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(AgentDetails {
        summary: cells.get()?,
        model: cells.get()?,
        options: cells.get()?,
        started_at: cells.time_opt()?,
        deadline_at: cells.time_opt()?,
        cost: cells.get::<Option<i64>>()?.map(Usd::from_nanos),
        result: cells.get()?,
        budget: {
            let cap = cells.get::<Option<i64>>()?.map(Usd::from_nanos);
            let spent = cells.get::<Option<i64>>()?.map(Usd::from_nanos);
            spent.map(|spent| (cap, spent))
        },
        task: {
            let number: Option<i64> = cells.get()?;
            let (slug, title): (Option<String>, Option<String>) = (cells.get()?, cells.get()?);
            number.zip(slug.zip(title)).map(|(number, (slug, title))| (number, slug, title))
        },
        epic: {
            let (id, title): (Option<EpicId>, Option<String>) = (cells.parse_opt()?, cells.get()?);
            id.zip(title)
        },
        children: cells.count()?,
    })
}

impl Tx<'_> {
    /// Everybody who has not ended, oldest first.
    pub fn crew_live(&self) -> Result<Vec<LiveAgent>, StoreError> {
        self.all(
            "SELECT number, id, parent_id, state, kind FROM agent WHERE ended_at IS NULL
             ORDER BY number",
            [],
            living,
        )
    }

    /// Finds an agent's parent; `None` for the operator's and for unknown agents.
    pub fn agent_parent(&self, id: AgentId) -> Result<Option<AgentId>, StoreError> {
        let found = self.one(
            "SELECT parent_id FROM agent WHERE id = $1",
            params![id.to_string()],
            |row| RowReader::of(row).parse_opt(),
        )?;
        Ok(found.flatten())
    }

    /// Counts all agents, live and ended.
    pub fn agents_count(&self) -> Result<i64, StoreError> {
        self.number("SELECT COUNT(*) FROM agent", [])
    }

    /// Loads the details of an agent.
    pub fn agent_details(&self, id: AgentId) -> Result<Option<AgentDetails>, StoreError> {
        self.one(
            "SELECT r.summary, r.model, r.wish, r.started_at, r.deadline_at, r.cost_nanos,
                CASE WHEN a.ended_at IS NULL THEN NULL ELSE r.result END,
                b.cap_nanos, b.spent_nanos, t.number, t.slug, t.title, e.id, e.title,
                (SELECT COUNT(*) FROM agent AS c WHERE c.parent_id = a.id)
             FROM agent AS a
                LEFT JOIN run AS r ON r.agent_id = a.id
                LEFT JOIN budget AS b ON b.agent_id = a.id
                LEFT JOIN task AS t ON t.id = a.task_id
                LEFT JOIN epic AS e ON e.id = COALESCE(a.epic_id, t.epic_id)
             WHERE a.id = $1",
            params![id.to_string()],
            glance,
        )
    }

    /// Those whom an agent, or the operator, started and whom the caller wants: oldest first after a
    /// number, or newest first before it. The rest is passed over without being kept.
    pub fn crew_started_by(
        &self,
        parent: Option<AgentId>,
        order: CrewPageOrder,
        limit: u32,
        mut wanted: impl FnMut(&Agent) -> bool,
    ) -> Result<Page<Agent>, StoreError> {
        let whose = if parent.is_some() { "parent_id = $2" } else { "parent_id IS NULL" };
        let (from, way, number) = match order {
            CrewPageOrder::OldestAfter(number) => ("number > $1", "ASC", number),
            CrewPageOrder::NewestBefore(number) => ("number < $1", "DESC", number),
        };
        let sql =
            format!("SELECT {COLUMNS} FROM agent WHERE {whose} AND {from} ORDER BY number {way}");
        let mut statement = self.statement(&sql)?;
        // Which parameters there are depends on whose they are, so each is bound by its number.
        statement.raw_bind_parameter(1, number)?;
        if let Some(parent) = parent {
            statement.raw_bind_parameter(2, parent.to_string())?;
        }
        let mut rows = statement.raw_query();
        let mut found = Vec::new();
        let enough = usize::try_from(limit).unwrap_or(usize::MAX).saturating_add(1);
        while let Some(row) = rows.next()? {
            let agent = agent::read(row)?;
            if wanted(&agent) {
                found.push(agent);
            }
            if found.len() >= enough {
                break;
            }
        }
        Ok(Page::cut(found, limit, |agent| agent.number))
    }

    /// Counts the children of an agent, or of the operator, that had ended by a time.
    pub fn crew_past_count(
        &self,
        parent: Option<AgentId>,
        until: Timestamp,
    ) -> Result<i64, StoreError> {
        match parent {
            Some(parent) => self.number(
                "SELECT COUNT(*) FROM agent WHERE parent_id = $1 AND ended_at <= $2",
                params![parent.to_string(), until.as_millis()],
            ),
            None => self.number(
                "SELECT COUNT(*) FROM agent WHERE parent_id IS NULL AND ended_at <= $1",
                params![until.as_millis()],
            ),
        }
    }

    /// Those whom the operator started and who ended after a time.
    pub fn crew_roots_ended_after(&self, since: Timestamp) -> Result<Vec<Agent>, StoreError> {
        self.all(
            &format!(
                "SELECT {COLUMNS} FROM agent WHERE ended_at > $1 AND parent_id IS NULL
                 ORDER BY number"
            ),
            params![since.as_millis()],
            agent::read,
        )
    }

    /// Those who stand so, oldest first.
    pub fn crew_in_state(
        &self,
        standing: CrewStateFilter,
        after: i64,
        limit: u32,
    ) -> Result<Page<Agent>, StoreError> {
        let only = standing.condition();
        let rows = self.all(
            &format!(
                "SELECT {COLUMNS} FROM agent WHERE {only} AND number > $1 ORDER BY number LIMIT $2"
            ),
            params![after, i64::from(limit) + 1],
            agent::read,
        )?;
        Ok(Page::cut(rows, limit, |agent| agent.number))
    }

    /// Those who are over, who ended last first; the cursor names the last one seen.
    pub fn crew_ended(&self, after: i64, limit: u32) -> Result<Page<Agent>, StoreError> {
        let seen = self.one(
            "SELECT ended_at FROM agent WHERE number = $1 AND ended_at IS NOT NULL",
            params![after],
            |row| RowReader::of(row).get::<i64>(),
        )?;
        let rows = self.all(
            &format!(
                "SELECT {COLUMNS} FROM agent
                 WHERE ended_at IS NOT NULL AND ended_at <= $1
                    AND (ended_at < $1 OR number < $2)
                 ORDER BY ended_at DESC, number DESC LIMIT $3"
            ),
            params![seen.unwrap_or(i64::MAX), after, i64::from(limit) + 1],
            agent::read,
        )?;
        Ok(Page::cut(rows, limit, |agent| agent.number))
    }

    /// Those whose role, id or task has a text in it, newest first; a number finds its task too.
    pub fn crew_search(
        &self,
        text: &str,
        standing: CrewStateFilter,
        before: i64,
        limit: u32,
    ) -> Result<Page<Agent>, StoreError> {
        let text = text.to_lowercase();
        let number = text.strip_prefix("tas-").unwrap_or(&text).parse().unwrap_or(-1_i64);
        let mut like = String::from("%");
        for c in text.chars() {
            if matches!(c, '%' | '_' | '\\') {
                like.push('\\');
            }
            like.push(c);
        }
        like.push('%');
        let only = standing.condition();
        let rows = self.all(
            &format!(
                "SELECT {COLUMNS} FROM agent
                 WHERE number < $1 AND {only} AND (
                    lower(role) LIKE $2 ESCAPE '\\' OR id LIKE $2 ESCAPE '\\' OR EXISTS (
                        SELECT 1 FROM task AS t WHERE t.id = agent.task_id AND (
                            t.number = $3 OR lower(t.slug) LIKE $2 ESCAPE '\\'
                            OR lower(t.title) LIKE $2 ESCAPE '\\')))
                 ORDER BY number DESC LIMIT $4"
            ),
            params![before, like, number, i64::from(limit) + 1],
            agent::read,
        )?;
        Ok(Page::cut(rows, limit, |agent| agent.number))
    }

    /// The newest events of an agent's own life, oldest of them first.
    pub fn agent_life(&self, id: AgentId, limit: u32) -> Result<Vec<Event>, StoreError> {
        let mut newest_first = self.all(
            &format!(
                "SELECT number, kind, at, agent_id, task_id, data FROM event
                 WHERE agent_id = $1 AND {LIFECYCLE_EVENT_CONDITION} ORDER BY number DESC LIMIT $2"
            ),
            params![id.to_string(), limit],
            event::read,
        )?;
        newest_first.reverse();
        Ok(newest_first)
    }

    /// The number of the last event.
    pub fn event_newest(&self) -> Result<i64, StoreError> {
        self.number("SELECT COALESCE(MAX(number), 0) FROM event", [])
    }
}

/// In which order a page goes, and from where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrewPageOrder {
    /// The oldest first, after a number
    OldestAfter(i64),
    /// The newest first, before a number
    NewestBefore(i64),
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// An agent's few events must not be looked for among all events, nor its children among all agents.
    #[test]
    fn lives_children_and_ends_are_found_by_their_indexes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        let connection = crate::core::tx::connect(&path, Duration::from_secs(1)).unwrap();
        crate::core::migrate::migrate(&connection).unwrap();
        let queries = [
            (
                format!(
                    "SELECT kind FROM event WHERE agent_id = 'x' AND {LIFECYCLE_EVENT_CONDITION} ORDER BY number DESC LIMIT 9"
                ),
                "event_of_agent",
            ),
            (
                "SELECT id FROM agent WHERE ended_at IS NOT NULL AND ended_at <= 5
                 ORDER BY ended_at DESC, number DESC LIMIT 9"
                    .to_owned(),
                "agent_ended",
            ),
            (
                "SELECT id FROM agent WHERE parent_id = 'x' AND number > 5 ORDER BY number"
                    .to_owned(),
                "agent_by_parent",
            ),
        ];
        for (sql, index) in queries {
            let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let steps = plan.query_map([], |row| row.get::<_, String>("detail")).unwrap();
            let text = steps.map(Result::unwrap).collect::<Vec<_>>().join("; ");
            assert!(text.contains(index) && !text.contains("TEMP B-TREE"), "{sql}: {text}");
        }
    }
}
