//! A keeper's durable notes on the conversation, stored with every report so that the next
//! server can go on.

use std::collections::BTreeMap;

use model::Timestamp;
use model::habits::Habits;
use model::money::Usd;
use serde::{Deserialize, Serialize};
use store::Run;

use crate::core::durable;
use crate::core::error::ToolError;

use super::meter::MAX_ATTEMPT_COST;

/// Bytes of standard error kept for a failure's reason.
const LAST_ERRORS: usize = 2_000;

/// A keeper's memory. Everything in it follows from the output that was read.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Notes {
    /// The conversation's own notes
    pub(crate) talk: String,
    /// True if the opening messages were sent
    pub(crate) began: bool,
    /// Number of steps that followed from its lines; each has its number as key
    #[serde(rename = "said")]
    pub(crate) steps: u64,
    /// Commit checked out at its start
    pub(crate) base: Option<String>,
    /// Recent calls and errors
    pub(crate) habits: Habits,
    /// Amount charged for this attempt, in billionths of a dollar
    pub(crate) charged: i64,
    /// Until when its model does not answer it
    pub(crate) limited: Option<Limit>,
    /// Why it cannot go on, where its provider refuses its credentials
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) refused: Option<String>,
    /// Its own tools that are at work, and since when
    pub(crate) open: BTreeMap<String, OpenTool>,
    /// Its account of its own end
    pub(crate) done: Option<Account>,
    /// True if its input was closed after it gave that account: it has nothing left to do but to exit
    pub(crate) finished: bool,
    /// Last lines of its standard error
    pub(crate) errors: String,
    /// Number of warnings
    pub(crate) warnings: u32,
    /// The model that answers it
    pub(crate) model: Option<String>,
    /// The model at whose price it is counted, because its own has none
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) priced_as: Option<String>,
}

/// A tool at work.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OpenTool {
    /// Column
    pub(crate) name: String,
    /// Since when, in milliseconds
    pub(crate) since: i64,
}

/// That its model does not answer it for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Limit {
    /// Until when, in milliseconds, if it gave a time
    pub(crate) until: Option<i64>,
}

/// An agent's own account of its end.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Account {
    /// Its own verdict
    pub(crate) verdict: Verdict,
    /// Its last words
    pub(crate) text: String,
    /// Its result as a value
    pub(crate) value: Option<serde_json::Value>,
}

/// An agent's own verdict on its work.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// Well
    Success,
    /// It failed
    Failure(String),
    /// A bound of its own stopped it
    Aborted(String),
    /// Its account was lost with output that could not be written
    Lost(String),
}

impl From<Account> for host::agent::EndReport {
    fn from(account: Account) -> Self {
        let verdict = match account.verdict {
            Verdict::Success => host::agent::EndReportStatus::Success,
            Verdict::Failure(why) | Verdict::Lost(why) => {
                host::agent::EndReportStatus::Failure(why)
            }
            Verdict::Aborted(why) => host::agent::EndReportStatus::Aborted(why),
        };
        Self { verdict, text: account.text, value: account.value }
    }
}

impl From<host::agent::EndReport> for Account {
    fn from(done: host::agent::EndReport) -> Self {
        let verdict = match done.verdict {
            host::agent::EndReportStatus::Success => Verdict::Success,
            host::agent::EndReportStatus::Failure(why) => Verdict::Failure(why),
            host::agent::EndReportStatus::Aborted(why) => Verdict::Aborted(why),
        };
        Self { verdict, text: done.text, value: done.value }
    }
}

impl Notes {
    /// Decodes the notes that were kept with a run; empty where there are none yet.
    pub(crate) fn of(run: &Run) -> Result<Self, ToolError> {
        let Some(text) = &run.read.notes else { return Ok(Self::default()) };
        let mut notes: Self =
            durable::decode(text, format_args!("agent `{}`", run.agent), "notes")?;
        // Written before claims were bounded, it may be more than the record has by now.
        notes.charged = notes.charged.clamp(0, MAX_ATTEMPT_COST.nanos());
        Ok(notes)
    }

    /// Notes in place of damaged ones: the agent was greeted, and was charged what the record says.
    pub(crate) fn in_place_of_damaged(run: &Run) -> Self {
        let charged = run.cost.unwrap_or_default().nanos().clamp(0, MAX_ATTEMPT_COST.nanos());
        Self { began: true, charged, ..Self::default() }
    }

    /// As they are written down.
    pub(crate) fn write(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Keeps a line of its standard error.
    pub(crate) fn complained(&mut self, line: &str) {
        self.errors.push_str(line);
        self.errors.push('\n');
        let excess = self.errors.len().saturating_sub(LAST_ERRORS);
        if excess > 0 {
            let cut = (excess..=self.errors.len()).find(|at| self.errors.is_char_boundary(*at));
            self.errors.drain(..cut.unwrap_or_default());
        }
    }

    /// Increment of a cost that is reported as a total.
    pub(crate) fn charge_to(&mut self, total: Usd) -> Usd {
        let more = total - Usd::from_nanos(self.charged);
        self.charged = total.nanos();
        more
    }

    /// Adds an estimate, as far as an attempt may cost so much, and gives what was added.
    pub(crate) fn charge(&mut self, more: Usd) -> Usd {
        let before = Usd::from_nanos(self.charged);
        let after = (before + more).min(MAX_ATTEMPT_COST);
        self.charged = after.nanos();
        after - before
    }

    /// Since when the oldest of its open tools is at work.
    pub(crate) fn busy_since(&self) -> Option<Timestamp> {
        self.open.values().map(|tool| tool.since).min().map(Timestamp::from_millis)
    }
}
