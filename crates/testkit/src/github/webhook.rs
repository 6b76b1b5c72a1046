//! What GitHub delivers by itself, and how it signs it.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, ensure};
use model::review::PullState;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::serve::Shared;
use super::show::Detail;

/// What GitHub posts to whoever wants to hear of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The value of `X-GitHub-Event`
    pub event: String,
    /// The value of `X-Hub-Signature-256`
    pub signature: String,
    /// The body that is signed
    pub body: Vec<u8>,
}

impl Shared {
    /// What is delivered of a pull request in the state in which it is; an open one was opened again.
    pub(super) fn deliver(&self, number: u64, secret: &[u8]) -> Result<Delivery> {
        let record = self.record();
        let pull = record.pulls().find(|pull| pull.number == number);
        let pull = pull.with_context(|| format!("there is no pull request {number}"))?;
        let (owner, name) = pull.repository.split_once('/').context("a name without an owner")?;
        let repository = record.repository(owner, name).context("a repository that is gone")?;
        let action = if pull.state == PullState::Open { "reopened" } else { "closed" };
        let body = json!({
            "action": action,
            "number": number,
            "pull_request": self.examples.pull(pull, Detail::Whole),
            "repository": self.examples.repository(repository),
            "sender": self.examples.somebody(),
        });
        let problems = self.description.check_webhook(&format!("pull-request-{action}"), &body)?;
        ensure!(
            problems.is_empty(),
            "GitHub would deliver something else:\n{}",
            problems.join("\n")
        );
        let body = body.to_string().into_bytes();
        Ok(Delivery { event: "pull_request".to_owned(), signature: sign(secret, &body)?, body })
    }
}

/// HMAC with SHA-256 by hand, so that the product's own is not held against itself.
fn sign(secret: &[u8], body: &[u8]) -> Result<String> {
    const BLOCK: usize = 64;
    ensure!(secret.len() <= BLOCK, "a secret for a test is short");
    let mut key = [0_u8; BLOCK];
    key.iter_mut().zip(secret).for_each(|(to, from)| *to = *from);
    let inner = Sha256::new().chain_update(key.map(|byte| byte ^ 0x36)).chain_update(body);
    let outer = Sha256::new().chain_update(key.map(|byte| byte ^ 0x5c));
    let mut header = "sha256=".to_owned();
    for byte in outer.chain_update(inner.finalize()).finalize() {
        write!(header, "{byte:02x}")?;
    }
    Ok(header)
}
