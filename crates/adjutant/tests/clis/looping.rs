//! A loop over real Claude Code through ACP.

use serde_json::{Value, json};
use testkit::llm::{Fault, Script, Turn};

use crate::crowd::Crowd;

/// An iteration that takes a task, does it, notes it, and sums up.
fn work(number: u32) -> Script {
    Script::new([
        Turn::call("session__task-next", json!({ "claim": true })),
        Turn::call(
            "session__task-update",
            json!({ "id": "{{result.0.task.id}}", "status": "completed" }),
        ),
        Turn::call(
            "session__note-add",
            json!({ "notes": [{ "content": format!("learnt in {number}"), "type": "learning" }] }),
        ),
        Turn::call(
            "session__iteration-summary",
            json!({ "summary": format!("Did number {number}") }),
        ),
        Turn::text("Done."),
    ])
}

fn tasks(many: u32) -> Value {
    let tasks: Vec<Value> = (1..=many).map(|n| json!({ "content": format!("Part {n}") })).collect();
    json!({ "tasks": tasks })
}

#[tokio::test]
async fn a_loop_of_ten_iterations_over_claude_code_through_acp() {
    let mut scripts = vec![(
        "plan".to_owned(),
        Script::new([
            Turn::call("session__task-add", tasks(8)),
            Turn::call("session__iteration-summary", json!({ "summary": "Planned" })),
            Turn::text("Planned."),
        ]),
    )];
    for number in 1..=10 {
        let script = match number {
            // The fourth fails, the sixth works while the server is killed, the tenth declares it complete.
            4 => Script::new([Turn::text("Never said.").after(Fault::new(
                400,
                "invalid_request_error",
                "the model is out of words",
            ))]),
            6 => Script::new([
                Turn::call("session__task-next", json!({ "claim": true })),
                Turn::call(
                    "session__task-update",
                    json!({ "id": "{{result.0.task.id}}", "status": "completed" }),
                )
                .behind("the server is back"),
                Turn::text("Done."),
            ]),
            10 => Script::new([
                Turn::call("session__session-complete", json!({})),
                Turn::call("session__iteration-summary", json!({ "summary": "All is built" })),
                Turn::text("Done."),
            ]),
            number => work(number),
        };
        scripts.push((format!("w{number}"), script));
    }
    let named: Vec<(&str, Script)> =
        scripts.iter().map(|(name, script)| (name.as_str(), script.clone())).collect();
    let crowd = Crowd::gather(named).await;
    let project = crowd.world.project();
    std::fs::write(project.join("SPEC.md"), "[[script:plan]] Build a house.\n").unwrap();
    let template = "[[script:w{{iteration}}]] Iteration {{iteration}}.\n\n{{tasks}}\n\n{{notes}}\n\n{{history}}\n";
    std::fs::write(project.join("loop.md"), template).unwrap();
    let start = [
        "loop",
        "house",
        "--spec",
        "SPEC.md",
        "--iterations",
        "20",
        "--role",
        "acp-worker",
        "--template",
        "loop.md",
        "--detach",
        "--json",
    ];
    let started = crowd.json(&start).await;
    assert_eq!(started["state"], "running", "{started}");
    crowd.llm.reached("w6", 1).await.unwrap();
    let crowd = crowd.bounce().await;
    crowd.llm.open("the server is back");
    let whole = crowd.json(&["loop", "follow", "house", "--json"]).await;
    assert_eq!(whole["loop"]["state"], "completed", "{whole}");
    let iterations = whole["iterations"].as_array().unwrap();
    let numbers: Vec<u64> =
        iterations.iter().rev().map(|it| it["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..=10).collect::<Vec<u64>>());
    let states: Vec<&str> =
        iterations.iter().rev().map(|it| it["state"].as_str().unwrap()).collect();
    for (number, state) in states.iter().enumerate() {
        assert_eq!(*state, if number == 4 { "failed" } else { "succeeded" }, "{number}: {whole}");
    }
    assert_eq!(whole["loop"]["tasks"]["completed"], 8, "{whole}");
    assert_eq!(crowd.agents().await.len(), 11, "no iteration had two agents");
    // The planning was shown three tools of the session's and no others of ours.
    let planning = &crowd.llm.asked("plan")[0];
    assert!(planning.mentions("Plan the work of the loop"), "{planning:?}");
    let recovering = &crowd.llm.asked("w5")[0];
    assert!(recovering.mentions("Recover first") && recovering.mentions("Iteration 4"));
    let ninth = &crowd.llm.asked("w9")[0];
    assert!(ninth.mentions("learnt in 8") && ninth.mentions("Did number 3"), "{ninth:?}");
}
