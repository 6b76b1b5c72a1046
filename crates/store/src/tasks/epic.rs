//! Epics.

use model::{EpicId, EpicState, Timestamp};
use rusqlite::{Row, params};

use crate::core::error::StoreError;
use crate::core::exact::clean;
use crate::core::page::Page;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// An epic to be.
#[derive(Debug, Clone)]
pub struct NewEpic {
    /// Its id
    pub id: EpicId,
    /// Title
    pub title: String,
    /// Description
    pub description: Option<String>,
    /// Its issue in Linear
    pub linear_issue_id: Option<String>,
    /// Where that issue can be seen
    pub linear_issue_url: Option<String>,
}

/// A group of tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Epic {
    /// Its place among all epics
    pub number: i64,
    /// Its id
    pub id: EpicId,
    /// Title
    pub title: String,
    /// Description
    pub description: Option<String>,
    /// Its issue in Linear
    pub linear_issue_id: Option<String>,
    /// Where that issue can be seen
    pub linear_issue_url: Option<String>,
    /// Where it stands
    pub state: EpicState,
    /// When it was made
    pub created_at: Timestamp,
    /// When it last changed
    pub updated_at: Timestamp,
    /// When it was done
    pub completed_at: Option<Timestamp>,
}

pub(crate) const COLUMNS: &str = "number, id, title, description, linear_issue_id, linear_issue_url, state, \
     created_at, updated_at, completed_at";

pub(crate) fn read(row: &Row<'_>) -> Result<Epic, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(Epic {
        number: cells.get()?,
        id: cells.parse()?,
        title: cells.get()?,
        description: cells.get()?,
        linear_issue_id: cells.get()?,
        linear_issue_url: cells.get()?,
        state: cells.named(EpicState::parse)?,
        created_at: cells.time()?,
        updated_at: cells.time()?,
        completed_at: cells.time_opt()?,
    })
}

impl Tx<'_> {
    /// Records a new epic.
    pub fn epic_insert(&mut self, new: &NewEpic, now: Timestamp) -> Result<(), StoreError> {
        let number = self.number("SELECT COALESCE(MAX(number), 0) + 1 FROM epic", [])?;
        self.execute(
            "INSERT INTO epic (number, id, title, description, linear_issue_id, linear_issue_url,
                state, created_at, updated_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)",
            params![
                number,
                new.id.to_string(),
                clean(&new.title),
                new.description.as_deref().map(clean),
                new.linear_issue_id,
                new.linear_issue_url,
                EpicState::Planning.name(),
                now.as_millis()
            ],
        )?;
        Ok(())
    }

    /// The epic of that id.
    pub fn epic_get(&self, id: EpicId) -> Result<Option<Epic>, StoreError> {
        self.one(
            &format!("SELECT {COLUMNS} FROM epic WHERE id = $1"),
            params![id.to_string()],
            read,
        )
    }

    /// The epic that belongs to an issue in Linear.
    pub fn epic_by_linear(&self, issue: &str) -> Result<Option<Epic>, StoreError> {
        self.one(
            &format!("SELECT {COLUMNS} FROM epic WHERE linear_issue_id = $1"),
            params![issue],
            read,
        )
    }

    /// Moves an epic to the state that was decided for it.
    pub fn epic_advance(
        &mut self,
        id: EpicId,
        to: EpicState,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let done = (to == EpicState::Completed).then(|| now.as_millis());
        self.execute(
            "UPDATE epic SET state = $2, updated_at = $3, completed_at = COALESCE(completed_at, $4)
             WHERE id = $1",
            params![id.to_string(), to.name(), now.as_millis(), done],
        )?;
        Ok(())
    }

    /// Lists epics, oldest first.
    pub fn epic_page(&self, after: i64, limit: u32) -> Result<Page<Epic>, StoreError> {
        let rows = self.all(
            &format!("SELECT {COLUMNS} FROM epic WHERE number > $1 ORDER BY number LIMIT $2"),
            params![after, i64::from(limit) + 1],
            read,
        )?;
        Ok(Page::cut(rows, limit, |epic| epic.number))
    }
}
