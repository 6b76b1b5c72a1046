//! Notes of a session.

use model::{AgentId, NoteType, Timestamp};
use rusqlite::{Row, params};

use crate::core::error::StoreError;
use crate::core::exact::clean;
use crate::core::page::Page;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// A note to be.
#[derive(Debug, Clone)]
pub struct NewNote {
    /// In which session
    pub session: String,
    /// Kind of note
    pub kind: NoteType,
    /// Body text
    pub content: String,
    /// In which iteration
    pub iteration: u32,
    /// Author; `None` for the operator
    pub agent: Option<AgentId>,
}

/// A note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Its number: `NOT-3`
    pub number: i64,
    /// Kind of note
    pub kind: NoteType,
    /// Body text
    pub content: String,
    /// In which iteration
    pub iteration: u32,
    /// Author
    pub agent: Option<AgentId>,
    /// When
    pub created_at: Timestamp,
}

fn read(row: &Row<'_>) -> Result<Note, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(Note {
        number: cells.get()?,
        kind: cells.named(NoteType::parse)?,
        content: cells.get()?,
        iteration: cells.count()?,
        agent: cells.parse_opt()?,
        created_at: cells.time()?,
    })
}

impl Tx<'_> {
    /// Writes a note and gives its number.
    pub fn note_insert(&mut self, new: &NewNote, now: Timestamp) -> Result<i64, StoreError> {
        let number = self.number("SELECT COALESCE(MAX(number), 0) + 1 FROM note", [])?;
        self.execute(
            "INSERT INTO note (number, session, kind, content, iteration, agent_id, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
            params![
                number,
                new.session,
                new.kind.name(),
                clean(&new.content),
                new.iteration,
                new.agent.map(|id| id.to_string()),
                now.as_millis()
            ],
        )?;
        Ok(number)
    }

    /// The last notes of a session, oldest of them first.
    pub fn note_newest(&self, session: &str, limit: u32) -> Result<Vec<Note>, StoreError> {
        let mut newest_first = self.all(
            "SELECT number, kind, content, iteration, agent_id, created_at FROM note
             WHERE session = $1 ORDER BY number DESC LIMIT $2",
            params![session, limit],
            read,
        )?;
        newest_first.reverse();
        Ok(newest_first)
    }

    /// Counts the notes of a session before a number.
    pub fn note_count_before(&self, session: &str, before: i64) -> Result<u64, StoreError> {
        let count = self.number(
            "SELECT COUNT(*) FROM note WHERE session = $1 AND number < $2",
            params![session, before],
        )?;
        Ok(u64::try_from(count).unwrap_or_default())
    }

    /// Lists the notes of a session, oldest first.
    pub fn note_page(
        &self,
        session: &str,
        kind: Option<NoteType>,
        after: i64,
        limit: u32,
    ) -> Result<Page<Note>, StoreError> {
        let limit_plus = i64::from(limit) + 1;
        let rows = match kind {
            None => self.all(
                "SELECT number, kind, content, iteration, agent_id, created_at FROM note
                 WHERE session = $1 AND number > $2 ORDER BY number LIMIT $3",
                params![session, after, limit_plus],
                read,
            ),
            Some(kind) => self.all(
                "SELECT number, kind, content, iteration, agent_id, created_at FROM note
                 WHERE session = $1 AND kind = $4 AND number > $2 ORDER BY number LIMIT $3",
                params![session, after, limit_plus, kind.name()],
                read,
            ),
        }?;
        Ok(Page::cut(rows, limit, |note| note.number))
    }
}
