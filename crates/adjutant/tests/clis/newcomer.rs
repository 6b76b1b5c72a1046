//! A newcomer's first hour with real command lines: an agent changes a real project and commits, another runs its tests
//! and approves, and a person's approval merges the change once the project's own tests have passed with it.

use std::fs;

use serde_json::{Value, json};
use testkit::llm::{Script, Turn};
use testkit::projects::RealProject;

use crate::crowd::Crowd;

const EDIT: &str = "printf '// Tidied.\\n' >> shlex.go";
const CHECK: &str = "go test ./...";
const SUBJECT: &str = "Tidy the sources";

/// Ways of a kind of agent to run a shell and to commit.
struct Ways {
    front: &'static str,
    shell: fn(&str) -> Turn,
    /// Its sandbox keeps `.git` read-only, so that only the tool commits.
    commits_with_tool: bool,
}

fn bash(command: &str) -> Turn {
    Turn::call("Bash", json!({ "command": command, "description": "work" }))
}

fn exec(command: &str) -> Turn {
    Turn::call("exec_command", json!({ "cmd": command, "yield_time_ms": 30_000 }))
}

fn commit_with_tool() -> Turn {
    Turn::call("git__commit", json!({ "message": SUBJECT }))
}

const CLAUDE: Ways = Ways { front: "agent: claude", shell: bash, commits_with_tool: false };
const CODEX: Ways =
    Ways { front: "agent: codex\nmodel: scripted", shell: exec, commits_with_tool: true };
const ACP: Ways =
    Ways { front: "agent: acp\nacp: [claude-agent-acp]", shell: bash, commits_with_tool: false };

#[tokio::test]
async fn claude_code_makes_the_first_change_of_a_project() {
    first_change(CLAUDE).await;
}

#[tokio::test]
async fn codex_makes_the_first_change_of_a_project() {
    first_change(CODEX).await;
}

#[tokio::test]
async fn an_acp_agent_makes_the_first_change_of_a_project() {
    first_change(ACP).await;
}

#[tokio::test]
async fn codex_commits_with_the_tool_and_asks_for_a_review() {
    let ask = json!({ "reviewer_prompt": "[[script:critic]] Look." });
    let coder = Script::new([
        exec(EDIT),
        // What git itself may not do, the tool does.
        exec(&format!("git commit -qam '{SUBJECT}' || echo it is refused")),
        commit_with_tool(),
        Turn::call("review__request_review", ask),
        Turn::text("I wait."),
    ]);
    let crowd = newcomer(CODEX, coder, "person").await;
    let ran = run(&crowd).await;
    assert_eq!(ran["taskState"], "review", "{ran}");
    let results = crowd.llm.asked("coder").last().unwrap().results.clone();
    assert!(results[1].contains("it is refused"), "{results:?}");
    let log = crowd.world.shell(&format!("git log --format=%an:%s main..{}", branch(&ran))).await;
    let log = log.unwrap().ok().unwrap().stdout;
    assert!(log.ends_with(&format!(":{SUBJECT}\n")) && log.lines().count() == 1, "{log}");
    let reviews = crowd.json(&["reviews", "--all", "--json"]).await;
    assert_eq!(reviews["reviews"][0]["state"], "approved", "{reviews}");
}

fn branch(ran: &Value) -> &str {
    ran["branch"].as_str().unwrap()
}

async fn run(crowd: &Crowd) -> Value {
    let ran = crowd.json(&["run", "--json", "--role", "coder", "[[script:coder]] Tidy it."]).await;
    assert_eq!(ran["state"], "succeeded", "{ran}");
    ran
}

/// A real project, with a coder and a reviewer of one kind.
async fn newcomer(ways: Ways, coder: Script, required: &str) -> Crowd {
    let feedback = json!({ "feedback": "I ran its tests.", "feedback_type": "approved" });
    let critic = Script::new([
        (ways.shell)("ls shlex.go"),
        Turn::call("review__send_feedback", feedback),
        Turn::text("Approved."),
    ]);
    let crowd = Crowd::gather([("coder", coder), ("critic", critic)]).await;
    let (project, home) = (crowd.world.project(), crowd.world.home());
    RealProject::Go.lay_out(&project).unwrap();
    let begin = "echo .adjutant >> .gitignore && git init -q -b main && git config user.name Crew
        git config user.email crew@localhost && git add -A && git commit -q -m Import";
    crowd.world.shell(begin).await.unwrap().ok().unwrap();
    let text = fs::read_to_string(home.join("config.yaml")).unwrap();
    // JSON is YAML.
    let mut config: Value = serde_json::from_str(&text).unwrap();
    config["check"] = json!(CHECK);
    config["review"] = json!({ "required": required });
    fs::write(home.join("config.yaml"), config.to_string()).unwrap();
    fs::write(home.join("review.md"), "[[script:critic]] Look at it.\n").unwrap();
    for (role, category) in [("coder", "coding\nworktree: fresh"), ("reviewer", "review")] {
        let front = ways.front;
        let text = format!(
            "---\nname: {role}\ncategory: {category}\n{front}\ntimeout: 150\n---\nDo as you are told.\n"
        );
        fs::write(home.join("roles").join(format!("{role}.md")), text).unwrap();
    }
    crowd.world.run(&["reload"]).await.unwrap().ok().unwrap();
    crowd
}

async fn first_change(ways: Ways) {
    let mut turns = Vec::new();
    if ways.commits_with_tool {
        turns.extend([(ways.shell)(EDIT), commit_with_tool()]);
    } else {
        turns.push((ways.shell)(&format!("{EDIT} && git commit -qam '{SUBJECT}'")));
    }
    turns.push(Turn::text("Tidied."));
    let crowd = newcomer(ways, Script::new(turns), "agent").await;
    let ran = run(&crowd).await;
    assert_eq!(ran["taskState"], "review", "{ran}");
    let reviews = crowd.json(&["reviews", "--all", "--json"]).await;
    assert_eq!(reviews["reviews"][0]["feedback"]["body"], "I ran its tests.", "{reviews}");
    crowd.world.run(&["review", "approve", "TAS-1"]).await.unwrap().ok().unwrap();
    let task = crowd.json(&["tasks", "show", "TAS-1", "--json"]).await;
    assert_eq!(task["storedState"], "completed", "{task}");
    let last = crowd.world.shell("git show main:shlex.go | tail -n 1").await.unwrap().ok().unwrap();
    assert_eq!(last.stdout.trim(), "// Tidied.");
}
