//! Search of the record: newest first, by words, times and outcomes, a bounded range at a time.
//!
//! Rows are in the order of their commits, and their times nearly so: a time is found by halving, with
//! some slack, and compared again row by row. Of an agent or a tool only the blocks are read that have
//! its rows.

mod around;
mod body;
mod figures;

use std::collections::HashMap;
use std::ops::ControlFlow;

use model::{AgentId, TaskId, Timestamp};
use rusqlite::params;

pub use self::around::AuditAround;
pub use self::body::AuditBody;
pub use self::figures::{AuditCount, AuditSpan, ToolFigures};

use crate::call::audit::{self, AuditRow, COLUMNS, ROWS_PER_BLOCK};
use crate::core::error::StoreError;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// Tolerated disorder of times between rows, in milliseconds.
const CLOCK_SKEW_MS: i64 = 60_000;
/// Common prefix of tool names; as a pattern it excludes no block.
const COMMON_TOOL_PREFIX: &str = "mcp__";

/// Caller to search for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditCallerFilter {
    /// This agent's
    Agent(AgentId),
    /// Those of agents in this role, or with this in their id
    Like(String),
    /// The operator's, in any agent's name
    Operator,
}

/// Outcome to search for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditOutcomeFilter {
    /// Well
    Good,
    /// With one of these codes
    With(Vec<&'static str>),
    /// With a code that is none of these
    Without(Vec<&'static str>),
}

/// A task as calls may name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditTask {
    /// Its id
    pub id: TaskId,
    /// Its number
    pub number: i64,
    /// Its slug
    pub slug: String,
}

/// Search criteria; an absent one matches every call.
#[derive(Debug, Clone, Default)]
pub struct AuditSearch {
    /// Caller
    pub by: Option<AuditCallerFilter>,
    /// Of which tool; `*` stands for any run of characters
    pub tool: Option<String>,
    /// Outcome
    pub end: Option<AuditOutcomeFilter>,
    /// Words that are all in the tool's name, in what was asked or answered, or in who called; in small letters
    pub words: Vec<String>,
    /// From this time on
    pub since: Option<Timestamp>,
    /// Before this time
    pub until: Option<Timestamp>,
    /// By agents that work on this task, or with it in what was asked
    pub task: Option<AuditTask>,
    /// With a commit checked out that begins like this
    pub commit: Option<String>,
    /// After this number
    pub after: i64,
    /// Before this number
    pub before: Option<i64>,
}

/// From which end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditSearchOrder {
    /// The oldest first
    Oldest,
    /// The newest first
    Newest,
}

/// A recorded call, and who made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditCall {
    /// The call
    pub row: AuditRow,
    /// The role of who made it, if that is an agent
    pub role: Option<String>,
    /// Task of that agent
    pub task: Option<TaskId>,
}

/// A part of what was looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditSearchResult {
    /// The calls
    pub calls: Vec<AuditCall>,
    /// Where to go on looking, if there is more to look at
    pub next: Option<i64>,
    /// The last row that was looked at, and when it was written
    pub searched_to: Option<(i64, Timestamp)>,
}

/// A range of audit rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RowRange {
    /// Number of its first row
    first: i64,
    /// Number of its last row
    last: i64,
}

impl RowRange {
    const fn len(self) -> i64 {
        self.last - self.first + 1
    }
}

/// Cache of callers, each looked up once.
struct CallerCache<'t> {
    tx: &'t Tx<'t>,
    known: HashMap<AgentId, (Option<String>, Option<TaskId>)>,
}

impl<'t> CallerCache<'t> {
    fn new(tx: &'t Tx<'t>) -> Self {
        Self { tx, known: HashMap::new() }
    }

    fn of(&mut self, id: AgentId) -> Result<&(Option<String>, Option<TaskId>), StoreError> {
        if !self.known.contains_key(&id) {
            let agent = self.tx.agent_get(id)?;
            let found = agent.map_or((None, None), |agent| (Some(agent.role), agent.task));
            self.known.insert(id, found);
        }
        self.known
            .get(&id)
            .ok_or_else(|| StoreError::Corrupt(format!("agent `{id}` no longer exists")))
    }

    fn call(&mut self, row: AuditRow) -> Result<AuditCall, StoreError> {
        let (role, task) = match row.agent {
            Some(id) => self.of(id)?.clone(),
            None => (None, None),
        };
        Ok(AuditCall { row, role, task })
    }

    /// True if a row matches the criteria that the query did not check.
    fn fit(&mut self, search: &AuditSearch, row: &AuditRow) -> Result<bool, StoreError> {
        let code = row.code.as_deref();
        let ended = match &search.end {
            None => true,
            Some(AuditOutcomeFilter::Good) => code.is_none() && !body::is_begun(&row.body),
            Some(AuditOutcomeFilter::With(codes)) => code.is_some_and(|code| codes.contains(&code)),
            Some(AuditOutcomeFilter::Without(codes)) => {
                code.is_some_and(|code| !codes.contains(&code))
            }
        };
        if !ended || !self.by(search.by.as_ref(), row)? {
            return Ok(false);
        }
        if let Some(commit) = &search.commit
            && !body::commit_begins(&row.body, commit)
        {
            return Ok(false);
        }
        if let Some(task) = &search.task {
            let mine = match row.agent {
                Some(id) => self.of(id)?.1 == Some(task.id),
                None => false,
            };
            if !mine && !body::asks_for(&row.body, task) {
                return Ok(false);
            }
        }
        self.say(&search.words, row)
    }

    fn by(&mut self, by: Option<&AuditCallerFilter>, row: &AuditRow) -> Result<bool, StoreError> {
        Ok(match (by, row.agent) {
            (None | Some(AuditCallerFilter::Agent(_)), _) => true,
            (Some(AuditCallerFilter::Operator), _) => body::is_operators(&row.body),
            (Some(AuditCallerFilter::Like(_)), None) => false,
            (Some(AuditCallerFilter::Like(part)), Some(id)) => {
                !body::is_operators(&row.body)
                    && (id.to_string().contains(part.as_str())
                        || self.of(id)?.0.as_deref() == Some(part.as_str()))
            }
        })
    }

    fn say(&mut self, words: &[String], row: &AuditRow) -> Result<bool, StoreError> {
        if words.is_empty() {
            return Ok(true);
        }
        let mut text = body::words_of(&row.body).to_lowercase();
        text.push('\n');
        text.push_str(&row.tool);
        if let Some(id) = row.agent {
            text.push('\n');
            text.push_str(&id.to_string());
            text.push('\n');
            text.push_str(self.of(id)?.0.as_deref().unwrap_or_default());
        }
        if body::is_operators(&row.body) {
            text.push_str("\noperator");
        }
        Ok(words.iter().all(|word| text.contains(word.as_str())))
    }
}

impl Tx<'_> {
    /// Looks for calls, at `scan` rows or a little more, and says how far it came.
    pub fn audit_search(
        &self,
        search: &AuditSearch,
        order: AuditSearchOrder,
        limit: u32,
        scan: i64,
    ) -> Result<AuditSearchResult, StoreError> {
        let Some(whole) = self.audit_range(search)? else {
            return Ok(AuditSearchResult::default());
        };
        let mut ranges = self.audit_ranges(search, whole)?;
        let mut edge = whole.last;
        if order == AuditSearchOrder::Newest {
            ranges.reverse();
            edge = whole.first;
        }
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let (mut callers, mut calls, mut looked) = (CallerCache::new(self), Vec::new(), 0);
        let mut next = None;
        let last = ranges.last().copied();
        for range in ranges {
            let flow = self.audit_each(search, order, range, |row| {
                if !callers.fit(search, &row)? {
                    return Ok(ControlFlow::Continue(()));
                }
                if calls.len() == limit {
                    return Ok(ControlFlow::Break(()));
                }
                calls.push(callers.call(row)?);
                Ok(ControlFlow::Continue(()))
            })?;
            if flow.is_break() {
                next = calls.last().map(|call: &AuditCall| call.row.number);
                break;
            }
            looked += range.len();
            if looked >= scan && Some(range) != last {
                next =
                    Some(if order == AuditSearchOrder::Newest { range.first } else { range.last });
                break;
            }
        }
        let searched_to = self.audit_time(next.unwrap_or(edge))?;
        Ok(AuditSearchResult { calls, next, searched_to })
    }

    /// The first and the last number in question.
    fn audit_range(&self, search: &AuditSearch) -> Result<Option<RowRange>, StoreError> {
        let last = self.audit_last()?;
        let mut first = search.after.max(0).saturating_add(1);
        // Rows before that are in archives.
        first = first.max(self.audit_archived()?.saturating_add(1));
        let mut end = search.before.map_or(last, |before| before.saturating_sub(1).min(last));
        if let Some(since) = search.since {
            first = first.max(self.audit_number_at(since.after_millis(-CLOCK_SKEW_MS), last)?);
        }
        if let Some(until) = search.until {
            end = end.min(self.audit_number_at(until.after_millis(CLOCK_SKEW_MS), last)? - 1);
        }
        Ok((first <= end).then_some(RowRange { first, last: end }))
    }

    /// The number of the first row from a time on, as far as times are in order.
    pub(crate) fn audit_number_at(&self, at: Timestamp, last: i64) -> Result<i64, StoreError> {
        let (mut low, mut high) = (1, last + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.audit_time(middle)? {
                Some((_, found)) if found < at => low = middle + 1,
                _ => high = middle,
            }
        }
        Ok(low)
    }

    /// The row of that number, or the next one there is, and its time.
    fn audit_time(&self, number: i64) -> Result<Option<(i64, Timestamp)>, StoreError> {
        self.one(
            "SELECT number, at FROM audit WHERE number >= $1 ORDER BY number LIMIT 1",
            params![number],
            |row| {
                let mut cells = RowReader::of(row);
                Ok((cells.get()?, cells.time()?))
            },
        )
    }

    /// The parts of a range, a block or less each, in which there may be such calls.
    fn audit_ranges(
        &self,
        search: &AuditSearch,
        range: RowRange,
    ) -> Result<Vec<RowRange>, StoreError> {
        let RowRange { first, last } = range;
        let blocks = match keys(search) {
            None => (first / ROWS_PER_BLOCK..=last / ROWS_PER_BLOCK).collect(),
            Some((from, to)) => self.all(
                "SELECT DISTINCT block FROM audit_block
                 WHERE key >= $1 AND key <= $2 AND block >= $3 AND block <= $4 ORDER BY block",
                params![from, to, first / ROWS_PER_BLOCK, last / ROWS_PER_BLOCK],
                |row| RowReader::of(row).get::<i64>(),
            )?,
        };
        let part = |block: i64| RowRange {
            first: first.max(block * ROWS_PER_BLOCK),
            last: last.min((block + 1) * ROWS_PER_BLOCK - 1),
        };
        Ok(blocks.into_iter().map(part).collect())
    }

    /// Reads the rows of a range that fit as far as the database can tell, one after the other.
    fn audit_each(
        &self,
        search: &AuditSearch,
        order: AuditSearchOrder,
        range: RowRange,
        mut each: impl FnMut(AuditRow) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<ControlFlow<()>, StoreError> {
        let agent = match &search.by {
            Some(AuditCallerFilter::Agent(id)) => Some(id.to_string()),
            _ => None,
        };
        let ended = match &search.end {
            None => 0,
            Some(AuditOutcomeFilter::Good) => 1,
            Some(AuditOutcomeFilter::With(_) | AuditOutcomeFilter::Without(_)) => 2,
        };
        let direction = match order {
            AuditSearchOrder::Oldest => "",
            AuditSearchOrder::Newest => "DESC",
        };
        let mut statement = self.statement(&format!(
            "SELECT {COLUMNS} FROM audit
             WHERE number >= $1 AND number <= $2 AND ($3 IS NULL OR agent_id = $3)
                AND ($4 IS NULL OR tool LIKE $4 ESCAPE '\\')
                AND ($5 IS NULL OR at >= $5) AND ($6 IS NULL OR at < $6)
                AND ($7 = 0 OR ($7 = 1 AND code IS NULL) OR ($7 = 2 AND code IS NOT NULL))
             ORDER BY number {direction}"
        ))?;
        let mut rows = statement.query(params![
            range.first,
            range.last,
            agent,
            search.tool.as_deref().map(like),
            search.since.map(Timestamp::as_millis),
            search.until.map(Timestamp::as_millis),
            ended
        ])?;
        while let Some(row) = rows.next()? {
            if each(audit::read(row)?)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// The first and the last key of blocks in which there may be such calls; none where that is all.
fn keys(search: &AuditSearch) -> Option<(String, String)> {
    if let Some(AuditCallerFilter::Agent(id)) = &search.by {
        return Some((id.to_string(), id.to_string()));
    }
    let tool = search.tool.as_deref()?;
    match tool.split_once('*') {
        None => Some((tool.to_owned(), tool.to_owned())),
        Some((start, _)) if start.len() > COMMON_TOOL_PREFIX.len() => {
            Some((start.to_owned(), format!("{start}{}", char::MAX)))
        }
        Some(_) => None,
    }
}

/// A pattern as the database reads it.
fn like(pattern: &str) -> String {
    let mut like = String::with_capacity(pattern.len() + 8);
    for c in pattern.chars() {
        match c {
            '*' => like.push('%'),
            '%' | '_' | '\\' => like.extend(['\\', c]),
            c => like.push(c),
        }
    }
    like
}
