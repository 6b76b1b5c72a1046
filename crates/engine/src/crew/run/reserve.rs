//! Budgets and reservations of new agents.
//!
//! An agent without a cap of its own could spend whatever it does not report. So it holds a share of the nearest
//! cap above it from its draft to its end: while it lives nobody else is promised that share, and an agent that
//! never said what it used is charged it. Time needs no reservation, because deadlines are inherited; nor do
//! agents, because each is counted when it is drafted.

use model::money::Usd;
use store::{Agent, Budget, BudgetCaps, BudgetReserve, NewAgent, Spend, Tx};

use crate::core::error::{Code, ToolError};
use crate::core::settings::Settings;

/// A child without a cap reserves the nearest cap above it divided by this.
const SHARES_PER_CAP: i64 = 10;

/// Records the budget of a new agent that is on record already, counts the agent for everybody above it, and
/// reserves what it needs of their caps. Refuses it where that is more than they have left.
pub(crate) fn fund(
    tx: &mut Tx<'_>,
    settings: &Settings,
    agent: &NewAgent,
    caps: &BudgetCaps,
    above: &[Agent],
) -> Result<(), ToolError> {
    tx.budget_insert(agent.id, caps)?;
    let mut budgets: Vec<(&Agent, Budget)> = Vec::new();
    for ancestor in above {
        let counted = Spend { agents: 1, ..Spend::default() };
        budgets.push((ancestor, tx.budget_charge(ancestor.id, counted)?));
    }
    if above.is_empty() {
        return Ok(());
    }
    let reserve = reserve_of(settings, caps, &budgets);
    tx.budget_reserve(agent.id, &reserve)?;
    for (ancestor, budget) in &budgets {
        let held = tx.budget_held_below(ancestor.id)?;
        let (money, tokens) = (budget.caps.money, budget.caps.tokens);
        if let (Some(cap), Some(needed)) = (money, reserve.money)
            && budget.money + held.money > cap
        {
            let free = (cap - budget.money - (held.money - needed)).max(Usd::ZERO);
            let share = Share { needed: needed.to_string(), free: free.to_string() };
            return Err(refused(agent, ancestor, &cap.to_string(), &share));
        }
        if let (Some(cap), Some(needed)) = (tokens, reserve.tokens)
            && budget.tokens.saturating_add(held.tokens) > cap
        {
            let others = held.tokens.saturating_sub(needed);
            let free = cap.saturating_sub(budget.tokens).saturating_sub(others);
            let words = |count: u64| format!("{count} tokens");
            let share = Share { needed: words(needed), free: words(free) };
            return Err(refused(agent, ancestor, &words(cap), &share));
        }
    }
    Ok(())
}

/// Charge for unreported usage at an agent's end: its own cap, else its reservation.
pub(crate) fn price_of_silence(budget: &Budget) -> (Usd, u64) {
    let money = budget.caps.money.or(budget.reserve.money).unwrap_or_default();
    let tokens = budget.caps.tokens.or(budget.reserve.tokens).unwrap_or_default();
    (money, tokens)
}

/// Computes a reservation; an agent with its own cap reserves nothing.
fn reserve_of(settings: &Settings, caps: &BudgetCaps, above: &[(&Agent, Budget)]) -> BudgetReserve {
    let set = settings.child_reserve;
    let money = || {
        let nearest = above.iter().find_map(|(_, budget)| budget.caps.money);
        let tenth = nearest.map(|cap| Usd::from_nanos(cap.nanos() / SHARES_PER_CAP));
        set.usd.map(Usd::from_dollars).or(tenth)
    };
    let tokens = || {
        let nearest = above.iter().find_map(|(_, budget)| budget.caps.tokens);
        set.tokens.or(nearest.map(|cap| cap / SHARES_PER_CAP.unsigned_abs()))
    };
    BudgetReserve {
        money: if caps.money.is_none() { money() } else { None },
        tokens: if caps.tokens.is_none() { tokens() } else { None },
    }
}

/// Describes a reservation that does not fit the remaining cap.
struct Share {
    needed: String,
    free: String,
}

fn refused(agent: &NewAgent, ancestor: &Agent, cap: &str, share: &Share) -> ToolError {
    let whose = if agent.parent == Some(ancestor.id) {
        "your".to_owned()
    } else {
        format!("{}'s", ancestor.id)
    };
    let Share { needed, free } = share;
    ToolError::new(
        Code::BudgetExceeded,
        format!(
            "an agent without a budget of its own reserves {needed}, and {free} of {whose} budget of \
             {cap} is neither spent nor reserved"
        ),
    )
    .hint("wait until other agents have ended, or start one whose role has a smaller budget")
    .hint("the operator sets how much is reserved with `budget.child`")
    .detail("agentId", ancestor.id.to_string())
}
