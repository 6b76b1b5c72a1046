//! State that a transaction carries: the end of the audit chain, the number of the last event, and calls to record.
//!
//! A row's hash is the SHA-256 of the hash before it, a newline and the row's body, in hex; the first
//! row follows 64 zeros. So nobody can change, drop, insert or reorder a row in the middle unseen.

use std::fmt::Write as _;

use model::event::EventKind;
use model::{AgentId, EventKinds, Timestamp};
use rusqlite::{Connection, OptionalExtension as _};
use sha2::{Digest as _, Sha256};

use crate::core::error::StoreError;

/// Where the chain and the sequence of events stand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chain {
    pub(crate) audit: i64,
    pub(crate) hash: [u8; 64],
    pub(crate) event: i64,
    /// Kinds of the events appended since the last commit
    pub(crate) kinds: EventKinds,
}

impl Default for Chain {
    fn default() -> Self {
        Self { audit: 0, hash: [b'0'; 64], event: 0, kinds: EventKinds::NONE }
    }
}

impl Chain {
    pub(crate) fn load(connection: &Connection) -> Result<Self, StoreError> {
        let mut chain = Self::default();
        let last = connection
            .query_row("SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1", [], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
            })
            .optional()?;
        if let Some((number, hash)) = last {
            chain.audit = number;
            chain.hash = hash.as_bytes().try_into().map_err(|_| {
                StoreError::Corrupt(format!("audit row {number} has no proper hash"))
            })?;
        }
        chain.event =
            connection
                .query_row("SELECT COALESCE(MAX(number), 0) FROM event", [], |row| row.get(0))?;
        Ok(chain)
    }

    pub(crate) const fn last_event(&self) -> i64 {
        self.event
    }

    /// Takes the number of the next event, which is of this kind.
    pub(crate) const fn next_event(&mut self, kind: EventKind) -> i64 {
        self.kinds = self.kinds.with(EventKinds::of(&[kind]));
        self.event += 1;
        self.event
    }

    /// The state of the chain right behind a row.
    pub(crate) fn behind(number: i64, hash: &str) -> Self {
        let mut chain = Self { audit: number, ..Self::default() };
        chain.hash = hash.as_bytes().try_into().unwrap_or(chain.hash);
        chain
    }

    pub(crate) fn link(&self, body: &str) -> [u8; 64] {
        let mut hasher = Sha256::new();
        hasher.update(self.hash);
        hasher.update(b"\n");
        hasher.update(body.as_bytes());
        let mut hex = [0_u8; 64];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(hasher.finalize()) {
            const DIGITS: &[u8; 16] = b"0123456789abcdef";
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        hex
    }
}

/// A call, to be recorded. `input` and `output` are JSON, with every secret taken out.
#[derive(Debug, Clone)]
pub struct AuditDraft {
    /// When it was answered
    pub at: Timestamp,
    /// Calling agent, or the one the operator acted as; `None` for the operator
    pub agent: Option<AgentId>,
    /// True if the operator made the call, perhaps as an agent
    pub by_operator: bool,
    /// The canonical name of the tool
    pub tool: String,
    /// Input as JSON
    pub input: String,
    /// The code it failed with
    pub code: Option<&'static str>,
    /// Output as JSON
    pub output: String,
    /// Duration of the call
    pub duration_micros: i64,
    /// Commit checked out in the caller's directory
    pub git_commit: Option<String>,
}

impl AuditDraft {
    pub(crate) fn body(&self, number: i64) -> String {
        let mut body = String::with_capacity(256 + self.input.len() + self.output.len());
        // Writing to a String cannot fail.
        _ = write!(body, r#"{{"number":{number},"at":"{}","agentId":"#, self.at);
        match self.agent {
            Some(agent) => _ = write!(body, r#""{agent}""#),
            None => body.push_str("null"),
        }
        _ = write!(body, r#","byOperator":{},"tool":"{}","code":"#, self.by_operator, self.tool);
        match self.code {
            Some(code) => _ = write!(body, r#""{code}""#),
            None => body.push_str("null"),
        }
        _ = write!(body, r#","durationMicros":{},"gitCommit":"#, self.duration_micros);
        match &self.git_commit {
            Some(commit) => _ = write!(body, r#""{commit}""#),
            None => body.push_str("null"),
        }
        _ = write!(body, r#","input":{},"output":{}}}"#, self.input, self.output);
        body
    }
}
