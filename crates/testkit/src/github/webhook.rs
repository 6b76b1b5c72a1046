//! What GitHub delivers by itself, and how it signs it.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, ensure};
use model::review::PullState;
use serde_json::json;

use super::serve::Shared;
use super::show::Detail;
use crate::receiver::hmac;

/// A delivery that GitHub posts for an event.
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

fn sign(secret: &[u8], body: &[u8]) -> Result<String> {
    let mut header = "sha256=".to_owned();
    for byte in hmac(secret, body)? {
        write!(header, "{byte:02x}")?;
    }
    Ok(header)
}
