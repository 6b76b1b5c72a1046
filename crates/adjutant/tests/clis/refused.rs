//! A provider that refuses the credentials: an agent ends after few requests, and says what to do.

use testkit::llm::{Fault, Script, Turn};

use crate::crowd::Crowd;

/// Most requests before an agent ends: two refusals decide, and one more may go out while it is being ended. Claude Code
/// alone makes eleven, over three minutes, and Codex six.
const MAX_REQUESTS: usize = 3;

#[tokio::test]
async fn claude_code_with_a_wrong_key_ends_after_few_requests_and_says_what_to_do() {
    ends_and_says_what_to_do("claude-worker", "claude /login").await;
}

#[tokio::test]
async fn codex_with_a_wrong_key_ends_after_few_requests_and_says_what_to_do() {
    ends_and_says_what_to_do("codex-worker", "codex login").await;
}

#[tokio::test]
async fn an_acp_agent_with_a_wrong_key_ends_after_few_requests_and_says_what_to_do() {
    ends_and_says_what_to_do("acp-worker", "log in").await;
}

async fn ends_and_says_what_to_do(role: &str, advice: &str) {
    let refusal = Fault::new(401, "authentication_error", "invalid x-api-key");
    let script = Script::new([Turn::text("Never said.").after(refusal)]);
    let crowd = Crowd::gather([("wrong", script)]).await;
    let agent = crowd.draft(role, "[[script:wrong]] Say something.").await;
    let ended = crowd.ended(&agent).await;
    assert_eq!(ended["state"], "failed", "{ended}");
    let reason = ended["reason"].as_str().unwrap();
    assert!(reason.contains("refuses its credentials"), "{reason}");
    assert!(reason.contains(advice), "{reason}");
    let requests = crowd.llm.asked("wrong").len();
    assert!((1..=MAX_REQUESTS).contains(&requests), "{requests} requests");
}
