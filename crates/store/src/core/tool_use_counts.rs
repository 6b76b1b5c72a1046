//! Tool use that the operations of a commit counted, added up before it is written.

use std::collections::BTreeMap;

use model::AgentId;

use crate::core::chain::AuditDraft;

/// Usage of one tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolUse {
    /// Its name: the canonical one, or an agent's own for its own tools
    pub tool: String,
    /// Number of calls
    pub calls: u64,
    /// Number of failed calls
    pub errors: u64,
    /// Total duration, in microseconds
    pub micros: u64,
}

/// Counts that are not yet written.
#[derive(Debug, Default)]
pub(crate) struct ToolUseCounts(pub(crate) BTreeMap<AgentId, Vec<ToolUse>>);

impl ToolUseCounts {
    pub(crate) const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Counts a recorded call. What the operator does in an agent's name is not the agent's doing.
    pub(crate) fn count(&mut self, call: &AuditDraft) {
        if let Some(agent) = call.agent.filter(|_| !call.by_operator) {
            let micros = u64::try_from(call.duration_micros).unwrap_or(0);
            self.add(agent, &call.tool, [1, u64::from(call.code.is_some()), micros]);
        }
    }

    /// Adds calls, errors and microseconds of an agent with a tool.
    pub(crate) fn add(&mut self, agent: AgentId, tool: &str, [calls, errors, micros]: [u64; 3]) {
        let uses = self.0.entry(agent).or_default();
        match uses.iter_mut().find(|used| used.tool == tool) {
            Some(used) => {
                used.calls += calls;
                used.errors += errors;
                used.micros += micros;
            }
            None => uses.push(ToolUse { tool: tool.to_owned(), calls, errors, micros }),
        }
    }

    /// Takes over what an operation counted.
    pub(crate) fn take_over(&mut self, other: Self) {
        if self.0.is_empty() {
            *self = other;
            return;
        }
        for (agent, uses) in other.0 {
            for used in uses {
                self.add(agent, &used.tool, [used.calls, used.errors, used.micros]);
            }
        }
    }
}
