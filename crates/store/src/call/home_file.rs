//! Files and values that all servers of a home in PostgreSQL share.

use model::Timestamp;
use rusqlite::params;

use crate::core::error::StoreError;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// Largest file of a home.
pub const MAX_HOME_FILE_BYTES: usize = 4 << 20;

/// A file of a home: its configuration, a role, a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeFile {
    /// Path inside of the home's folder, with `/` between its parts
    pub path: String,
    /// Content
    pub body: Vec<u8>,
    /// When it was last changed
    pub changed_at: Timestamp,
}

impl Tx<'_> {
    /// All files by path.
    pub fn home_files(&self) -> Result<Vec<HomeFile>, StoreError> {
        self.all("SELECT path, body, changed_at FROM home_file ORDER BY path", [], |row| {
            let mut cells = RowReader::of(row);
            Ok(HomeFile { path: cells.get()?, body: cells.get()?, changed_at: cells.time()? })
        })
    }

    /// Writes a file, or replaces it.
    pub fn home_file_put(
        &mut self,
        path: &str,
        body: &[u8],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO home_file (path, body, changed_at) VALUES ($1, $2, $3)
             ON CONFLICT (path) DO UPDATE SET body = excluded.body, changed_at = excluded.changed_at",
            params![path, body, now.as_millis()],
        )?;
        Ok(())
    }

    /// Deletes a file; false if there is none.
    pub fn home_file_delete(&mut self, path: &str) -> Result<bool, StoreError> {
        Ok(self.execute("DELETE FROM home_file WHERE path = $1", params![path])? > 0)
    }

    /// A value that all servers know.
    pub fn home_value(&self, name: &str) -> Result<Option<String>, StoreError> {
        let read = "SELECT value FROM home_value WHERE name = $1";
        self.one(read, params![name], |row| Ok(row.get(0)?))
    }

    /// Sets a value that all servers know.
    pub fn home_value_put(&mut self, name: &str, value: &str) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO home_value (name, value) VALUES ($1, $2)
             ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            params![name, value],
        )?;
        Ok(())
    }
}
