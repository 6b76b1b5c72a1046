//! Small stories in which every command has something to say.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::World;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::Taken;
use crate::BINARY;
use crate::crew::{role, scene, settled, until};
use crate::kill::{answer, ended, until_is};

/// How long something may take that must happen.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn without_a_server() {
    let mut taken = Taken::new("alone");
    let world = World::bare(BINARY).unwrap();
    let project = world.project().display().to_string();
    for _ in 0..2 {
        taken.take_one(&world, "init", &["init", "--home", &project]).await;
    }
    taken.take_one(&world, "tool", &["tool"]).await;
    taken.take_one(&world, "config get", &["config", "get", "limits"]).await;
    taken.take_one(&world, "config set", &["config", "set", "limits.depth", "4"]).await;
    taken.take_one(&world, "config unset", &["config", "unset", "limits.depth"]).await;
    taken.take_one(&world, "config path", &["config", "path"]).await;
    taken.take_one(&world, "doctor", &["doctor"]).await;
    for verb in ["install", "uninstall"] {
        let typed = ["mcp", verb, "--client", "claude", "--yes"];
        taken.take_one(&world, &format!("mcp {verb}"), &typed).await;
    }
    taken.hold();
}

/// Speaks as Claude Code does, so that its conversation can be gone on with.
const CLAUDE: &str = r#"#!/bin/sh
read -r first
echo '{"type":"system","subtype":"init","session_id":"s-1","model":"m","mcp_servers":[]}'
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"ok","session_id":"s-1","total_cost_usd":0.01}'
"#;

/// A project with agents that need no model.
async fn crew() -> World {
    let mut world = crate::world().await;
    let command = |script: &str| {
        format!("agent: command\ncommand: {}\nworktree: none", json!(["sh", "-c", script]))
    };
    let usage =
        r#"{"adjutant":{"usage":{"input_tokens":1000,"output_tokens":50,"cost_usd":0.25}}}"#;
    let result = r#"{"status":"success","summary":"Mended it","changes":["a.rs"],"issues":["slow"],"questions":["why?"]}"#;
    let mends = format!("cat > /dev/null; echo oops >&2; echo '{usage}'; echo '{result}'");
    role(&world, "mender", &command(&mends));
    role(&world, "loser", &command("echo 'No luck'; exit 3"));
    role(&world, "sleeper", &command("sleep 600"));
    let claude = world.project().join("claude");
    fs::write(&claude, CLAUDE).unwrap();
    world.shell("chmod +x claude").await.unwrap().ok().unwrap();
    world.set("ADJUTANT_AGENTS_CLAUDE_BINARY", claude.display().to_string());
    world
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_else(|| panic!("no `{field}` in {value}")).to_owned()
}

#[tokio::test]
async fn a_crew_at_work() {
    let mut taken = Taken::new("crew");
    let world = crew().await;
    taken.take_one(&world, "up", &["up", "--detach"]).await;
    taken.take_one(&world, "status", &["status"]).await;
    taken.take_one(&world, "token", &["token"]).await;
    runs(&mut taken, &world).await;
    letters(&mut taken, &world).await;
    record(&mut taken, &world).await;
    taken.take_one(&world, "open", &["open"]).await;
    let shared = taken.take_one(&world, "open", &["open", "--read-only"]).await;
    taken.take_one(&world, "open --links", &["open", "--links"]).await;
    taken.take_one(&world, "open --revoke", &["open", "--revoke", &text(&shared, "id")]).await;
    fs::write(world.home().join("roles/broken.md"), "---\nname: broken\ncategory: none\n---\n")
        .unwrap();
    taken.take_one(&world, "reload", &["reload"]).await;
    errors(&mut taken, &world).await;
    taken.take_one(&world, "down", &["down", "--kill"]).await;
    taken.take_one(&world, "down", &["down"]).await;
    taken.hold();
}

/// Agents that Adjutant runs, and how they end.
async fn runs(taken: &mut Taken, world: &World) {
    taken.take_one(world, "run", &["run", "--role", "mender", "Mend it"]).await;
    taken.take_one(world, "run", &["run", "--role", "loser", "Try"]).await;
    for role in ["mender", "loser"] {
        let drafted = taken.take_one(world, "draft", &["draft", "--role", role, "Do it"]).await;
        taken.take(world, "await", &["await", &text(&drafted, "agentId")]).await;
    }
    let sleeper = answer(world, &["draft", "--role", "sleeper", "Sleep"]).await;
    let sleeper = text(&sleeper, "agentId");
    until_is(world, &sleeper, "running").await;
    taken.take(world, "await", &["await", &sleeper, "--timeout", "0"]).await;
    taken.take(world, "kill", &["kill", &sleeper]).await;
    let talker = answer(world, &["run", "--kind", "claude", "Talk"]).await;
    let talker = text(&talker, "agentId");
    taken.take_one(world, "resume", &["resume", &talker]).await;
    let typed = ["resume", &talker, "More", "--detach"];
    let later = taken.take_one(world, "resume --detach", &typed).await;
    ended(world, &text(&later, "agentId")).await;
    let lead = taken.take_one(world, "enlist", &["enlist", "--role", "worker"]).await;
    let typed = ["enlist", "--role", "worker", "--parent", &text(&lead, "agentId")];
    let child = taken.take_one(world, "enlist", &typed).await;
    taken.take_one(world, "ps", &["ps"]).await;
    taken.take_one(world, "ps", &["ps", "--all"]).await;
    taken.take_one(world, "discharge", &["discharge", &text(&child, "agentId")]).await;
    let mender = crate::crew::crew(world).await.remove(0);
    taken.take(world, "logs", &["logs", &text(&mender, "id")]).await;
    for by in ["role", "agent"] {
        taken.take_one(world, "costs", &["costs", "--by", by]).await;
    }
    taken.take_one(world, "costs", &["costs", "--since", "7d"]).await;
}

/// Mail, and what agents decide.
async fn letters(taken: &mut Taken, world: &World) {
    let worker = world.enlist("worker", &[]).await.unwrap();
    let send = ["tool", "mail_send", "--to-human", "--subject", "Hi", "--body", "there"];
    world.run_as(&worker, &send).await.unwrap().ok().unwrap();
    let decide = ["tool", "system_log_decision", "--title", "SQLite", "--body", "It is enough"];
    world.run_as(&worker, &decide).await.unwrap().ok().unwrap();
    let unknown = ["tool", "mail_read", "--mail-id", "mail_0000000000000000"];
    assert_eq!(world.run(&unknown).await.unwrap().code, Some(4));
    let inbox = taken.take_one(world, "mail", &["mail"]).await;
    let mail = text(&inbox["mails"][0], "id");
    taken.take_one(world, "mail read", &["mail", "read", &mail]).await;
    taken.take_one(world, "mail", &["mail", "--all"]).await;
    taken.take_one(world, "mail reply", &["mail", "reply", &mail, "Go ahead"]).await;
    let typed = ["mail", "send", "--to", &worker.id, "--subject", "Stop", "Wait"];
    taken.take_one(world, "mail send", &typed).await;
    let typed = ["tool", "mail_send", "--to-human", "--subject", "Note", "--body", "to myself"];
    taken.take_one(world, "tool NAME", &typed).await;
    taken.take_one(world, "costs --tools", &["costs", "--tools"]).await;
}

/// What is written down of it.
async fn record(taken: &mut Taken, world: &World) {
    let told = taken.take_one(world, "events", &["events", "--after", "0", "-n", "500"]).await;
    let mut child = world
        .command(&["events", "--follow", "--after", "0", "--json"])
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in told["events"].as_array().unwrap() {
        let line = lines.next_line().await.unwrap().unwrap();
        taken.see("events --follow", &line);
    }
    drop(child);
    taken.take_one(world, "decisions", &["decisions", "--all"]).await;
    taken.take_one(world, "audit", &["audit"]).await;
    taken.take_one(world, "audit list", &["audit", "list"]).await;
    let export = taken.take(world, "audit export", &["audit", "export"]).await;
    taken.take_one(world, "audit export FILE", &["audit", "export", "record.jsonl"]).await;
    taken.take_one(world, "audit verify", &["audit", "verify"]).await;
    taken.take_one(world, "audit verify", &["audit", "verify", "record.jsonl"]).await;
    fs::write(world.project().join("forged.jsonl"), export.replace("Note", "Nota")).unwrap();
    taken.take_one(world, "audit verify", &["audit", "verify", "forged.jsonl"]).await;
}

/// What goes wrong, on stderr.
async fn errors(taken: &mut Taken, world: &World) {
    let cases: [&[&str]; 6] = [
        &["tsaks"],
        &["tool", "mail_sned"],
        &["tool", "mail_read", "--mail-id", "mail_0000000000000000"],
        &["ps", "--home", "/nowhere"],
        &["tool", "agent_get_status", "--as", "sp_0000000000000000"],
        &["config", "set", "limits.depth", "many"],
    ];
    for typed in cases {
        let ran = world.run(&[typed, &["--json"]].concat()).await.unwrap();
        assert_eq!((ran.stdout.as_str(), ran.stderr.lines().count()), ("", 1), "{ran:?}");
        taken.see("errors", &ran.stderr);
    }
}

#[tokio::test]
async fn work_that_is_reviewed_and_merged() {
    let mut taken = Taken::new("work");
    let world = crate::review_faces::stage(&[("ADJUTANT_REVIEW_MAX_ITERATIONS", "1")]).await;
    let set = async |check: &str| {
        world.run(&["config", "set", "check", check]).await.unwrap().ok().unwrap();
    };
    let _server = world.up().await.unwrap();
    // Work that a reviewer sends back, of a coder that is given up afterwards.
    let coder = crate::kill::draft(&world, "coder", "reviewed").await;
    until_is(&world, &coder, "waiting_review").await;
    taken.take_one(&world, "reviews", &["reviews"]).await;
    taken.take_one(&world, "worktrees", &["worktrees"]).await;
    fs::write(world.home().join("go"), "").unwrap();
    let told = world.home().join("told");
    until("the coder has heard of it", || told.exists()).await;
    taken.take_one(&world, "reviews", &["reviews", "--all"]).await;
    taken.take_one(&world, "review show", &["review", "show", &coder]).await;
    taken.take_one(&world, "review allow-more", &["review", "allow-more", &coder]).await;
    let typed = ["review", "abandon", &coder, "--reason", "another way"];
    taken.take_one(&world, "review abandon", &typed).await;
    ended(&world, &coder).await;

    // Work that waits for approval: sent back, held, merged.
    let typed = ["epic", "create", "Words", "--description", "All of them"];
    let epic = text(&taken.take_one(&world, "epic create", &typed).await, "id");
    for (title, before) in [("file one", ""), ("file two", "file-one"), ("file broken", "")] {
        let slug = title.replace(' ', "-");
        let mut typed = vec!["tasks", "add", title, "--slug", &slug, "--epic", &epic];
        if !before.is_empty() {
            typed.extend(["--depends-on", before, "--description", "More"]);
        }
        taken.take_one(&world, "tasks add", &typed).await;
    }
    taken.take_one(&world, "epic list", &["epic", "list"]).await;
    taken.take_one(&world, "epic show", &["epic", "show", &epic]).await;
    for title in ["file one", "file broken"] {
        let slug = title.replace(' ', "-");
        let typed = ["run", "--role", "coder", "--task", &slug, title];
        world.run(&typed).await.unwrap().ok().unwrap();
    }
    taken.take_one(&world, "reviews", &["reviews"]).await;
    let change = ["review", "request-changes", "file-broken", "Say more"];
    taken.take_one(&world, "review request-changes", &change).await;
    set("/nowhere/check").await;
    taken.take_one(&world, "review approve", &["review", "approve", "file-one"]).await;
    let queue = taken.take_one(&world, "merge-queue", &["merge-queue"]).await;
    set("true").await;
    let merge = text(&queue["merges"][0], "id");
    taken.take_one(&world, "merge-queue retry", &["merge-queue", "retry", &merge]).await;
    merged(&world, "file-one").await;
    taken.take_one(&world, "merge-queue", &["merge-queue", "--all"]).await;
    settled(&world).await;
    taken.take_one(&world, "worktrees", &["worktrees", "--all"]).await;
    taken.take_one(&world, "worktrees prune", &["worktrees", "prune", "--ended"]).await;
    taken.take_one(&world, "worktrees check", &["worktrees", "check"]).await;
    crate::crew::sh(&world, "git branch adjutant/nobody main").await;
    taken.take_one(&world, "worktrees check", &["worktrees", "check"]).await;
    taken.take_one(&world, "tasks", &["tasks"]).await;
    for task in ["file-one", "file-two", "file-broken"] {
        taken.take_one(&world, "tasks show", &["tasks", "show", task]).await;
    }
    taken.hold();
}

/// Waits until a task's work is merged.
async fn merged(world: &World, slug: &str) {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while answer(world, &["tasks", "show", slug]).await["state"] != "DONE" {
        let now = answer(world, &["merge-queue", "--all"]).await;
        if now["merges"][0]["state"] == "merged" {
            return;
        }
        assert!(tokio::time::Instant::now() < deadline, "{now}");
    }
}

#[tokio::test]
async fn webhooks_and_what_they_did_not_take() {
    use testkit::{Reaction, Receiver};
    let mut taken = Taken::new("webhooks");
    let mut world = crate::world().await;
    let receiver = Receiver::start().await.unwrap();
    receiver.react(|_| Reaction::With(500, Vec::new(), "out of order".to_owned()));
    world.set("HOOK_KEY", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    let url = receiver.url("/it");
    let hook = format!(
        "[{{name: it, url: '{url}', secretVariable: HOOK_KEY, kinds: [task.*], attempts: 1}}]"
    );
    world.run(&["config", "set", "webhooks", &hook]).await.unwrap().ok().unwrap();
    let _server = world.up().await.unwrap();
    taken.take_one(&world, "webhooks", &["webhooks"]).await;
    for title in ["One", "Two"] {
        world.run(&["tasks", "add", title]).await.unwrap().ok().unwrap();
    }
    let until_dead = async |number: u64| {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let hooks = answer(&world, &["webhooks"]).await;
            let hook = &hooks["webhooks"][0];
            if hook["dead"] == number && hook["pending"] == 0 {
                return;
            }
            assert!(tokio::time::Instant::now() < deadline, "{hook}");
        }
    };
    until_dead(2).await;
    taken.take_one(&world, "webhooks", &["webhooks"]).await;
    let dead = taken.take_one(&world, "webhooks dead", &["webhooks", "dead"]).await;
    taken.take_one(&world, "webhooks test", &["webhooks", "test", "it"]).await;
    receiver.react(|_| Reaction::Status(200));
    taken.take_one(&world, "webhooks test", &["webhooks", "test", "it"]).await;
    let id = text(&dead["deliveries"][0], "id");
    taken.take_one(&world, "webhooks retry", &["webhooks", "retry", "it", &id]).await;
    until_dead(1).await;
    taken.take_one(&world, "webhooks retry --all", &["webhooks", "retry", "it", "--all"]).await;
    until_dead(0).await;
    receiver.react(|_| Reaction::Status(410));
    world.run(&["tasks", "add", "Three"]).await.unwrap().ok().unwrap();
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while answer(&world, &["webhooks"]).await["webhooks"][0]["state"] != "disabled" {
        assert!(tokio::time::Instant::now() < deadline, "a webhook that is gone is not disabled");
    }
    taken.take_one(&world, "webhooks list", &["webhooks", "list"]).await;
    receiver.react(|_| Reaction::Status(200));
    taken.take_one(&world, "webhooks enable", &["webhooks", "enable", "it"]).await;
    taken.hold();
}

#[tokio::test]
async fn an_office() {
    let mut taken = Taken::new("office");
    let world = scene("steps: [{sleep: 1000}]\n", &[("ADJUTANT_LIMITS_GRACE", "200")]).await;
    role(&world, "supervisor", "category: supervisor\nagent: script\nscript: crew.yaml");
    let _server = world.up().await.unwrap();
    let create = ["tool", "epic_create", "--title", "Users", "--description", "All"];
    let epic = text(&answer(&world, &create).await, "id");
    taken.take_one(&world, "supervisors", &["supervisors"]).await;
    let typed = ["supervisors", "create", &epic, "--prompt", "Tests first"];
    let made = taken.take_one(&world, "supervisors create", &typed).await;
    let old = text(&made, "agentId");
    until_is(&world, &old, "running").await;
    taken.take_one(&world, "supervisors", &["supervisors"]).await;
    let typed = ["supervisors", "recover", &old, "--force", "--reason", "it hangs"];
    taken.take_one(&world, "supervisors recover", &typed).await;
    taken.hold();
}

#[tokio::test]
async fn the_demonstration() {
    let mut taken = Taken::new("demo");
    let world = World::bare(BINARY).unwrap();
    taken.take_one(&world, "demo", &["demo"]).await;
    taken.hold();
}
