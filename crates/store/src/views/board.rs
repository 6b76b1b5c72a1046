//! The board: tasks by column, in pages, with their counts. A task of any age or number is found through an index;
//! only a text search reads all of them, up to a bounded number.

use std::cmp::Ordering;
use std::fmt::{self, Write as _};
use std::str::FromStr;

use model::task::{Priority, TaskStateName};
use model::{AgentId, Column, EpicId, TaskId, Timestamp};
use rusqlite::{CachedStatement, Row};

use crate::core::error::StoreError;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// Maximum number of tasks found by a text search.
pub const MAX_TASKS_FOUND: u32 = 500;

/// Filter for the board.
#[derive(Debug, Clone, Default)]
pub struct BoardFilter {
    /// Only those of this epic
    pub epic: Option<EpicId>,
    /// Only those of this session
    pub session: Option<String>,
    /// Only those of this priority
    pub priority: Option<Priority>,
    /// Only those in which each of these is found: in the title, the slug, the epic's title or the role of who has
    /// it; or whose number it is
    pub words: Vec<String>,
}

/// A task as it stands on the board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardCard {
    /// Its number
    pub number: i64,
    /// Its id
    pub id: TaskId,
    /// Its name for people
    pub slug: String,
    /// In which session
    pub session: String,
    /// Title
    pub title: String,
    /// Where it stands
    pub state: TaskStateName,
    /// Priority
    pub priority: Priority,
    /// Epic
    pub epic: Option<EpicId>,
    /// To whom it was last given
    pub assigned_agent: Option<AgentId>,
    /// Holder of the claim
    pub holder: Option<AgentId>,
    /// Number of tasks it depends on
    pub needs: u32,
    /// Number of those that are not done
    pub waits_for: u32,
    /// When it last changed
    pub updated_at: Timestamp,
}

impl BoardCard {
    /// The column it stands in.
    pub const fn column(&self) -> Column {
        self.state.column(self.waits_for)
    }

    /// Its place on the board.
    pub const fn mark(&self) -> BoardMark {
        BoardMark { priority: self.priority.number(), number: self.number }
    }
}

/// Where a page of the board ends. Marks are in the order of the board: by priority, then the newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoardMark {
    priority: u8,
    number: i64,
}

impl Ord for BoardMark {
    fn cmp(&self, other: &Self) -> Ordering {
        self.priority.cmp(&other.priority).then(other.number.cmp(&self.number))
    }
}

impl PartialOrd for BoardMark {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl BoardMark {
    /// The number of the task there.
    pub const fn number(self) -> i64 {
        self.number
    }
}

/// A text that marks no place on the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid cursor: pass `nextCursor` unchanged")]
pub struct InvalidMark;

impl fmt::Display for BoardMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}n{}", self.priority, self.number)
    }
}

impl FromStr for BoardMark {
    type Err = InvalidMark;

    fn from_str(text: &str) -> Result<Self, InvalidMark> {
        let parts = text.strip_prefix('p').and_then(|rest| rest.split_once('n'));
        let (priority, number) = parts.ok_or(InvalidMark)?;
        match (priority.parse(), number.parse()) {
            (Ok(priority), Ok(number)) if number >= 0 => Ok(Self { priority, number }),
            _ => Err(InvalidMark),
        }
    }
}

/// Part of the board to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoardPart {
    /// All of it, the newest first
    All,
    /// One column by priority, then the newest first; what is done, only the newest first
    Column(Column),
}

/// A page of the board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardPage {
    /// The tasks
    pub cards: Vec<BoardCard>,
    /// Where the next page begins, if there is one
    pub next: Option<BoardMark>,
}

/// Tasks that were found by words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskSearchResult {
    /// The tasks, open ones first
    pub cards: Vec<BoardCard>,
    /// True if there are more matches
    pub truncated: bool,
}

/// A need that is not met, of the task `t`.
const UNMET_NEED_QUERY: &str =
    "SELECT 1 FROM task_dependency AS d JOIN task AS n ON n.number = d.needs_number
     WHERE d.task_number = t.number AND n.state NOT IN ('completed', 'cancelled')";

const COLUMNS: &str = "t.number, t.id, t.slug, t.session, t.title, t.state, t.priority, t.epic_id, \
     t.assigned_agent_id, t.claim_agent_id, t.needs, t.updated_at, \
     CASE WHEN t.needs = 0 THEN 0 ELSE (SELECT COUNT(*) FROM task_dependency AS d \
        JOIN task AS n ON n.number = d.needs_number WHERE d.task_number = t.number \
        AND n.state NOT IN ('completed', 'cancelled')) END";

fn read(row: &Row<'_>) -> Result<BoardCard, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(BoardCard {
        number: cells.get()?,
        id: cells.parse()?,
        slug: cells.get()?,
        session: cells.get()?,
        title: cells.get()?,
        state: cells.named(TaskStateName::parse)?,
        priority: Priority::new(cells.get()?).ok_or_else(|| cells.damaged(&"it is none"))?,
        epic: cells.parse_opt()?,
        assigned_agent: cells.parse_opt()?,
        holder: cells.parse_opt()?,
        needs: cells.count()?,
        updated_at: cells.time()?,
        waits_for: cells.count()?,
    })
}

/// In a query of the board the first three parameters are its own, the next three the filter's.
const FIRST_WORD_PARAMETER: usize = 7;

impl BoardFilter {
    /// The conditions on the task `t`, beginning with `AND`.
    fn condition(&self) -> String {
        let mut condition = String::new();
        if self.epic.is_some() {
            condition.push_str(" AND t.epic_id = $4");
        }
        if self.session.is_some() {
            condition.push_str(" AND t.session = $5");
        }
        if self.priority.is_some() {
            condition.push_str(" AND t.priority = $6");
        }
        for at in 0..self.words.len() {
            let (text, number) = (FIRST_WORD_PARAMETER + 2 * at, FIRST_WORD_PARAMETER + 2 * at + 1);
            // Writing to a String cannot fail.
            _ = write!(
                condition,
                " AND (t.number = ${number} OR lower(t.title) LIKE ${text} ESCAPE '\\'
                    OR t.slug LIKE ${text} ESCAPE '\\'
                    OR EXISTS (SELECT 1 FROM epic AS e WHERE e.id = t.epic_id
                        AND lower(e.title) LIKE ${text} ESCAPE '\\')
                    OR EXISTS (SELECT 1 FROM agent AS a WHERE a.id = t.assigned_agent_id
                        AND lower(a.role) LIKE ${text} ESCAPE '\\'))"
            );
        }
        condition
    }

    /// Binds each parameter by its number, since the filter decides which there are.
    fn bind(&self, statement: &mut CachedStatement<'_>) -> Result<(), StoreError> {
        if let Some(epic) = self.epic {
            statement.raw_bind_parameter(4, epic.to_string())?;
        }
        if let Some(session) = &self.session {
            statement.raw_bind_parameter(5, session)?;
        }
        if let Some(priority) = self.priority {
            statement.raw_bind_parameter(6, priority.number())?;
        }
        for (at, word) in self.words.iter().enumerate() {
            let number = word.to_ascii_lowercase();
            let number = number.strip_prefix("tas-").unwrap_or(&number).parse::<i64>();
            statement.raw_bind_parameter(FIRST_WORD_PARAMETER + 2 * at, pattern(word))?;
            statement.raw_bind_parameter(FIRST_WORD_PARAMETER + 2 * at + 1, number.ok())?;
        }
        Ok(())
    }
}

/// LIKE pattern that finds a word literally.
fn pattern(word: &str) -> String {
    let mut pattern = String::from("%");
    for letter in word.chars() {
        if matches!(letter, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter.to_ascii_lowercase());
    }
    pattern.push('%');
    pattern
}

/// The states of a part of the board, each with the condition that goes with it.
fn states(part: BoardPart) -> Vec<(TaskStateName, String)> {
    let free = |state: TaskStateName| state.column(1) == state.column(0);
    let all = TaskStateName::ALL.into_iter();
    match part {
        BoardPart::All => all.map(|state| (state, String::new())).collect(),
        BoardPart::Column(column) => all
            .filter(|state| state.column(0) == column || state.column(1) == column)
            .map(|state| match (free(state), column) {
                (true, _) => (state, String::new()),
                (false, Column::Blocked) => {
                    (state, format!(" AND t.needs > 0 AND EXISTS ({UNMET_NEED_QUERY})"))
                }
                (false, _) => {
                    (state, format!(" AND (t.needs = 0 OR NOT EXISTS ({UNMET_NEED_QUERY}))"))
                }
            })
            .collect(),
    }
}

fn rows(
    filter: &BoardFilter,
    mut statement: CachedStatement<'_>,
) -> Result<Vec<BoardCard>, StoreError> {
    filter.bind(&mut statement)?;
    let mut rows = statement.raw_query();
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

impl Tx<'_> {
    /// A page of the board. Words are for [`Tx::board_found`].
    pub fn board_page(
        &self,
        filter: &BoardFilter,
        part: BoardPart,
        after: Option<BoardMark>,
        limit: u32,
    ) -> Result<BoardPage, StoreError> {
        let newest_first = matches!(part, BoardPart::All | BoardPart::Column(Column::Done));
        let (from, order) = if newest_first {
            ("t.number < $2", "t.number DESC")
        } else {
            // The first part is for the index.
            ("t.priority >= $1 AND (t.priority > $1 OR t.number < $2)", "t.priority, t.number DESC")
        };
        let (priority, number) = match after {
            Some(mark) => (i64::from(mark.priority), mark.number),
            None => (0, i64::MAX),
        };
        let mut cards = Vec::new();
        // A query a state: each is a walk along an index, and few rows are left to be sorted here.
        for (state, condition) in states(part) {
            let sql = format!(
                "SELECT {COLUMNS} FROM task AS t WHERE t.state = '{}' AND {from}{condition}{}
                 ORDER BY {order} LIMIT $3",
                state.stored(),
                filter.condition()
            );
            let mut statement = self.statement(&sql)?;
            statement.raw_bind_parameter(1, priority)?;
            statement.raw_bind_parameter(2, number)?;
            statement.raw_bind_parameter(3, i64::from(limit) + 1)?;
            cards.extend(rows(filter, statement)?);
        }
        if newest_first {
            cards.sort_by_key(|card| std::cmp::Reverse(card.number));
        } else {
            cards.sort_by_key(BoardCard::mark);
        }
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = cards.len() > limit;
        cards.truncate(limit);
        let next = if more { cards.last().map(BoardCard::mark) } else { None };
        Ok(BoardPage { cards, next })
    }

    /// Counts tasks by state, and the pending ones that wait for others.
    pub fn board_counts(
        &self,
        filter: &BoardFilter,
    ) -> Result<(Vec<(TaskStateName, i64)>, i64), StoreError> {
        let sql = format!(
            "SELECT t.state, COUNT(*) AS tasks FROM task AS t WHERE t.state <> ''{}
             GROUP BY t.state",
            filter.condition()
        );
        let mut statement = self.statement(&sql)?;
        filter.bind(&mut statement)?;
        let mut rows = statement.raw_query();
        let mut counts = Vec::new();
        while let Some(row) = rows.next()? {
            let mut cells = RowReader::of(row);
            counts.push((cells.named(TaskStateName::parse)?, cells.get()?));
        }
        // Of an epic from its tasks; of all from the dependencies, since most tasks have none.
        let waits = if filter.epic.is_some() {
            format!("t.needs > 0 AND EXISTS ({UNMET_NEED_QUERY})")
        } else {
            "t.number IN (SELECT d.task_number FROM task_dependency AS d
                JOIN task AS n ON n.number = d.needs_number
                WHERE n.state NOT IN ('completed', 'cancelled'))"
                .to_owned()
        };
        let sql = format!(
            "SELECT COUNT(*) FROM task AS t WHERE {waits} AND t.state IN ('pending', 'assigned'){}",
            filter.condition()
        );
        let mut statement = self.statement(&sql)?;
        filter.bind(&mut statement)?;
        let waiting = match statement.raw_query().next()? {
            Some(row) => RowReader::of(row).get()?,
            None => 0,
        };
        Ok((counts, waiting))
    }

    /// The tasks in which the words are found: the open ones first, each by priority and then the newest first.
    pub fn board_search(&self, filter: &BoardFilter) -> Result<TaskSearchResult, StoreError> {
        let mut cards: Vec<BoardCard> = Vec::new();
        for states in [
            "'pending', 'assigned', 'in_progress', 'review', 'blocked'",
            "'completed', 'failed', 'cancelled'",
        ] {
            let sql = format!(
                "SELECT {COLUMNS} FROM task AS t WHERE t.state IN ({states}){}
                 ORDER BY t.priority, t.number DESC LIMIT $3",
                filter.condition()
            );
            let mut statement = self.statement(&sql)?;
            statement.raw_bind_parameter(3, i64::from(MAX_TASKS_FOUND) + 1)?;
            cards.extend(rows(filter, statement)?);
        }
        let most = usize::try_from(MAX_TASKS_FOUND).unwrap_or(usize::MAX);
        let truncated = cards.len() > most;
        cards.truncate(most);
        Ok(TaskSearchResult { cards, truncated })
    }

    /// The task of that number, as it stands on the board.
    pub fn board_card(&self, number: i64) -> Result<Option<BoardCard>, StoreError> {
        self.one(
            &format!("SELECT {COLUMNS} FROM task AS t WHERE t.number = $1"),
            rusqlite::params![number],
            read,
        )
    }

    /// The first tasks that are open and wait for others or are waited for, by priority and then the newest first.
    pub fn board_linked(
        &self,
        filter: &BoardFilter,
        limit: u32,
    ) -> Result<Vec<BoardCard>, StoreError> {
        let mut cards = Vec::new();
        for state in TaskStateName::ALL.into_iter().filter(|state| !state.is_closed()) {
            let sql = format!(
                "SELECT {COLUMNS} FROM task AS t WHERE t.state = '{}' AND (t.needs > 0 OR EXISTS (
                    SELECT 1 FROM task_dependency AS w WHERE w.needs_number = t.number)){}
                 ORDER BY t.priority, t.number DESC LIMIT $3",
                state.stored(),
                filter.condition()
            );
            let mut statement = self.statement(&sql)?;
            statement.raw_bind_parameter(3, limit)?;
            cards.extend(rows(filter, statement)?);
        }
        cards.sort_by_key(BoardCard::mark);
        cards.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(cards)
    }
}
