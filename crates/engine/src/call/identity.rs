//! Resolves a credential to a caller. Nothing else names the caller.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{PoisonError, RwLock};

use model::{AgentId, PassId, Timestamp};
use sha2::{Digest as _, Sha256};
use store::{PassKind, Rights};
use tokio_util::sync::CancellationToken;

use crate::call::service::Calls;
use crate::core::error::ToolError;

/// Holder of a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Principal {
    /// The human
    Operator,
    /// An agent
    Agent(AgentId),
    /// Reader with a shared link: it reads everything and changes nothing
    Viewer,
}

impl std::fmt::Display for Principal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Operator => f.write_str("operator"),
            Self::Agent(id) => id.fmt(f),
            Self::Viewer => f.write_str("viewer"),
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

/// A tab of the page that came by a link.
#[derive(Debug, Clone)]
pub struct Tab {
    /// Its pass
    pub id: PassId,
    /// The link it came by
    pub link: Option<PassId>,
    /// Until when its token is good
    pub expires_at: Timestamp,
    /// Cancelled when the token is void before that
    pub void: CancellationToken,
}

/// An identified caller, with its credential.
#[derive(Debug, Clone)]
pub struct Admission {
    /// Principal
    pub principal: Principal,
    /// The tab, if it is one of the page
    pub tab: Option<Tab>,
}

impl From<Principal> for Admission {
    fn from(principal: Principal) -> Self {
        Self { principal, tab: None }
    }
}

/// Tokens seen lately and whose they are, so that most requests ask nobody.
#[derive(Debug, Default)]
pub(crate) struct Tokens(RwLock<CachedPrincipal>);

#[derive(Debug, Default)]
struct CachedPrincipal {
    known: HashMap<[u8; 32], Admission>,
    /// Number of invalidations
    forgotten: u64,
}

impl Tokens {
    /// Cached principal of a token, with the number of invalidations so far.
    fn get(&self, key: &[u8; 32]) -> (Option<Admission>, u64) {
        let seen = self.0.read().unwrap_or_else(PoisonError::into_inner);
        (seen.known.get(key).cloned(), seen.forgotten)
    }

    /// Caches what was read from the record, unless an entry was dropped meanwhile: it may have been this one.
    fn put(&self, key: [u8; 32], admission: &Admission, forgotten: u64) -> bool {
        let mut seen = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let current = seen.forgotten == forgotten;
        if current {
            seen.known.insert(key, admission.clone());
        }
        current
    }

    /// Forgets an agent's token, because it is void.
    pub(crate) fn forget(&self, agent: AgentId) {
        self.forget_if(|admission| admission.principal == Principal::Agent(agent));
    }

    /// Forgets the tokens of tabs, because they are void, and tells the servers that still use them.
    pub(crate) fn forget_tabs(&self, is_void: impl Fn(&Tab) -> bool) {
        self.forget_if(|admission| {
            let void = admission.tab.as_ref().filter(|tab| is_void(tab));
            void.inspect(|tab| tab.void.cancel()).is_some()
        });
    }

    fn forget_if(&self, is_void: impl Fn(&Admission) -> bool) {
        let mut seen = self.0.write().unwrap_or_else(PoisonError::into_inner);
        seen.forgotten += 1;
        seen.known.retain(|_, admission| !is_void(admission));
    }
}

impl Calls {
    /// Resolves a token to its principal.
    pub fn authenticate(&self, token: &str) -> Result<Option<Principal>, ToolError> {
        Ok(self.admit(token)?.map(|admission| admission.principal))
    }

    /// Resolves a token to an admission.
    pub fn admit(&self, token: &str) -> Result<Option<Admission>, ToolError> {
        let key: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        loop {
            let (known, forgotten) = self.tokens.get(&key);
            let admission = match known {
                Some(admission) => admission,
                None => match self.look_up(token)? {
                    Some(admission) if self.tokens.put(key, &admission, forgotten) => admission,
                    Some(_) => continue,
                    None => return Ok(None),
                },
            };
            let now = self.now();
            if admission.tab.as_ref().is_some_and(|tab| tab.expires_at <= now) {
                self.tokens.forget_tabs(|tab| tab.expires_at <= now);
                return Ok(None);
            }
            return Ok(Some(admission));
        }
    }

    /// Looks a token up in the record.
    fn look_up(&self, token: &str) -> Result<Option<Admission>, ToolError> {
        let hash = hash_token(token);
        if hash == self.options.operator_hash {
            return Ok(Some(Principal::Operator.into()));
        }
        self.store.read(|tx| {
            if let Some(agent) = tx.agent_by_token(&hash)? {
                return Ok(Some(Principal::Agent(agent.id).into()));
            }
            let pass = tx.pass_by_hash(&hash)?.filter(|pass| pass.kind == PassKind::Tab);
            Ok(pass.map(|pass| Admission {
                principal: match pass.rights {
                    Rights::Operator => Principal::Operator,
                    Rights::Viewer => Principal::Viewer,
                },
                tab: Some(Tab {
                    id: pass.id,
                    link: pass.link,
                    expires_at: pass.expires_at,
                    void: CancellationToken::new(),
                }),
            }))
        })
    }
}
