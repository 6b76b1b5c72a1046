//! From a credential to who calls. Nothing else names the caller.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{PoisonError, RwLock};

use model::AgentId;
use sha2::{Digest as _, Sha256};

use crate::engine::Engine;
use crate::error::ToolError;

/// Who holds a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Principal {
    /// The human
    Operator,
    /// An agent
    Agent(AgentId),
}

impl std::fmt::Display for Principal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Operator => f.write_str("operator"),
            Self::Agent(id) => id.fmt(f),
        }
    }
}

/// The form in which tokens are stored: a leaked record gives nobody a token.
pub fn hash_token(token: &str) -> String {
    Sha256::digest(token.as_bytes()).iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a String cannot fail.
        _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Tokens seen lately and whose they are, so that most requests ask nobody.
#[derive(Debug, Default)]
pub(crate) struct Tokens(RwLock<HashMap<[u8; 32], Principal>>);

impl Tokens {
    fn get(&self, key: &[u8; 32]) -> Option<Principal> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(key).copied()
    }

    fn put(&self, key: [u8; 32], principal: Principal) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(key, principal);
    }

    /// Forgets an agent's token, because it is void.
    pub(crate) fn forget(&self, agent: AgentId) {
        self.0
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|_, principal| *principal != Principal::Agent(agent));
    }
}

impl Engine {
    /// Whose token this is, if it is anybody's.
    pub fn authenticate(&self, token: &str) -> Result<Option<Principal>, ToolError> {
        let key: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        if let Some(principal) = self.tokens.get(&key) {
            return Ok(Some(principal));
        }
        let hash = hash_token(token);
        let principal = if hash == self.options.operator_hash {
            Principal::Operator
        } else {
            match self.store.read(|tx| tx.agent_by_token(&hash))? {
                Some(agent) => Principal::Agent(agent.id),
                None => return Ok(None),
            }
        };
        self.tokens.put(key, principal);
        Ok(Some(principal))
    }
}
