//! A provider that refuses the credentials: an agent ends within seconds, and says what to do.

use testkit::llm::{Fault, Script, Turn};

use crate::crowd::Crowd;

#[tokio::test]
async fn an_agent_with_a_wrong_key_ends_and_says_what_to_do() {
    let refusal = Fault::new(401, "authentication_error", "invalid x-api-key");
    let script = Script::new([Turn::text("Never said.").after(refusal)]);
    let crowd = Crowd::gather([("wrong", script)]).await;
    for (role, advice) in [
        ("claude-worker", "claude /login"),
        ("codex-worker", "codex login"),
        ("acp-worker", "log in"),
    ] {
        let agent = crowd.draft(role, "[[script:wrong]] Say something.").await;
        let ended = crowd.ended(&agent).await;
        assert_eq!(ended["state"], "failed", "{role}: {ended}");
        let reason = ended["reason"].as_str().unwrap();
        assert!(reason.contains("refuses its credentials"), "{role}: {reason}");
        assert!(reason.contains(advice), "{role}: {reason}");
        // Claude Code and Codex would go on for minutes and for five more attempts.
        assert!(crowd.llm.asked("wrong").len() <= 12, "{role}");
    }
}
