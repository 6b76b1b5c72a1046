//! A task: its states, how it moves, and the three vocabularies in which it is spoken of.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};

use crate::board::Column;
use crate::id::{AgentId, TaskId};
use crate::slug::is_slug;

/// Who works on a task now, fenced: of two claims the one with the greater number is the true one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// Who holds it
    pub holder: AgentId,
    /// Which attempt of that agent
    pub attempt: u32,
    /// Grows with every claim of the task
    pub number: i64,
}

/// Where a task stands, with what is true only there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskState {
    /// Nobody has it
    Pending,
    /// Given to an agent that has not begun
    Assigned {
        /// To whom
        to: AgentId,
    },
    /// Being worked on
    InProgress {
        /// By whom; nobody, where a person moved it by hand
        claim: Option<Claim>,
    },
    /// Done, to be looked at
    Review {
        /// Who did it
        claim: Option<Claim>,
    },
    /// Held up
    Blocked {
        /// Who was at it
        claim: Option<Claim>,
        /// By what
        reason: Option<String>,
    },
    /// Done
    Completed,
    /// Tried and given up
    Failed {
        /// Why
        reason: Option<String>,
    },
    /// Not wanted any more
    Cancelled {
        /// Why
        reason: Option<String>,
    },
}

/// A wish to move a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskMove {
    /// Give it to an agent
    Assign {
        /// To whom
        to: AgentId,
    },
    /// Begin, or go on
    Start {
        /// Who begins
        claim: Option<Claim>,
    },
    /// Hand it in for review
    Submit,
    /// Say that it is held up
    Block {
        /// By what
        reason: Option<String>,
    },
    /// Declare it done
    Complete,
    /// Declare it failed
    Fail {
        /// Why
        reason: Option<String>,
    },
    /// Give up wanting it
    Cancel {
        /// Why
        reason: Option<String>,
    },
    /// Put it back where anybody may take it
    Release,
}

/// Whether a task belongs to an epic, and so needs a review before it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// On its own
    Alone,
    /// In an epic
    InEpic,
}

/// A move that a task cannot make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a task that is {} cannot become {}{}", from.stored(), to.stored(), hint(*from, *to, *standing))]
pub struct IllegalMove {
    /// Where it stands
    pub from: TaskStateName,
    /// Where it was to go
    pub to: TaskStateName,
    /// Whether it is in an epic
    pub standing: Standing,
}

fn hint(from: TaskStateName, to: TaskStateName, standing: Standing) -> &'static str {
    match (from, to, standing) {
        (TaskStateName::Completed, _, _) => ": completed is final",
        (_, TaskStateName::Completed, Standing::InEpic) => {
            ": it belongs to an epic and is completed through review"
        }
        (
            TaskStateName::Pending | TaskStateName::Assigned,
            TaskStateName::Review | TaskStateName::Completed,
            _,
        ) => ": nobody has begun it; move it to in_progress first",
        (
            TaskStateName::Blocked | TaskStateName::Failed | TaskStateName::Cancelled,
            TaskStateName::Review,
            _,
        ) => ": only what is in_progress is handed in",
        (TaskStateName::Review, TaskStateName::Cancelled, _) => {
            ": send it back to in_progress first, or complete it"
        }
        (_, TaskStateName::Assigned, _) => ": move it back to pending first",
        _ => "",
    }
}

impl TaskState {
    /// Which state it is.
    pub const fn name(&self) -> TaskStateName {
        match self {
            Self::Pending => TaskStateName::Pending,
            Self::Assigned { .. } => TaskStateName::Assigned,
            Self::InProgress { .. } => TaskStateName::InProgress,
            Self::Review { .. } => TaskStateName::Review,
            Self::Blocked { .. } => TaskStateName::Blocked,
            Self::Completed => TaskStateName::Completed,
            Self::Failed { .. } => TaskStateName::Failed,
            Self::Cancelled { .. } => TaskStateName::Cancelled,
        }
    }

    /// The claim on it, if anybody holds one.
    pub const fn claim(&self) -> Option<Claim> {
        match self {
            Self::InProgress { claim } | Self::Review { claim } | Self::Blocked { claim, .. } => {
                *claim
            }
            Self::Pending
            | Self::Assigned { .. }
            | Self::Completed
            | Self::Failed { .. }
            | Self::Cancelled { .. } => None,
        }
    }

    /// Why it is where it is, where that was said.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Blocked { reason, .. } | Self::Failed { reason } | Self::Cancelled { reason } => {
                reason.as_deref()
            }
            Self::Pending
            | Self::Assigned { .. }
            | Self::InProgress { .. }
            | Self::Review { .. }
            | Self::Completed => None,
        }
    }

    /// Moves on, or says why not. Every pair of state and move is named.
    #[expect(clippy::too_many_lines, reason = "it is a table, and a table is read as one")]
    pub fn apply(&self, wish: TaskMove, standing: Standing) -> Result<Self, IllegalMove> {
        let claim = self.claim();
        let to = wish.target();
        Ok(match (self, wish) {
            (Self::Pending | Self::Assigned { .. }, TaskMove::Assign { to }) => {
                Self::Assigned { to }
            }
            (
                Self::Pending
                | Self::Assigned { .. }
                | Self::Review { .. }
                | Self::Blocked { .. }
                | Self::Failed { .. }
                | Self::InProgress { .. },
                TaskMove::Start { claim: new },
            ) => Self::InProgress { claim: new.or(claim) },
            (Self::InProgress { .. } | Self::Review { .. }, TaskMove::Submit) => {
                Self::Review { claim }
            }
            (
                Self::InProgress { .. } | Self::Review { .. } | Self::Blocked { .. },
                TaskMove::Block { reason },
            ) => Self::Blocked { claim, reason },
            (Self::Review { .. } | Self::Completed, TaskMove::Complete) => Self::Completed,
            (Self::InProgress { .. }, TaskMove::Complete) if standing == Standing::Alone => {
                Self::Completed
            }
            (
                Self::InProgress { .. } | Self::Blocked { .. } | Self::Failed { .. },
                TaskMove::Fail { reason },
            ) => Self::Failed { reason },
            (
                Self::Pending
                | Self::Assigned { .. }
                | Self::InProgress { .. }
                | Self::Blocked { .. }
                | Self::Cancelled { .. },
                TaskMove::Cancel { reason },
            ) => Self::Cancelled { reason },
            (
                Self::Pending
                | Self::Assigned { .. }
                | Self::InProgress { .. }
                | Self::Blocked { .. }
                | Self::Cancelled { .. },
                TaskMove::Release,
            ) => Self::Pending,
            (
                Self::InProgress { .. }
                | Self::Review { .. }
                | Self::Blocked { .. }
                | Self::Completed
                | Self::Failed { .. }
                | Self::Cancelled { .. },
                TaskMove::Assign { .. },
            )
            | (Self::Completed | Self::Cancelled { .. }, TaskMove::Start { .. })
            | (
                Self::Pending
                | Self::Assigned { .. }
                | Self::Blocked { .. }
                | Self::Completed
                | Self::Failed { .. }
                | Self::Cancelled { .. },
                TaskMove::Submit,
            )
            | (
                Self::Pending
                | Self::Assigned { .. }
                | Self::Completed
                | Self::Failed { .. }
                | Self::Cancelled { .. },
                TaskMove::Block { .. },
            )
            | (
                Self::Pending
                | Self::Assigned { .. }
                | Self::InProgress { .. }
                | Self::Blocked { .. }
                | Self::Failed { .. }
                | Self::Cancelled { .. },
                TaskMove::Complete,
            )
            | (
                Self::Pending
                | Self::Assigned { .. }
                | Self::Review { .. }
                | Self::Completed
                | Self::Cancelled { .. },
                TaskMove::Fail { .. },
            )
            | (
                Self::Review { .. } | Self::Completed | Self::Failed { .. },
                TaskMove::Cancel { .. } | TaskMove::Release,
            ) => return Err(IllegalMove { from: self.name(), to, standing }),
        })
    }

    /// Moves to the wish's target through as many steps as it takes, as the session's tools may.
    pub fn apply_through(&self, wish: &TaskMove, standing: Standing) -> Result<Self, IllegalMove> {
        // Breadth first over the other moves, so that the shortest way is found and the last step
        // is the wish itself. A review is nobody's step to skip.
        let mut open = VecDeque::from([self.clone()]);
        let mut seen = vec![self.name()];
        while let Some(state) = open.pop_front() {
            if let Ok(there) = state.apply(wish.clone(), standing) {
                return Ok(there);
            }
            let steps = [
                TaskMove::Start { claim: wish.claim() },
                TaskMove::Block { reason: None },
                TaskMove::Release,
            ];
            for step in steps {
                if let Ok(next) = state.apply(step, standing)
                    && !seen.contains(&next.name())
                {
                    seen.push(next.name());
                    open.push_back(next);
                }
            }
        }
        Err(IllegalMove { from: self.name(), to: wish.target(), standing })
    }
}

impl TaskMove {
    /// Where the move leads.
    pub const fn target(&self) -> TaskStateName {
        match self {
            Self::Assign { .. } => TaskStateName::Assigned,
            Self::Start { .. } => TaskStateName::InProgress,
            Self::Submit => TaskStateName::Review,
            Self::Block { .. } => TaskStateName::Blocked,
            Self::Complete => TaskStateName::Completed,
            Self::Fail { .. } => TaskStateName::Failed,
            Self::Cancel { .. } => TaskStateName::Cancelled,
            Self::Release => TaskStateName::Pending,
        }
    }

    const fn claim(&self) -> Option<Claim> {
        match self {
            Self::Start { claim } => *claim,
            Self::Assign { .. }
            | Self::Submit
            | Self::Block { .. }
            | Self::Complete
            | Self::Fail { .. }
            | Self::Cancel { .. }
            | Self::Release => None,
        }
    }
}

/// The states by name: what is stored, and what the harness and the command line say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum TaskStateName {
    /// Nobody has it
    Pending,
    /// Given to an agent that has not begun
    Assigned,
    /// Being worked on
    InProgress,
    /// Done, to be looked at
    Review,
    /// Held up
    Blocked,
    /// Done
    Completed,
    /// Tried and given up
    Failed,
    /// Not wanted any more
    Cancelled,
}

/// The states as the office says them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schemars(inline)]
#[expect(missing_docs, reason = "the names are the seed's and say what they are")]
pub enum OfficeState {
    Pending,
    Assigned,
    InProgress,
    Review,
    Blocked,
    Completed,
    Failed,
}

/// The states as the session says them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
#[expect(missing_docs, reason = "the names are the seed's and say what they are")]
pub enum SessionStatus {
    Remaining,
    InProgress,
    Blocked,
    Completed,
    Cancelled,
}

/// One task model behind three vocabularies and a board: this table is the whole of the mapping.
const VOCABULARY: [(TaskStateName, &str, OfficeState, SessionStatus, Column); 8] = {
    use {Column as C, OfficeState as O, SessionStatus as S, TaskStateName as T};
    [
        (T::Pending, "pending", O::Pending, S::Remaining, C::Ready),
        (T::Assigned, "assigned", O::Assigned, S::Remaining, C::Ready),
        (T::InProgress, "in_progress", O::InProgress, S::InProgress, C::InProgress),
        (T::Review, "review", O::Review, S::InProgress, C::InReview),
        (T::Blocked, "blocked", O::Blocked, S::Blocked, C::Blocked),
        (T::Completed, "completed", O::Completed, S::Completed, C::Done),
        (T::Failed, "failed", O::Failed, S::Blocked, C::Done),
        (T::Cancelled, "cancelled", O::Failed, S::Cancelled, C::Done),
    ]
};

impl TaskStateName {
    /// Every state.
    pub const ALL: [Self; 8] = {
        let mut all = [Self::Pending; 8];
        let mut at = 0;
        while at < all.len() {
            all[at] = VOCABULARY[at].0;
            at += 1;
        }
        all
    };

    /// The stored name.
    pub const fn stored(self) -> &'static str {
        VOCABULARY[self as usize].1
    }

    /// The office's name.
    pub const fn office(self) -> OfficeState {
        VOCABULARY[self as usize].2
    }

    /// The session's name.
    pub const fn session(self) -> SessionStatus {
        VOCABULARY[self as usize].3
    }

    /// The column of the board, for a task that waits for so many others. What has begun is not held up by
    /// them any more.
    pub const fn column(self, waits_for: u32) -> Column {
        let column = VOCABULARY[self as usize].4;
        if matches!(column, Column::Ready) && waits_for > 0 { Column::Blocked } else { column }
    }

    /// The state of that stored name.
    pub fn parse(stored: &str) -> Option<Self> {
        VOCABULARY.iter().find(|row| row.1 == stored).map(|row| row.0)
    }

    /// Whether a task that depends on one in this state may go on.
    pub const fn meets_dependency(self) -> bool {
        matches!(self, Self::Completed | Self::Cancelled)
    }

    /// Whether there is nothing more to do.
    pub const fn is_closed(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

impl OfficeState {
    /// The states that are stored under this name: the first is the one that is meant when it is
    /// asked for.
    pub fn stored(self) -> impl Iterator<Item = TaskStateName> {
        VOCABULARY.iter().filter(move |row| row.2 == self).map(|row| row.0)
    }
}

impl SessionStatus {
    /// Every status, in the order in which lists show them.
    pub const ALL: [Self; 5] =
        [Self::Remaining, Self::InProgress, Self::Blocked, Self::Completed, Self::Cancelled];

    /// The states that are stored under this status.
    pub fn stored(self) -> impl Iterator<Item = TaskStateName> {
        VOCABULARY.iter().filter(move |row| row.3 == self).map(|row| row.0)
    }

    /// The status's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Remaining => "remaining",
            Self::InProgress => "in_progress",
            Self::Blocked => "blocked",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// How urgent a task is: 0 comes first, 4 last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Priority(u8);

impl Priority {
    /// The priority of that number, 0 to 4.
    pub fn new(number: i64) -> Option<Self> {
        u8::try_from(number).ok().filter(|n| *n <= 4).map(Self)
    }

    /// Its number.
    pub const fn number(self) -> u8 {
        self.0
    }
}

impl Default for Priority {
    fn default() -> Self {
        Self(2)
    }
}

impl<'de> Deserialize<'de> for Priority {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i64::deserialize(deserializer)?;
        Self::new(number)
            .ok_or_else(|| D::Error::custom(format!("is {number}; a priority is 0 (first) to 4")))
    }
}

impl JsonSchema for Priority {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Priority".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 0, "maximum": 4 })
    }
}

/// How a task is named: by id, by slug or by number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TaskRef {
    /// `task_…`
    Id(TaskId),
    /// `TAS-12`
    Number(i64),
    /// Its slug
    Slug(String),
}

/// A string that cannot name a task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` does not name a task (expected `task_…`, `TAS-12` or a slug)")]
pub struct InvalidTaskRef(String);

impl FromStr for TaskRef {
    type Err = InvalidTaskRef;

    fn from_str(text: &str) -> Result<Self, InvalidTaskRef> {
        let invalid = || InvalidTaskRef(text.chars().take(80).collect());
        if text.starts_with(TaskId::PREFIX) {
            return text.parse().map(Self::Id).map_err(|_| invalid());
        }
        if let Some((prefix, digits)) = text.split_once('-')
            && prefix.eq_ignore_ascii_case("tas")
            && !digits.is_empty()
            && digits.bytes().all(|b| b.is_ascii_digit())
        {
            return digits.parse().map(Self::Number).map_err(|_| invalid());
        }
        if is_slug(text) { Ok(Self::Slug(text.to_owned())) } else { Err(invalid()) }
    }
}

impl fmt::Display for TaskRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Number(number) => write!(f, "TAS-{number}"),
            Self::Slug(slug) => f.write_str(slug),
        }
    }
}

impl Serialize for TaskRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TaskRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for TaskRef {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "TaskRef".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": 1, "maxLength": 80 })
    }
}

#[cfg(test)]
#[path = "task_tests.rs"]
mod tests;
