//! Reads recorded bodies, no further than needed.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::AuditTask;

/// Where what was asked begins. Nothing before it comes from outside but names without quotes.
const INPUT_KEY: &str = ",\"input\":";
const OUTPUT_KEY: &str = ",\"output\":";
/// End of the body of a row that records only the start of a call.
const BEGUN_BODY_END: &str = ",\"output\":{\"begun\":true}}";

/// Fields of a body that are not columns of the row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditBody {
    /// True if the operator made the call, perhaps as an agent
    pub by_operator: bool,
    /// Duration of the call
    pub duration_micros: u64,
    /// Commit checked out in the caller's directory
    pub git_commit: Option<String>,
    /// Input as JSON
    pub input: String,
    /// Output as JSON
    pub output: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head {
    by_operator: bool,
    duration_micros: i64,
    git_commit: Option<String>,
}

impl AuditBody {
    /// Reads a body; nothing if it is not one of ours.
    pub fn read(body: &str) -> Option<Self> {
        let (head, rest) = body.split_once(INPUT_KEY)?;
        let head: Head = serde_json::from_str(&format!("{head}}}")).ok()?;
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        values.next()?.ok()?;
        let (input, rest) = rest.split_at_checked(values.byte_offset())?;
        let output = rest.strip_prefix(OUTPUT_KEY)?.strip_suffix('}')?;
        Some(Self {
            by_operator: head.by_operator,
            duration_micros: u64::try_from(head.duration_micros).unwrap_or(0),
            git_commit: head.git_commit,
            input: input.to_owned(),
            output: output.to_owned(),
        })
    }

    /// True if it records only the start of a call.
    pub fn is_begun(&self) -> bool {
        self.output == "{\"begun\":true}"
    }
}

/// True if a body records only the start of a call.
pub(super) fn is_begun(body: &str) -> bool {
    body.ends_with(BEGUN_BODY_END)
}

/// Part of a body before the input.
fn head(body: &str) -> &str {
    body.split_once(INPUT_KEY).map_or(body, |(head, _)| head)
}

pub(super) fn is_operators(body: &str) -> bool {
    head(body).contains("\"byOperator\":true")
}

/// Part of a body with input and output.
pub(super) fn words_of(body: &str) -> &str {
    body.split_once(INPUT_KEY).map_or(body, |(_, words)| words)
}

/// Duration of the call, in microseconds.
pub(super) fn micros(body: &str) -> u64 {
    let told = head(body).split_once("\"durationMicros\":").map(|(_, rest)| rest);
    let digits = told.and_then(|rest| rest.split(',').next());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// True if the recorded commit starts with this prefix.
pub(super) fn commit_begins(body: &str, commit: &str) -> bool {
    let told = head(body).split_once("\"gitCommit\":\"").map(|(_, rest)| rest);
    told.is_some_and(|told| told.starts_with(commit))
}

/// True if the input names a task.
pub(super) fn asks_for(body: &str, task: &AuditTask) -> bool {
    let Some(AuditBody { input, .. }) = AuditBody::read(body) else { return false };
    [task.id.to_string(), task.slug.clone(), format!("TAS-{}", task.number)]
        .iter()
        .any(|name| input.contains(&format!("\"{name}\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(input: &str, output: &str) -> String {
        format!(
            "{{\"number\":1,\"at\":\"2026-01-01T00:00:00.000Z\",\"agentId\":null,\"byOperator\":true,\
             \"tool\":\"mcp__mail__send\",\"code\":null,\"durationMicros\":1234,\"gitCommit\":\"abc123\",\
             \"input\":{input},\"output\":{output}}}"
        )
    }

    #[test]
    fn a_body_is_read_whatever_was_asked() {
        let tricky = r#"{"a":",\"output\":{\"begun\":true}}","input":[1,"}"]}"#;
        let read = AuditBody::read(&body(tricky, r#"{"x":1}"#)).unwrap();
        assert_eq!((read.input.as_str(), read.output.as_str()), (tricky, r#"{"x":1}"#));
        assert_eq!((read.by_operator, read.duration_micros), (true, 1234));
        assert_eq!(read.git_commit.as_deref(), Some("abc123"));
        assert!(!read.is_begun() && !is_begun(&body(tricky, "{}")));
        assert!(is_begun(&body("{}", r#"{"begun":true}"#)));
        assert_eq!(AuditBody::read("{}"), None);
    }

    #[test]
    fn single_facts_are_found_without_reading_the_rest() {
        let body = body(r#"{"to":"x","byOperator":false}"#, "{}");
        assert_eq!(micros(&body), 1234);
        assert!(is_operators(&body));
        assert!(commit_begins(&body, "abc") && !commit_begins(&body, "bc"));
        assert_eq!(words_of(&body), r#"{"to":"x","byOperator":false},"output":{}}"#);
    }
}
