//! Real Claude Code writes in a worktree, is reviewed by another command line, ends its turn meanwhile, and goes
//! on with the same conversation when the feedback is there.

use serde_json::json;
use testkit::llm::{Script, Turn};

use crate::crowd::Crowd;

const REPOSITORY: &str = "git init -q -b main && git config user.name Crew && git config user.email c@localhost \
    && echo .adjutant > .gitignore && git add -A && git commit -q -m Begin";

#[tokio::test]
async fn claude_code_is_reviewed_by_itself_and_goes_on_with_the_feedback() {
    is_reviewed("agent: claude").await;
}

#[tokio::test]
async fn claude_code_is_reviewed_by_codex_and_goes_on_with_the_feedback() {
    is_reviewed("agent: codex\nmodel: scripted").await;
}

async fn is_reviewed(by: &str) {
    let run = |command: &str| Turn::call("Bash", json!({ "command": command }));
    let coder = Script::new([
        run("echo one > feature.txt && git add feature.txt && git commit -qm 'Add it'"),
        Turn::call(
            "review__request_review",
            json!({ "reviewer_prompt": "[[script:critic]] Look." }),
        ),
        Turn::text("I wait."),
        run("cat REVIEW_FEEDBACK.md && echo two > feature.txt && git commit -qam 'Mend it'"),
        Turn::text("Mended: {{last}}"),
    ]);
    let feedback = json!({ "feedback": "It says one and not two.", "feedback_type": "needs_work" });
    let critic = Script::new([
        Turn::call("review__send_feedback", feedback).behind("the coder has ended its turn"),
        Turn::text("I have said it."),
    ]);
    let crowd = Crowd::gather([("coder", coder), ("critic", critic)]).await;
    crowd.world.shell(REPOSITORY).await.unwrap().ok().unwrap();
    for (name, rest) in [
        ("coder", "category: coding\nagent: claude"),
        ("reviewer", &format!("category: review\n{by}")),
    ] {
        let text = format!("---\nname: {name}\n{rest}\ntimeout: 150\n---\nDo as you are told.\n");
        std::fs::write(crowd.world.home().join("roles").join(format!("{name}.md")), text).unwrap();
    }
    crowd.world.run(&["reload"]).await.unwrap().ok().unwrap();
    let agent = crowd.draft("coder", "[[script:coder]] Write it.").await;
    crowd.llm.reached("critic", 0).await.unwrap();
    let first = crowd.world.state_dir().join("runs").join(&agent).join("1/exit.json");
    let mut look = tokio::time::interval(std::time::Duration::from_millis(10));
    while !first.exists() {
        look.tick().await;
    }
    crowd.llm.open("the coder has ended its turn");
    let over = crowd.ended(&agent).await;
    assert_eq!(over["state"], "succeeded", "{over}");
    let summary = over["result"]["summary"].as_str().unwrap();
    assert!(
        summary.starts_with("Mended:") && summary.contains("It says one and not two."),
        "{over}"
    );
    // One conversation: its second process is asked with all that was said to the first.
    let asked = crowd.llm.asked("coder");
    assert!(asked.last().unwrap().user.iter().any(|said| said.contains("Write it.")), "{asked:?}");
    let log = crowd
        .world
        .shell(&format!("git log --format=%s --first-parent main..adjutant/{agent}"))
        .await;
    let log = log.unwrap().stdout;
    let subjects: Vec<&str> = log.lines().collect();
    assert_eq!((subjects[0], subjects[2]), ("Mend it", "Add it"), "{log}");
    assert!(subjects[1].starts_with("Merge feedback of"), "{log}");
}
