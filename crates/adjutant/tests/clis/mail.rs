//! Mail reaches a running agent in the middle of its turn.

use serde_json::{Value, json};
use testkit::llm::{ModelRequest, Script, Turn};

use crate::crowd::{Crowd, wait_for};

/// In how many steps at most the notice must arrive.
const STEPS: usize = 20;

#[tokio::test]
async fn mail_reaches_a_running_claude_in_mid_turn() {
    let wait = |file: &str| json!({ "command": wait_for(file), "description": "wait" });
    let (id, noticed) = notice("claude-worker", "Bash", wait).await;
    // Claude Code puts it into the answer of the tool that was running.
    assert!(noticed.results.last().unwrap().contains(&id), "{noticed:?}");
}

#[tokio::test]
async fn mail_reaches_a_running_codex_in_mid_turn() {
    let wait = |file: &str| json!({ "cmd": wait_for(file), "yield_time_ms": 30_000 });
    let (id, noticed) = notice("codex-worker", "exec_command", wait).await;
    assert!(noticed.user.last().unwrap().contains(&id), "{noticed:?}");
}

#[tokio::test]
async fn mail_reaches_a_running_acp_agent_in_mid_turn() {
    let wait = |file: &str| json!({ "command": wait_for(file), "description": "wait" });
    let (id, noticed) = notice("acp-worker", "Bash", wait).await;
    let heard = noticed.results.iter().chain(&noticed.user);
    assert!(heard.into_iter().any(|text| text.contains(&id)), "{noticed:?}");
}

/// Mails an agent that runs one command after the other, and returns the mail's id and the first request after that
/// in which its model hears of it.
async fn notice(role: &str, shell: &str, wait: impl Fn(&str) -> Value) -> (String, ModelRequest) {
    let step = |number: usize| Turn::call(shell, wait(&format!("go-{number}")));
    let script = Script::new((0..STEPS).map(step)).then_always(Turn::text("Done."));
    let crowd = Crowd::gather([("waits", script)]).await;
    let agent = crowd.draft(role, "[[script:waits]] Work for a while.").await;
    crowd.llm.reached("waits", 0).await.unwrap();

    let letter = json!({ "toAgentId": agent, "subject": "News", "body": "Only in the letter" });
    let send = ["tool", "mail_send", "--json", "--input", &letter.to_string()];
    let mail = crowd.world.run(&send).await.unwrap().ok().unwrap().json().unwrap();
    let id = mail["mailId"].as_str().unwrap().to_owned();

    // With which step it comes is up to the agent.
    let mut noticed = None;
    for number in 0..STEPS {
        crowd.go(&format!("go-{number}"));
        if noticed.is_none() {
            let asked = crowd.llm.reached("waits", number + 1).await.unwrap();
            noticed = Some(asked).filter(|asked| asked.mentions(&id));
        }
    }
    let noticed = noticed.expect("a notice");
    assert!(!noticed.mentions("Only in the letter"), "a notice has no body: {noticed:?}");
    assert_eq!(crowd.ended(&agent).await["state"], "succeeded");
    (id, noticed)
}
