//! Tokens and money of one run.
//!
//! While a turn goes on, each message of the model tells several times what it has used so far;
//! only what is new counts. At the end of a turn `result` tells what was used in all, also by
//! subagents and on the side, and what is missing is added. So the sum of what we tell is what
//! Claude Code itself tells, and what a message used that was cut off.
//!
//! A resumed conversation carries the totals of the runs before it. What was used since the last
//! `result` is told apart in versions that we know. In older ones the first turn of a resumed
//! conversation used what its messages told, and what it cost is not known.

use std::collections::VecDeque;

use model::money::Usd;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::Event;
use super::super::notes::{Tokens, count};

/// As many messages may be under way at once, in the main thread and in subagents.
const MAX_OPEN_MESSAGES: usize = 32;

/// Usage seen and usage reported.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Ledger {
    /// Messages of the model that may still grow, by id
    messages: VecDeque<(String, Tokens)>,
    /// Tokens reported since the last `result`
    told: Tokens,
    /// The totals before the turn; absent where an earlier run's are in them and not known
    total: Option<Tokens>,
    /// The same in billionths of a dollar
    total_cost: Option<i64>,
    /// Cost of this run, in billionths of a dollar, if known
    cost: Option<i64>,
}

/// Start of a conversation: new or resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConversationStart {
    New,
    Resumed,
}

impl Ledger {
    pub(super) fn new(beginning: ConversationStart) -> Self {
        let is_new = beginning == ConversationStart::New;
        Self {
            messages: VecDeque::new(),
            told: Tokens::default(),
            total: is_new.then(Tokens::default),
            total_cost: is_new.then_some(0),
            cost: Some(0),
        }
    }

    /// Records the usage of a model's message so far.
    pub(super) fn message(&mut self, id: &str, usage: &Value) -> Option<Event> {
        let used = of_message(usage);
        let known = self.messages.iter_mut().find(|(known, _)| known == id);
        let before = if let Some((_, seen)) = known {
            std::mem::replace(seen, seen.most(used))
        } else {
            if self.messages.len() == MAX_OPEN_MESSAGES {
                self.messages.pop_front();
            }
            self.messages.push_back((id.to_owned(), used));
            Tokens::default()
        };
        self.told = self.told.plus(used.minus(before));
        used.since(before).map(Event::Usage)
    }

    /// Records the usage of a turn and the cost of the run so far.
    pub(super) fn result(&mut self, result: &Value) -> Vec<Event> {
        let of_turn = &result["model_usage_since_last_result"];
        let total = of_models(&result["modelUsage"]);
        let used = match (of_models(of_turn), total, self.total) {
            (Some(used), ..) => used,
            (None, Some(total), Some(before)) => total.minus(before),
            (None, ..) => self.told,
        };
        let missing = used.since(std::mem::take(&mut self.told));
        self.total = total.or(self.total);
        self.messages.clear();
        let mut events: Vec<_> = missing.map(Event::Usage).into_iter().collect();
        if let Some(total) = result["total_cost_usd"].as_f64().map(Usd::from_dollars) {
            events.extend(self.cost(total, of_turn));
        }
        events
    }

    fn cost(&mut self, total: Usd, of_turn: &Value) -> Option<Event> {
        let spent = match (self.total_cost.replace(total.nanos()), of_turn.as_object()) {
            (Some(before), _) => Some(total - Usd::from_nanos(before)),
            (None, Some(models)) => {
                let costs = models.values().filter_map(|model| model["costUSD"].as_f64());
                Some(costs.map(Usd::from_dollars).sum())
            }
            // Nothing in all is nothing before.
            (None, None) => (total == Usd::ZERO).then_some(total),
        };
        let cost = Usd::from_nanos(self.cost?) + spent.unwrap_or_default();
        self.cost = spent.map(|_| cost.nanos());
        self.cost.map(|_| Event::Cost(cost))
    }
}

fn of_message(usage: &Value) -> Tokens {
    let tokens = |name: &str| count(&usage[name]);
    Tokens {
        input: tokens("input_tokens"),
        output: tokens("output_tokens"),
        cache_read: tokens("cache_read_input_tokens"),
        cache_write: tokens("cache_creation_input_tokens"),
    }
}

fn of_models(models: &Value) -> Option<Tokens> {
    let of_model = |usage: &Value| {
        let tokens = |name: &str| count(&usage[name]);
        Tokens {
            input: tokens("inputTokens"),
            output: tokens("outputTokens"),
            cache_read: tokens("cacheReadInputTokens"),
            cache_write: tokens("cacheCreationInputTokens"),
        }
    };
    let models = models.as_object()?;
    Some(models.values().map(of_model).fold(Tokens::default(), Tokens::plus))
}
