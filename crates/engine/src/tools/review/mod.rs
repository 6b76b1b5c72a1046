//! `review`: coders have their work looked at, reviewers say what they think. Names and fields are the
//! review seed's.

pub(super) mod create_issues;
pub(super) mod create_pull_request;
pub(super) mod request_review;
pub(super) mod send_feedback;
