//! The server is killed under running agents, which go on.

use serde_json::{Value, json};
use testkit::llm::{Script, Turn};

use crate::crowd::{Crowd, wait_for};

fn script(shell: &str, wait: Value) -> Script {
    let inbox = || Turn::call("mail__list_inbox", json!({}));
    Script::new([
        inbox(),
        Turn::call(shell, wait),
        inbox(),
        Turn::call("agent__get_status", json!({})),
        Turn::text("I went on."),
    ])
}

#[tokio::test]
async fn the_server_is_killed_under_claude_and_codex_and_both_go_on() {
    let command = wait_for("go");
    let bash = json!({ "command": command, "description": "wait" });
    let exec = json!({ "cmd": command, "yield_time_ms": 30_000 });
    let scripts = [("claude", script("Bash", bash)), ("codex", script("exec_command", exec))];
    let crowd = Crowd::gather(scripts).await;
    let claude = crowd.draft("claude-worker", "[[script:claude]] Wait, then go on.").await;
    let codex = crowd.draft("codex-worker", "[[script:codex]] Wait, then go on.").await;
    for name in ["claude", "codex"] {
        crowd.llm.reached(name, 1).await.unwrap();
    }
    let crowd = crowd.bounce().await;
    crowd.go("go");
    for (name, agent) in [("claude", &claude), ("codex", &codex)] {
        let end = crowd.ended(agent).await;
        assert_eq!(end["state"], "succeeded", "{name}: {end}");
        assert_eq!(end["result"]["summary"], "I went on.", "{name}: {end}");
        let asked = crowd.llm.asked(name);
        assert_eq!(asked.len(), 5, "{name} was not started twice");
        let results = &asked[4].results;
        assert!(!results[1].contains("rror"), "{name} waited: {results:?}");
        for answered in [&results[0], &results[2]] {
            assert!(answered.contains("unreadCount"), "{name}: {results:?}");
        }
        assert!(results[3].contains(agent.as_str()), "{name}: {results:?}");
    }
    assert_eq!(crowd.agents().await.len(), 2);
}

#[tokio::test]
async fn the_server_is_killed_under_a_claude_that_waits_for_another() {
    let waits = |input: Value| Turn::call("harness__await_agent", input);
    let lead = Script::new([
        Turn::call(
            "harness__draft_agent",
            json!({ "role": "codex-worker", "prompt": "[[script:worker]] Work." }),
        ),
        waits(json!({ "agentId": "{{result.0.agentId}}", "waitSeconds": 5 })),
        waits(json!({ "agentId": "{{result.0.agentId}}" })).behind("the server is back"),
        Turn::text("It said: {{last.result.summary}}"),
    ]);
    let worker = Script::new([Turn::text("Done.").behind("the worker may end")]);
    let crowd = Crowd::gather([("lead", lead), ("worker", worker)]).await;
    let agent = crowd.draft("lead", "[[script:lead]] Lead.").await;
    crowd.llm.reached("lead", 1).await.unwrap();
    crowd.llm.reached("worker", 0).await.unwrap();
    let crowd = crowd.bounce().await;
    crowd.llm.open("the server is back");
    crowd.llm.reached("lead", 2).await.unwrap();
    crowd.llm.open("the worker may end");
    let end = crowd.ended(&agent).await;
    assert_eq!(end["state"], "succeeded", "{end}");
    assert_eq!(end["result"]["summary"], "It said: Done.", "{end}");
}
