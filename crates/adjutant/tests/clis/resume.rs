//! A conversation is gone on with by a new agent, which pays only for itself.

use testkit::llm::{Script, Turn, Usage};

use crate::crowd::Crowd;

#[tokio::test]
async fn a_claude_conversation_is_resumed() {
    // 1,000 tokens at $3 and 100 at $15 a million; then twice that.
    is_resumed("claude-worker", [0.0045, 0.009]).await;
}

#[tokio::test]
async fn a_codex_conversation_is_resumed() {
    // The same at $2 and $10.
    is_resumed("codex-worker", [0.003, 0.006]).await;
}

async fn is_resumed(role: &str, costs: [f64; 2]) {
    let script = Script::new([
        Turn::text("One.").usage(Usage { input: 1000, output: 100, cached: 0 }),
        Turn::text("Two.").usage(Usage { input: 2000, output: 200, cached: 0 }),
    ]);
    let crowd = Crowd::gather([("talk", script)]).await;
    let first = crowd.json(&["run", "--json", "--role", role, "[[script:talk]] Begin."]).await;
    let id = first["agentId"].as_str().unwrap();
    let second = crowd.json(&["resume", "--json", id, "Go on, please."]).await;

    assert_ne!(second["agentId"], first["agentId"]);
    for (answer, (summary, cost)) in
        [&first, &second].into_iter().zip(["One.", "Two."].into_iter().zip(costs))
    {
        assert_eq!(answer["state"], "succeeded", "{answer}");
        assert_eq!(answer["result"]["summary"], summary, "{answer}");
        assert_eq!(answer["costUsd"], cost, "{answer}");
    }
    let asked = crowd.llm.asked("talk");
    let last = asked.last().unwrap();
    assert_eq!((asked.len(), last.turn), (2, 1), "{asked:?}");
    assert!(last.user.iter().any(|said| said.contains("Begin.")), "{last:?}");
    assert!(last.user.last().unwrap().contains("Go on, please."), "{last:?}");
}
