//! Variables that the check of work in review needs from the approving person's shell, without the
//! values.

use model::TaskId;
use rusqlite::params;

use crate::core::error::StoreError;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

impl Tx<'_> {
    /// Notes what the person has in the shell who approves a task's work, as JSON.
    pub fn check_environment_set(&mut self, task: TaskId, body: &str) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO check_environment (task_id, body) VALUES ($1, $2)
             ON CONFLICT (task_id) DO UPDATE SET body = excluded.body",
            params![task.to_string(), body],
        )?;
        Ok(())
    }

    /// Reads what the person has in the shell who approves a task's work.
    pub fn check_environment_get(&self, task: TaskId) -> Result<Option<String>, StoreError> {
        self.one(
            "SELECT body FROM check_environment WHERE task_id = $1",
            params![task.to_string()],
            |row| RowReader::of(row).get(),
        )
    }

    /// Forgets it: the work is not in review any more.
    pub fn check_environment_drop(&mut self, task: TaskId) -> Result<(), StoreError> {
        self.execute(
            "DELETE FROM check_environment WHERE task_id = $1",
            params![task.to_string()],
        )?;
        Ok(())
    }
}
