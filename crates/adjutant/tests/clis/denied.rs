//! A worker may not start agents, whichever way it tries, and nobody those of its own command line.

use serde_json::json;
use testkit::llm::{Script, Turn};

use crate::crowd::{BINARY, Crowd};

#[tokio::test]
async fn a_claude_worker_that_drafts_an_agent_is_refused() {
    let input = json!({ "role": "claude-worker", "prompt": "[[script:child]] Hello." });
    let shell = format!("{BINARY} tool mcp__harness__draft_agent --json --input '{input}' 2>&1");
    let script = Script::new([
        Turn::call("mcp__harness__draft_agent", input),
        Turn::call("Bash", json!({ "command": shell, "description": "draft" })),
        Turn::text("{{last}}"),
    ]);
    let crowd = Crowd::gather([("worker", script), ("child", Script::default())]).await;
    let run = ["run", "--json", "--role", "claude-worker", "[[script:worker]] Draft somebody."];
    let answer = crowd.json(&run).await;
    assert_eq!(answer["state"], "succeeded", "{answer}");

    let asked = crowd.llm.asked("worker");
    assert!(asked[0].tools.iter().any(|tool| tool == "mcp__harness__list_agents"), "{asked:?}");
    assert!(!asked[0].tools.iter().any(|tool| tool.ends_with("draft_agent")), "it is not offered");
    let last = asked.last().unwrap();
    assert!(last.results[0].contains("No such tool"), "{:?}", last.results);
    assert!(last.results[1].contains("PERMISSION_DENIED"), "{:?}", last.results);
    assert!(crowd.llm.asked("child").is_empty());
    assert_eq!(crowd.agents().await.len(), 1);
}

#[tokio::test]
async fn no_command_line_offers_agents_of_its_own() {
    // Codex has other tools for models that it knows.
    let known = ["--model", "gpt-6.1-sol"].as_slice();
    let crowd = Crowd::gather([("one", Script::new([Turn::text("Done.")]))]).await;
    for (role, more) in
        [("claude-worker", [].as_slice()), ("codex-worker", &[]), ("codex-worker", known)]
    {
        let run = [&["run", "--json", "--role", role], more, &["[[script:one]] Look."]].concat();
        let answer = crowd.json(&run).await;
        assert_eq!(answer["state"], "succeeded", "{role}: {answer}");
        let asked = crowd.llm.asked("one");
        let tools = &asked.last().unwrap().tools;
        assert!(!tools.is_empty(), "{role}");
        for own in ["Agent", "Task", "spawn_agent"] {
            let is_own = |tool: &String| tool.rsplit("__").next() == Some(own);
            assert!(!tools.iter().any(is_own), "{role} {more:?} offers {own}: {tools:?}");
        }
    }
}
