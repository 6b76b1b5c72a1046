//! Budgets: limits and spending of an agent with all its descendants.

use model::money::Usd;
use model::{AgentId, Timestamp};
use rusqlite::{Row, params};

use crate::core::amount::{added, stored, stored_money, sum};
use crate::core::error::StoreError;
use crate::core::row::RowReader;
use crate::core::tx::Tx;
use crate::crew::run::{Tokens, read_tokens};

/// Caps. An absent one is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BudgetCaps {
    /// Money
    pub money: Option<Usd>,
    /// Tokens, in and out
    pub tokens: Option<u64>,
    /// Agents started
    pub agents: Option<u64>,
    /// Seconds of running
    pub seconds: Option<u64>,
}

/// Money and tokens that an agent without a cap of its own holds of the caps above it until it ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BudgetReserve {
    /// Money; absent where no cap on money stands above it
    pub money: Option<Usd>,
    /// Tokens, in and out; absent where no cap on tokens stands above it
    pub tokens: Option<u64>,
}

/// Limits and spending of an agent with all its descendants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Its caps
    pub caps: BudgetCaps,
    /// Amount reserved of the caps above it
    pub reserve: BudgetReserve,
    /// Money spent
    pub money: Usd,
    /// Tokens used
    pub tokens: u64,
    /// Agents started
    pub agents: u64,
    /// True if the warning was sent, for a cap that only warns
    pub warned: bool,
}

/// Something spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spend {
    /// Money; less than nothing where an estimate was too high
    pub money: Usd,
    /// Tokens
    pub tokens: u64,
    /// Agents started
    pub agents: u64,
}

/// Money and tokens that an agent used at once, with one model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpendAmount {
    /// Money
    pub money: Usd,
    /// Tokens
    pub tokens: Tokens,
}

/// Total spending of one group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpendSum {
    /// Over what: a role, a model, a task, a day
    pub key: String,
    /// Number of agents
    pub agents: i64,
    /// Money
    pub money: Usd,
    /// Tokens
    pub tokens: Tokens,
}

/// Grouping of spending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpendBy {
    /// The role
    Role,
    /// The model
    Model,
    /// The task's slug
    Task,
    /// The agent
    Agent,
    /// The hour, as milliseconds since 1970
    Hour,
}

fn read(row: &Row<'_>) -> Result<Budget, StoreError> {
    let mut cells = RowReader::of(row);
    let caps = BudgetCaps {
        money: cells.get::<Option<i64>>()?.map(Usd::from_nanos),
        tokens: cells.large_opt()?,
        agents: cells.large_opt()?,
        seconds: cells.large_opt()?,
    };
    let reserve = BudgetReserve {
        money: cells.get::<Option<i64>>()?.map(Usd::from_nanos),
        tokens: cells.large_opt()?,
    };
    Ok(Budget {
        caps,
        reserve,
        money: Usd::from_nanos(cells.get()?),
        tokens: cells.large()?,
        agents: cells.large()?,
        warned: cells.get::<i64>()? != 0,
    })
}

impl Tx<'_> {
    /// Records what an agent may spend.
    pub fn budget_insert(&mut self, agent: AgentId, caps: &BudgetCaps) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO budget (agent_id, cap_nanos, cap_tokens, cap_agents, cap_seconds,
                spent_nanos, spent_tokens, spent_agents, warned)
             VALUES ($1, $2, $3, $4, $5, 0, 0, 0, 0)
             ON CONFLICT (agent_id) DO NOTHING",
            params![
                agent.to_string(),
                caps.money.map(stored_money),
                caps.tokens.map(stored),
                caps.agents.map(stored),
                caps.seconds.map(stored)
            ],
        )?;
        Ok(())
    }

    /// Loads an agent's budget; `None` without one.
    pub fn budget_get(&self, agent: AgentId) -> Result<Option<Budget>, StoreError> {
        self.one(
            "SELECT cap_nanos, cap_tokens, cap_agents, cap_seconds, reserved_nanos, reserved_tokens,
                spent_nanos, spent_tokens, spent_agents, warned
             FROM budget WHERE agent_id = $1",
            params![agent.to_string()],
            read,
        )
    }

    /// Adds to what an agent and those below it have spent, and gives what it has now.
    pub fn budget_charge(&mut self, agent: AgentId, spend: Spend) -> Result<Budget, StoreError> {
        self.budget_insert(agent, &BudgetCaps::default())?;
        self.execute(
            &format!(
                "UPDATE budget SET spent_nanos = {}, spent_tokens = {}, spent_agents = {}
                 WHERE agent_id = $1",
                added("spent_nanos", "$2"),
                added("spent_tokens", "$3"),
                added("spent_agents", "$4"),
            ),
            params![
                agent.to_string(),
                stored_money(spend.money),
                stored(spend.tokens),
                stored(spend.agents)
            ],
        )?;
        self.budget_get(agent)?
            .ok_or_else(|| StoreError::Corrupt(format!("the budget of `{agent}` is missing")))
    }

    /// Notes that an agent was warned of its own cap.
    pub fn budget_warned(&mut self, agent: AgentId) -> Result<(), StoreError> {
        self.execute(
            "UPDATE budget SET warned = 1 WHERE agent_id = $1",
            params![agent.to_string()],
        )?;
        Ok(())
    }

    /// Adds to what was spent in this hour.
    pub fn spend_add(
        &mut self,
        agent: AgentId,
        model: &str,
        usage: SpendAmount,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        const HOUR_MS: i64 = 3_600_000;
        let SpendAmount { money, tokens } = usage;
        let hour = now.as_millis().div_euclid(HOUR_MS) * HOUR_MS;
        self.execute(
            &format!(
                "INSERT INTO spend (agent_id, model, hour, nanos, tokens_in, tokens_out, cache_read,
                    cache_write)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
                 ON CONFLICT (agent_id, model, hour) DO UPDATE SET
                    nanos = {}, tokens_in = {}, tokens_out = {}, cache_read = {}, cache_write = {}",
                added("spend.nanos", "excluded.nanos"),
                added("spend.tokens_in", "excluded.tokens_in"),
                added("spend.tokens_out", "excluded.tokens_out"),
                added("spend.cache_read", "excluded.cache_read"),
                added("spend.cache_write", "excluded.cache_write"),
            ),
            params![
                agent.to_string(),
                model,
                hour,
                stored_money(money),
                stored(tokens.input),
                stored(tokens.output),
                stored(tokens.cache_read),
                stored(tokens.cache_write)
            ],
        )?;
        Ok(())
    }

    /// Sums spending by group since a time, the most expensive first.
    pub fn spend_sums(
        &self,
        by: SpendBy,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<SpendSum>, StoreError> {
        let (key, order) = match by {
            SpendBy::Role => ("a.role", "3 DESC, 1"),
            SpendBy::Model => ("s.model", "3 DESC, 1"),
            SpendBy::Task => ("COALESCE(t.slug, '-')", "3 DESC, 1"),
            SpendBy::Agent => ("s.agent_id", "3 DESC, 1"),
            SpendBy::Hour => ("CAST(s.hour AS TEXT)", "s.hour"),
        };
        self.all(
            &format!(
                "SELECT {key}, COUNT(DISTINCT s.agent_id), {}, {}, {}, {}, {}
                 FROM spend AS s JOIN agent AS a ON a.id = s.agent_id
                    LEFT JOIN task AS t ON t.id = a.task_id
                 WHERE s.hour >= $1 GROUP BY 1 ORDER BY {order} LIMIT $2",
                sum("s.nanos"),
                sum("s.tokens_in"),
                sum("s.tokens_out"),
                sum("s.cache_read"),
                sum("s.cache_write"),
            ),
            params![since.as_millis(), limit],
            |row| {
                let mut cells = RowReader::of(row);
                Ok(SpendSum {
                    key: cells.get()?,
                    agents: cells.get()?,
                    money: Usd::from_nanos(cells.get()?),
                    tokens: read_tokens(&mut cells)?,
                })
            },
        )
    }
}
