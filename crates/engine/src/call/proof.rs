//! Proof of a server's identity, requested before a client sends a token.
//!
//! The client sends a nonce and the beginning of its token's hash. The server answers with an HMAC over the nonce
//! and its own address, keyed by the hash, which it has on record and a stranger has not. The address is part of
//! it, so that an answer passed on from another port is worth nothing. For a token that the server does not know
//! it answers just as long and just as random, so that nobody learns which tokens there are.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use std::fmt::Write as _;

use crate::call::service::Calls;
use crate::core::error::ToolError;

/// Hex digits of a nonce.
pub const NONCE_DIGITS: usize = 64;
/// Hex digits of a token's hash that say which token is meant.
pub const KEY_DIGITS: usize = 16;
/// Keeps these answers apart from whatever else is ever signed with the same key.
const DOMAIN: &str = "adjutant server proof v1";
/// The same for answers about tokens that are not known.
const DOMAIN_UNKNOWN: &str = "adjutant server proof v1, no such token";

/// The beginning of a token's hash, by which the server finds the rest.
pub fn key_of(token_hash: &str) -> &str {
    token_hash.get(..KEY_DIGITS).unwrap_or(token_hash)
}

/// Computes the proof for a nonce and an address, keyed by the token's hash.
pub fn proof(token_hash: &str, nonce: &str, url: &str) -> String {
    sign(token_hash, &[DOMAIN, url, nonce])
}

fn sign(key: &str, parts: &[&str]) -> String {
    // A key of any length makes an HMAC.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key.as_bytes()) else { return String::new() };
    for part in parts {
        mac.update(&u64::try_from(part.len()).unwrap_or_default().to_be_bytes());
        mac.update(part.as_bytes());
    }
    mac.finalize().into_bytes().iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a String cannot fail.
        _ = write!(hex, "{byte:02x}");
        hex
    })
}

impl Calls {
    /// Proves that this server knows the token whose hash begins with `key`.
    pub fn prove(&self, key: &str, nonce: &str, url: &str) -> Result<String, ToolError> {
        prove_with(&self.options.operator_hash, key, nonce, url, || {
            Ok(self.store.read(|tx| tx.agent_token_hash(key))?)
        })
    }
}

/// Proves that a server that does not own its home knows the operator's token.
pub fn prove_operator(
    operator_hash: &str,
    key: &str,
    nonce: &str,
    url: &str,
) -> Result<String, ToolError> {
    prove_with(operator_hash, key, nonce, url, || Ok(None))
}

fn prove_with(
    operator: &str,
    key: &str,
    nonce: &str,
    url: &str,
    of_agent: impl FnOnce() -> Result<Option<String>, ToolError>,
) -> Result<String, ToolError> {
    let is_hex = |text: &str, digits: usize| {
        text.len() == digits && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    };
    if !is_hex(key, KEY_DIGITS) || !is_hex(nonce, NONCE_DIGITS) {
        return Err(ToolError::invalid(format!(
            "`key` must be {KEY_DIGITS} and `nonce` {NONCE_DIGITS} lowercase hex digits"
        )));
    }
    if key_of(operator) == key {
        return Ok(proof(operator, nonce, url));
    }
    Ok(match of_agent()? {
        Some(hash) => proof(&hash, nonce, url),
        None => sign(operator, &[DOMAIN_UNKNOWN, key, url, nonce]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash_token;

    #[test]
    fn a_proof_holds_for_one_token_one_nonce_and_one_address() {
        let hash = hash_token("adjop_1");
        let (nonce, url) = ("0".repeat(NONCE_DIGITS), "http://127.0.0.1:3001");
        let right = proof(&hash, &nonce, url);
        assert_eq!(right.len(), 64);
        assert_eq!(right, proof(&hash, &nonce, url));
        assert_ne!(right, proof(&hash_token("adjop_2"), &nonce, url));
        assert_ne!(right, proof(&hash, &"1".repeat(NONCE_DIGITS), url));
        assert_ne!(right, proof(&hash, &nonce, "http://127.0.0.1:3002"));
        // Where one part ends and the next begins is part of what is signed.
        assert_ne!(sign("k", &["ab", "c"]), sign("k", &["a", "bc"]));
    }
}
