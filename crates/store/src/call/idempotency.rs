//! Stored answers to calls with a key: a repeated call gets the same answer.

use model::Timestamp;
use rusqlite::params;

use crate::core::error::StoreError;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// Time for which a key is kept, longer than clients retry.
const KEPT_SECONDS: i64 = 24 * 60 * 60;
/// With each new answer at most so many old ones go, so that none pays for a whole day's.
const MAX_KEYS_SWEPT: i64 = 16;

/// A call that came with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyedCall {
    /// Principal of the call; keys are separate for each principal
    pub principal: String,
    /// The key
    pub key: String,
    /// The canonical name of the tool
    pub tool: String,
    /// Canonical form of the input, for comparison
    pub input: String,
}

/// Result of looking up an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdempotencyLookup {
    /// It has not been answered
    Never,
    /// It was answered with this
    With(String),
    /// The key came with another call
    Otherwise {
        /// Tool of the earlier call
        tool: String,
    },
}

impl Tx<'_> {
    /// Finds the recorded answer to a call with an idempotency key.
    pub fn idempotency_find(&self, call: &KeyedCall) -> Result<IdempotencyLookup, StoreError> {
        let found = self.one(
            "SELECT tool, input, output FROM answered WHERE principal = $1 AND key = $2",
            params![call.principal, call.key],
            |row| {
                let mut cells = RowReader::of(row);
                let (tool, input): (String, String) = (cells.get()?, cells.get()?);
                Ok((tool, input, cells.get()?))
            },
        )?;
        Ok(match found {
            None => IdempotencyLookup::Never,
            Some((tool, input, output)) if tool == call.tool && input == call.input => {
                IdempotencyLookup::With(output)
            }
            Some((tool, ..)) => IdempotencyLookup::Otherwise { tool },
        })
    }

    /// Remembers what a call with a key was answered with, and forgets some that are too old.
    pub fn idempotency_insert(
        &mut self,
        call: &KeyedCall,
        output: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.execute(
            "DELETE FROM answered WHERE (principal, key) IN (
                SELECT principal, key FROM answered WHERE at < $1
                ORDER BY at, principal, key LIMIT $2)",
            params![now.after_seconds(-KEPT_SECONDS).as_millis(), MAX_KEYS_SWEPT],
        )?;
        self.execute(
            "INSERT INTO answered (principal, key, tool, input, output, at)
             VALUES ($1, $2, $3, $4, $5, $6)",
            params![call.principal, call.key, call.tool, call.input, output, now.as_millis()],
        )?;
        Ok(())
    }
}
