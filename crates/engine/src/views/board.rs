//! The board: tasks by column, one task whole, how tasks hang together, and the epics above them. It only looks; what
//! people do to tasks they do with the tools.

mod epics;
mod graph;
mod history;
mod row;
mod whole;

use model::task::Priority;
use model::{Column, EpicId};
use store::{BoardCard, BoardFilter, BoardMark, BoardPart, Tx};
use wire::epics::ColumnCounts;
use wire::tasks::{Board, BoardColumn, Tasks};

use crate::core::error::ToolError;
use crate::tasks::epic::find_epic;
use crate::views::service::Views;
use row::Rows;

/// Limits of a text search: number of words and total length.
const MAX_WORDS: usize = 8;
const MAX_SEARCH_CHARS: usize = 200;
/// Single tasks returned at once.
const MAX_ROWS: usize = 100;

/// Query for the board.
#[derive(Debug, Clone, Default)]
pub struct BoardRequest {
    /// Only tasks of this epic
    pub epic: Option<EpicId>,
    /// Only those of this session
    pub session: Option<String>,
    /// Words to look for; `p0` to `p4` is a priority
    pub words: String,
}

impl BoardRequest {
    /// Converts the query to a store filter.
    fn filter(&self, tx: &Tx<'_>) -> Result<BoardFilter, ToolError> {
        if let Some(epic) = self.epic {
            find_epic(tx, epic)?;
        }
        let mut filter = BoardFilter {
            epic: self.epic,
            session: self.session.clone(),
            ..BoardFilter::default()
        };
        let length = self.words.chars().count();
        let words: Vec<&str> = self.words.split_whitespace().collect();
        if length > MAX_SEARCH_CHARS || words.len() > MAX_WORDS {
            return Err(ToolError::invalid(format!(
                "`q` has {} words and {length} characters; the limits are {MAX_WORDS} and {MAX_SEARCH_CHARS}",
                words.len()
            ))
            .hint("search for fewer words")
            .detail("field", "q"));
        }
        for word in words {
            match priority(word) {
                Some(priority) => filter.priority = Some(priority),
                None => filter.words.push(word.to_owned()),
            }
        }
        Ok(filter)
    }
}

/// `p1` is a priority and no word.
fn priority(word: &str) -> Option<Priority> {
    let digit = word.strip_prefix(['p', 'P'])?;
    (digit.len() == 1).then(|| digit.parse().ok())?.and_then(Priority::new)
}

/// Page of the board.
#[derive(Debug, Clone)]
pub struct BoardSlice {
    /// Only of this column
    pub column: Option<Column>,
    /// Only after this place: `nextCursor` of the page before
    pub after: Option<String>,
    /// Maximum number of tasks
    pub limit: u32,
}

impl BoardSlice {
    const fn part(&self) -> BoardPart {
        match self.column {
            Some(column) => BoardPart::Column(column),
            None => BoardPart::All,
        }
    }
}

/// A page of what was found by words.
fn cut(
    found: &[BoardCard],
    slice: &BoardSlice,
    after: Option<BoardMark>,
) -> (Vec<BoardCard>, Option<BoardMark>) {
    let mut cards: Vec<&BoardCard> = found
        .iter()
        .filter(|card| slice.column.is_none_or(|column| card.column() == column))
        .collect();
    let newest_first = matches!(slice.column, None | Some(Column::Done));
    if newest_first {
        cards.sort_by_key(|card| std::cmp::Reverse(card.number));
    } else {
        cards.sort_by_key(|card| card.mark());
    }
    let seen = after.map_or(0, |after| {
        let is_seen = |card: &&&BoardCard| {
            if newest_first { card.number >= after.number() } else { card.mark() <= after }
        };
        cards.iter().take_while(is_seen).count()
    });
    let limit = usize::try_from(slice.limit).unwrap_or(usize::MAX);
    let page: Vec<BoardCard> =
        cards.iter().skip(seen).take(limit).map(|card| (*card).clone()).collect();
    let next =
        if cards.len() > seen + page.len() { page.last().map(BoardCard::mark) } else { None };
    (page, next)
}

impl Views {
    /// The board: each column's count and its first tasks.
    pub async fn board(&self, request: BoardRequest, limit: u32) -> Result<Board, ToolError> {
        let settings = self.settings();
        let looking = self.store.scan(move |tx| {
            let filter = request.filter(tx)?;
            let mut rows = Rows::new(tx, &settings);
            let found = (!filter.words.is_empty()).then(|| tx.board_search(&filter)).transpose()?;
            let counts = match found {
                Some(_) => ColumnCounts::default(),
                None => epics::count(tx, &filter)?.0,
            };
            let mut columns = Vec::new();
            for name in Column::ALL {
                let slice = BoardSlice { column: Some(name), after: None, limit };
                let (cards, next, count) = if let Some(found) = &found {
                    let count = found.cards.iter().filter(|card| card.column() == name).count();
                    let (cards, next) = cut(&found.cards, &slice, None);
                    (cards, next, i64::try_from(count).unwrap_or(i64::MAX))
                } else {
                    let page = tx.board_page(&filter, slice.part(), None, limit)?;
                    (page.cards, page.next, counts.of(name))
                };
                let tasks = rows.all(cards)?;
                columns.push(BoardColumn { name, count, tasks, next_cursor: text(next) });
            }
            Ok(Board { columns, truncated: found.is_some_and(|found| found.truncated) })
        });
        looking.await
    }

    /// A page of tasks: a column's, or all, the newest first.
    pub async fn board_page(
        &self,
        request: BoardRequest,
        slice: BoardSlice,
    ) -> Result<Tasks, ToolError> {
        let settings = self.settings();
        let after = slice.after.as_deref().map(mark_of).transpose()?;
        let looking = self.store.scan(move |tx| {
            let filter = request.filter(tx)?;
            let (cards, next, truncated) = if filter.words.is_empty() {
                let page = tx.board_page(&filter, slice.part(), after, slice.limit)?;
                (page.cards, page.next, false)
            } else {
                let found = tx.board_search(&filter)?;
                let (cards, next) = cut(&found.cards, &slice, after);
                (cards, next, found.truncated)
            };
            let tasks = Rows::new(tx, &settings).all(cards)?;
            Ok(Tasks { tasks, next_cursor: text(next), truncated })
        });
        looking.await
    }

    /// Single tasks by their numbers; numbers that no task has are left out.
    pub async fn board_rows(&self, numbers: Vec<i64>) -> Result<Tasks, ToolError> {
        if numbers.len() > MAX_ROWS {
            return Err(ToolError::invalid(format!(
                "`numbers` has {} numbers; the limit is {MAX_ROWS}",
                numbers.len()
            ))
            .detail("field", "numbers"));
        }
        let settings = self.settings();
        let looking = self.store.scan(move |tx| {
            let mut cards = Vec::new();
            for number in numbers {
                cards.extend(tx.board_card(number)?);
            }
            let tasks = Rows::new(tx, &settings).all(cards)?;
            Ok(Tasks { tasks, next_cursor: None, truncated: false })
        });
        looking.await
    }
}

fn mark_of(text: &str) -> Result<BoardMark, ToolError> {
    text.parse()
        .map_err(|error| ToolError::invalid(format!("`after`: {error}")).detail("field", "after"))
}

fn text(mark: Option<BoardMark>) -> Option<String> {
    mark.map(|mark| mark.to_string())
}
