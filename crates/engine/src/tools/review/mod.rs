//! `review`: coders have their work looked at, reviewers say what they think. Names and fields are the
//! review seed's.

pub(super) mod create_issues;
pub(super) mod create_pull_request;
pub(super) mod request_review;
pub(super) mod send_feedback;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether what was asked for is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum Progress {
    /// It is done
    Done,
    /// It is remembered and goes on; the same call again waits for it
    Pending,
}
