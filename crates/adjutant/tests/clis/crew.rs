//! Real Claude Code leads a real Codex and a real ACP agent.

use serde_json::{Value, json};
use testkit::llm::{Script, Turn, Usage};

use crate::crowd::Crowd;

fn usage(input: u64, output: u64) -> Usage {
    Usage { input, output, cached: 0 }
}

fn draft(role: &str, prompt: &str) -> Turn {
    Turn::call("harness__draft_agent", json!({ "role": role, "prompt": prompt }))
}

fn worker(last: &str) -> Script {
    let look = Turn::call("agent__get_status", json!({})).usage(usage(1000, 100));
    Script::new([look, Turn::text(last).usage(usage(2000, 200))])
}

#[tokio::test]
async fn claude_code_drafts_codex_and_acp_awaits_both_and_kills_a_third() {
    let wait = |number: usize| json!({ "agentId": format!("{{{{result.{number}.agentId}}}}") });
    let lead = Script::new([
        draft("codex-worker", "[[script:codex]] Do one thing.").usage(usage(5000, 500)),
        draft("acp-worker", "[[script:acp]] Do another."),
        // Two that begin at the same moment in a new home get into each other's way: that is Codex's own affair.
        draft("codex-worker", "[[script:idle]] Do nothing.").behind("the first runs"),
        Turn::call("harness__await_agent", wait(0)),
        Turn::call("harness__await_agent", wait(1)),
        Turn::call("harness__kill_agent", wait(2)).behind("the third runs"),
        Turn::text("Both are done: {{result.3.result.summary}} {{result.4.result.summary}}"),
    ]);
    let idle = Script::new([Turn::text("Too late.").behind("never")]);
    let scripts = [
        ("lead", lead),
        ("codex", worker("Codex was here.")),
        ("acp", worker("ACP was here.")),
        ("idle", idle),
    ];
    let crowd = Crowd::gather(scripts).await;
    let run = ["run", "--json", "--role", "lead", "[[script:lead]] Lead."];
    let opens = async {
        crowd.llm.reached("codex", 0).await.unwrap();
        crowd.llm.open("the first runs");
        crowd.llm.reached("idle", 0).await.unwrap();
        crowd.llm.open("the third runs");
    };
    let (answer, ()) = tokio::join!(crowd.json(&run), opens);

    assert_eq!(answer["state"], "succeeded", "{answer}");
    let summary = &answer["result"]["summary"];
    assert_eq!(summary, "Both are done: Codex was here. ACP was here.", "{answer}");
    // The first turn: 5,000 tokens at $3 and 500 at $15 a million.
    assert!(answer["costUsd"].as_f64().unwrap() > 0.0225, "{answer}");

    let agents = crowd.agents().await;
    let facts = |agent: &Value| {
        ["role", "kind", "state"].map(|key| agent[key].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(
        agents.iter().map(facts).collect::<Vec<_>>(),
        [
            ["lead", "claude", "succeeded"],
            ["codex-worker", "codex", "succeeded"],
            ["acp-worker", "acp", "succeeded"],
            ["codex-worker", "codex", "killed"],
        ]
    );
    let lead = &agents[0]["id"];
    assert!(agents[1..].iter().all(|agent| agent["parentId"] == *lead), "{agents:?}");
    // Codex does not say what it costs: 3,000 tokens at $2 and 300 at $10, from the table.
    let cost = |agent: &Value| agent["costUsd"].as_f64();
    assert_eq!(cost(&agents[1]), Some(0.009), "{agents:?}");
    // The adapter says it itself, with the prices of Claude Code: at least 3,000 at $3 and 300 at $15.
    assert!(cost(&agents[2]).unwrap() >= 0.0135, "{agents:?}");

    let costs = crowd.json(&["costs", "--json"]).await;
    let row = |role: &str| costs["rows"].as_array().unwrap().iter().find(|row| row["key"] == role);
    let tokens = |role: &str| {
        let tokens = &row(role).unwrap()["tokens"];
        ["input", "output"].map(|key| tokens[key].as_u64().unwrap())
    };
    // Six turns of 100 and 20 beside the first.
    assert_eq!(tokens("lead"), [5600, 620], "{costs}");
    assert_eq!(tokens("codex-worker"), [3000, 300], "{costs}");
    // The adapter may ask the model for a title beside.
    let [input, output] = tokens("acp-worker");
    assert!(input >= 3000 && output >= 300, "{costs}");
}
