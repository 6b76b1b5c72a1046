//! Keys: the same call again is answered again and done once.

use store::{IdempotencyLookup, KeyedCall, Tx};

use super::{Call, CallRun};
use crate::call::identity::hash_token;
use crate::call::tool::Output;
use crate::core::error::ToolError;

/// A key may be so long and no longer.
const KEY_LIMIT: usize = 200;

impl CallRun {
    /// Checks that a key is one.
    pub(super) fn check_key(&self) -> Result<(), ToolError> {
        let is_key = |key: &String| {
            (1..=KEY_LIMIT).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic())
        };
        if self.call.key.as_ref().is_none_or(is_key) {
            return Ok(());
        }
        let message =
            format!("the idempotency key must be 1 to {KEY_LIMIT} visible ASCII characters");
        Err(ToolError::invalid(message).hint("a random number in hex is a good key"))
    }

    /// This call, if it came with a key.
    pub(super) fn keyed(&self) -> Option<KeyedCall> {
        let Call { principal, as_agent, tool, input, key } = &self.call;
        let key = key.clone()?;
        // There may be secrets in it, so only a hash is kept. In whose name is part of what was asked.
        let named = as_agent.map(|agent| agent.to_string()).unwrap_or_default();
        let input = hash_token(&format!("{named} {input}"));
        Some(KeyedCall { principal: principal.to_string(), key, tool: tool.name.to_owned(), input })
    }

    /// Recorded answer to the same call.
    pub(super) fn answered(&self, tx: &Tx<'_>) -> Result<Option<Output>, ToolError> {
        let Some(call) = self.keyed() else { return Ok(None) };
        match tx.idempotency_find(&call)? {
            IdempotencyLookup::Never => Ok(None),
            IdempotencyLookup::With(text) => Ok(Some(Output { text })),
            IdempotencyLookup::Otherwise { tool } => {
                let what = if tool == call.tool { "other input" } else { "another tool" };
                let message = format!("the key `{}` was used before with {what}", call.key);
                Err(ToolError::conflict(message).hint(
                    "use a new key for each call; only a repetition of the same call may reuse one",
                ))
            }
        }
    }
}
