//! Reservations: amounts that agents without a cap of their own hold of the caps above them until they end.

use std::collections::BTreeMap;

use model::AgentId;
use model::money::Usd;
use rusqlite::{Row, params};

use crate::core::amount::{stored, stored_money};
use crate::core::error::StoreError;
use crate::core::row::RowReader;
use crate::core::tx::Tx;
use crate::crew::budget::BudgetReserve;

/// Money and tokens that are held and not spent yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeldBudget {
    /// Money
    pub money: Usd,
    /// Tokens, in and out
    pub tokens: u64,
}

impl HeldBudget {
    fn plus(self, other: Self) -> Self {
        Self { money: self.money + other.money, tokens: self.tokens.saturating_add(other.tokens) }
    }

    fn max(self, other: Self) -> Self {
        Self { money: self.money.max(other.money), tokens: self.tokens.max(other.tokens) }
    }
}

/// An agent on the way up from those who hold something.
#[derive(Debug, Clone, Copy)]
struct BudgetHolder {
    parent: Option<AgentId>,
    depth: u32,
    own: HeldBudget,
    below: HeldBudget,
}

fn read(row: &Row<'_>) -> Result<(AgentId, BudgetHolder), StoreError> {
    let mut cells = RowReader::of(row);
    let (id, parent, depth) = (cells.parse()?, cells.parse_opt()?, cells.count()?);
    let reserved = (cells.get::<Option<i64>>()?, cells.large_opt()?);
    let spent = (Usd::from_nanos(cells.get()?), cells.large()?);
    let money = reserved.0.map(|nanos| (Usd::from_nanos(nanos) - spent.0).max(Usd::ZERO));
    let own = HeldBudget {
        money: money.unwrap_or_default(),
        tokens: reserved.1.unwrap_or_default().saturating_sub(spent.1),
    };
    Ok((id, BudgetHolder { parent, depth, own, below: HeldBudget::default() }))
}

impl Tx<'_> {
    /// Notes what an agent holds of the caps above it. It is let go by the agent's end.
    pub fn budget_reserve(
        &mut self,
        agent: AgentId,
        reserve: &BudgetReserve,
    ) -> Result<(), StoreError> {
        self.execute(
            "UPDATE budget SET reserved_nanos = $2, reserved_tokens = $3 WHERE agent_id = $1",
            params![agent.to_string(), reserve.money.map(stored_money), reserve.tokens.map(stored)],
        )?;
        Ok(())
    }

    /// Sums unspent reservations of live descendants. An agent's own reservation
    /// covers those of the agents below it, as far as it goes.
    pub fn budget_held_below(&self, top: AgentId) -> Result<HeldBudget, StoreError> {
        let mut open: BTreeMap<(u32, AgentId), BudgetHolder> = BTreeMap::new();
        let holders = self.all(
            "SELECT a.id, a.parent_id, a.depth, b.reserved_nanos, b.reserved_tokens, b.spent_nanos,
                b.spent_tokens
             FROM agent AS a JOIN budget AS b ON b.agent_id = a.id
             WHERE a.ended_at IS NULL
                AND (b.reserved_nanos IS NOT NULL OR b.reserved_tokens IS NOT NULL)",
            [],
            read,
        )?;
        open.extend(holders.into_iter().map(|(id, holder)| ((holder.depth, id), holder)));
        let mut total = HeldBudget::default();
        // The deepest first, so that all below an agent are known when its turn comes.
        while let Some(((depth, id), holder)) = open.pop_last() {
            if id == top {
                continue;
            }
            let held = holder.own.max(holder.below);
            if holder.parent == Some(top) {
                total = total.plus(held);
                continue;
            }
            let Some(parent) = holder.parent else { continue };
            let Some(above) = self.agent_get(parent)? else { continue };
            // A parent that does not stand higher than its child would never come to an end.
            let level = above.depth.min(depth.saturating_sub(1));
            let known = open.keys().copied().find(|(_, id)| *id == parent);
            let entry = open.entry(known.unwrap_or((level, parent))).or_insert(BudgetHolder {
                parent: above.parent,
                depth: level,
                own: HeldBudget::default(),
                below: HeldBudget::default(),
            });
            entry.below = entry.below.plus(held);
        }
        Ok(total)
    }
}
