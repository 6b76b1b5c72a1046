//! Agents that run, from the command line: started, awaited, ended, listed, read, and never lost.

mod lives;

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{CommandOutput, World};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::{BINARY, world};

/// A role whose agents run a shell script.
fn role(world: &World, name: &str, category: &str, script: &str) {
    let command = json!(["sh", "-c", script]);
    let text = format!(
        "---\nname: {name}\ncategory: {category}\nagent: command\ncommand: {command}\n\
         worktree: none\n---\nDo it.\n"
    );
    std::fs::write(world.home().join("roles").join(format!("{name}.md")), text).unwrap();
}

/// A project with agents that need no model.
async fn crew() -> World {
    let world = world().await;
    let result = r#"{"status":"success","summary":"Mended it","changes":["a.rs"],"issues":["slow"],"questions":["why?"]}"#;
    let usage =
        r#"{"adjutant":{"usage":{"input_tokens":1000,"output_tokens":50,"cost_usd":0.25}}}"#;
    role(
        &world,
        "mender",
        "worker",
        &format!("cat > /dev/null; echo looking; echo oops >&2; echo '{usage}'; echo '{result}'"),
    );
    role(&world, "echo", "worker", "tail -n 1");
    role(&world, "loser", "worker", "echo 'No luck'; exit 3");
    role(&world, "waiter", "worker", "echo begun; until [ -e go ]; do sleep 0.02; done; echo done");
    role(&world, "sleeper", "worker", "sleep 600");
    world
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

async fn ok(world: &World, typed: &[&str]) -> CommandOutput {
    world.run(typed).await.unwrap().ok().unwrap()
}

async fn json(world: &World, typed: &[&str]) -> Value {
    ok(world, &[typed, &["--json"]].concat()).await.json().unwrap()
}

async fn draft(world: &World, role: &str) -> String {
    let drafted = json(world, &["draft", "--role", role, "Do it"]).await;
    drafted["agentId"].as_str().unwrap().to_owned()
}

/// Waits until an agent is in a state.
async fn until(world: &World, agent: &str, state: &str) {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
    loop {
        let all = json(world, &["ps", "--all"]).await;
        let all = all["agents"].as_array().unwrap();
        let found = all.iter().find(|one| one["id"] == agent).unwrap();
        if found["state"] == state {
            return;
        }
        assert!(tokio::time::Instant::now() < deadline, "{agent} is {}", found["state"]);
    }
}

fn go(world: &World) {
    std::fs::write(world.project().join("go"), "").unwrap();
}

#[tokio::test]
async fn run_waits_and_gives_what_scripts_rely_on() {
    let world = crew().await;
    let _server = world.up().await.unwrap();
    let ran = ok(&world, &["run", "--role", "mender", "--json", "Mend it"]).await;
    assert_eq!(ran.stderr, "", "programs are spared");
    let run = ran.json().unwrap();
    let expected = [
        "agentId",
        "branch",
        "costUsd",
        "durationMs",
        "result",
        "state",
        "status",
        "taskState",
        "tokens",
    ];
    assert_eq!(keys(&run), expected);
    assert_eq!((&run["taskState"], &run["branch"]), (&"completed".into(), &Value::Null));
    assert_eq!((&run["status"], &run["state"]), (&"completed".into(), &"succeeded".into()));
    assert_eq!(
        (&run["costUsd"], &run["tokens"]),
        (&0.25.into(), &json!({ "input": 1000, "output": 50 }))
    );
    assert_eq!(run["result"]["summary"], "Mended it");
    assert_eq!(run["result"]["changes"], json!(["a.rs"]));

    let text = ok(&world, &["run", "--role", "mender", "Mend it"]).await;
    for part in [
        "succeeded in ",
        "$0.2500",
        "1000 tokens in, 50 out",
        "    Mended it",
        "Changes\n  - a.rs",
        "Issues\n  - slow",
        "Questions\n  - why?",
    ] {
        assert!(text.stdout.contains(part), "no {part:?} in:\n{}", text.stdout);
    }
    assert!(text.stderr.contains("is started as mender"), "{}", text.stderr);

    let failed = world.run(&["run", "--role", "loser", "--json", "x"]).await.unwrap();
    let run = failed.json().unwrap();
    assert_eq!(
        (failed.code, &run["state"], &run["status"]),
        (Some(1), &"failed".into(), &"crashed".into())
    );
    let failed = world.run(&["run", "--role", "loser", "x"]).await.unwrap();
    assert_eq!((failed.code, failed.stdout.contains("failed")), (Some(1), true), "{failed:?}");
}

#[tokio::test]
async fn a_prompt_comes_from_stdin_and_options_reach_the_agent() {
    let world = crew().await;
    let _server = world.up().await.unwrap();
    std::fs::create_dir(world.project().join("sub")).unwrap();
    json(&world, &["tasks", "add", "Known", "--slug", "known"]).await;
    let typed = [
        "run",
        "--role",
        "echo",
        "--task",
        "known",
        "--cwd",
        "sub",
        "--budget",
        "1.5",
        "--timeout",
        "60",
        "--model",
        "m",
        "--json",
        "-",
    ];
    let ran = world.run_with_input(&typed, "Say this\nand that last").await.unwrap().ok().unwrap();
    assert_eq!(ran.json().unwrap()["result"]["summary"], "and that last");
    let ps = json(&world, &["ps", "--all"]).await;
    assert_eq!(ps["agents"][0]["taskSlug"], "known");
    assert_eq!(ps["agents"][0]["model"], "m");
    let bad: [(&[&str], i32, &str); 5] = [
        (&["run", "--role", "mendr", "x"], 4, "did you mean `mender`?"),
        (&["run", "--role", "mender", "--task", "unknown", "x"], 4, "unknown"),
        (&["run", "--role", "mender", "--cwd", "nowhere", "x"], 2, "nowhere"),
        (&["run", "--role", "mender", "--kind", "robot", "x"], 2, "robot"),
        (&["run", "--role", "mender"], 2, "PROMPT"),
    ];
    for (typed, code, words) in bad {
        let ran = world.run(typed).await.unwrap();
        assert_eq!(ran.code, Some(code), "{typed:?}: {ran:?}");
        assert!(ran.stderr.contains(words), "{typed:?}: {}", ran.stderr);
    }
}

#[tokio::test]
async fn an_agent_starts_agents_with_a_tool() {
    let world = crew().await;
    let _server = world.up().await.unwrap();
    let agent = world.enlist("supervisor", &[]).await.unwrap();
    for typed in [&["run", "x"][..], &["draft", "--role", "mender", "x"], &["resume", "last"]] {
        let ran = world.run_as(&agent, typed).await.unwrap();
        assert_eq!(ran.code, Some(3), "{typed:?}: {ran:?}");
        assert!(ran.stderr.contains("adjutant tool draft_agent"), "{}", ran.stderr);
    }
    let typed = ["tool", "draft_agent", "--role", "mender", "--prompt", "x", "--json"];
    let drafted = world.run_as(&agent, &typed).await.unwrap().ok().unwrap().json().unwrap();
    // Waiting and ending are tools, too: an agent may use them from its shell.
    let child = drafted["agentId"].as_str().unwrap();
    let ended = world.run_as(&agent, &["await", child, "--json"]).await.unwrap().ok().unwrap();
    assert_eq!(ended.json().unwrap()["result"]["summary"], "Mended it");
    assert_eq!(world.run_as(&agent, &["kill", child]).await.unwrap().code, Some(5));
}

#[tokio::test]
async fn agents_are_drafted_awaited_and_killed() {
    let world = crew().await;
    let _server = world.up().await.unwrap();
    let drafted = json(&world, &["draft", "--role", "waiter", "Wait"]).await;
    assert_eq!(keys(&drafted), ["agentId", "role", "taskSlug"]);
    let waiter = drafted["agentId"].as_str().unwrap();
    let text = ok(&world, &["draft", "--role", "mender", "x"]).await.stdout;
    assert!(text.contains("is started as mender") && text.contains("adjutant await sp_"), "{text}");

    let early = world.run(&["await", waiter, "--timeout", "0", "--json"]).await.unwrap();
    assert_eq!((early.code, &early.json().unwrap()["status"]), (Some(1), &"running".into()));
    go(&world);
    let both = ok(&world, &["await", waiter, "last", "--json"]).await.stdout;
    let both: Vec<Value> = both.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&both[0]["agentId"], &both[0]["state"]), (&waiter.into(), &"succeeded".into()));
    assert_eq!(both[1]["result"]["summary"], "Mended it");
    let loser = draft(&world, "loser").await;
    let ran = world.run(&["await", &loser]).await.unwrap();
    assert_eq!((ran.code, ran.stdout.contains("failed")), (Some(1), true), "{ran:?}");

    let sleeper = draft(&world, "sleeper").await;
    until(&world, &sleeper, "running").await;
    let killed = json(&world, &["kill", &sleeper]).await;
    assert_eq!((&killed["agentId"], &killed["success"]), (&sleeper.as_str().into(), &true.into()));
    let again = world.run(&["kill", &sleeper]).await.unwrap();
    assert_eq!(again.code, Some(5));
    assert!(again.stdout.contains("has already ended: killed"), "{again:?}");
    let run = world.run(&["await", &sleeper, "--json"]).await.unwrap();
    assert_eq!(run.json().unwrap()["status"], "aborted");
}

#[tokio::test]
async fn an_agent_is_named_in_several_ways() {
    let world = crew().await;
    let _server = world.up().await.unwrap();
    let ran = world.run(&["logs", "last"]).await.unwrap();
    assert_eq!(
        (ran.code, ran.stderr.contains("no agent was started yet")),
        (Some(4), true),
        "{ran:?}"
    );
    let id = json(&world, &["run", "--role", "mender", "x"]).await["agentId"]
        .as_str()
        .unwrap()
        .to_owned();
    let (beginning, end) = id.split_at(10);
    for named in [&id, beginning, end, &id.replace("sp_", ""), "last"] {
        let awaited = json(&world, &["await", named]).await;
        assert_eq!(awaited["agentId"], *id, "{named}");
    }
    for (named, code) in [("nobody", 2), ("abc", 2), ("0000", 4), ("sp_0000000000000000", 4)] {
        let ran = world.run(&["logs", named]).await.unwrap();
        assert_eq!(ran.code, Some(code), "{named}: {}", ran.stderr);
        assert!(ran.stderr.contains("try: "), "{named}: {}", ran.stderr);
    }
    json(&world, &["run", "--role", "mender", "x"]).await;
    let ran = world.run(&["logs", id.split_at(7).0]).await.unwrap();
    assert_eq!((ran.code, ran.stderr.contains("matches 2 agents")), (Some(2), true), "{ran:?}");
    assert!(ran.stderr.contains(&id), "they are named: {}", ran.stderr);
}

#[tokio::test]
async fn ps_shows_the_crew_as_a_tree() {
    let world = crew().await;
    let child =
        format!("{BINARY} tool draft_agent --role waiter --prompt Wait --json > child; sleep 600");
    role(&world, "boss", "supervisor", &child);
    let _server = world.up().await.unwrap();
    let boss = draft(&world, "boss").await;
    let other = draft(&world, "sleeper").await;
    let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
    let ps = loop {
        let ps = json(&world, &["ps"]).await;
        if ps["agents"].as_array().unwrap().len() == 3 {
            break ps;
        }
        assert!(tokio::time::Instant::now() < deadline, "{ps}");
    };
    let child =
        ps["agents"].as_array().unwrap().iter().find(|one| one["parentId"] == *boss).unwrap();
    assert_eq!((&child["depth"], &child["kind"]), (&1.into(), &"command".into()));
    let child = child["id"].as_str().unwrap();
    let text = ok(&world, &["ps"]).await.stdout;
    let at = |id: &str| text.lines().position(|line| line.trim_start().starts_with(id)).unwrap();
    assert!(text.lines().nth(at(child)).unwrap().starts_with("  sp_"), "set in:\n{text}");
    assert_eq!(at(child), at(&boss) + 1, "below its parent:\n{text}");
    assert!(at(&other) > at(child), "{text}");
    // The end of a parent is the end of those below it.
    ok(&world, &["kill", &boss]).await;
    let left = json(&world, &["ps"]).await;
    assert_eq!(left["agents"].as_array().unwrap().len(), 1, "{left}");
    until(&world, child, "killed").await;
}

#[tokio::test]
async fn in_a_pipe_ps_prints_again_when_something_changes() {
    let world = crew().await;
    let _server = world.up().await.unwrap();
    let mut child = world.command(&["ps", "--all", "--watch", "--json"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next_line().await.unwrap().unwrap(), r#"{"agents":[]}"#);
    let id = json(&world, &["run", "--role", "mender", "x"]).await["agentId"]
        .as_str()
        .unwrap()
        .to_owned();
    loop {
        let ps: Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
        assert_eq!(ps["agents"][0]["id"], *id);
        if ps["agents"][0]["state"] == "succeeded" {
            break;
        }
    }
    child.kill().await.unwrap();
}

#[tokio::test]
async fn logs_show_what_an_agent_said() {
    let world = crew().await;
    let _server = world.up().await.unwrap();
    json(&world, &["run", "--role", "mender", "x"]).await;
    let text = ok(&world, &["logs", "last"]).await;
    let lines: Vec<&str> = text.stdout.lines().collect();
    assert!(lines.contains(&"looking") && lines.contains(&"oops"), "{lines:?}");
    assert!(
        lines.iter().any(|line| line.starts_with("· ") && line.contains(" tokens read, ")),
        "{lines:?}"
    );
    let raw = ok(&world, &["logs", "last", "--raw"]).await;
    assert!(raw.stdout.starts_with("looking\n{\"adjutant\""), "{raw:?}");
    assert_eq!(raw.stderr, "oops\n");
    let lines = ok(&world, &["logs", "last", "--json", "--attempt", "1"]).await.stdout;
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(keys(&lines[0]), ["at", "attempt", "cut", "stream", "text"]);
    let find = |stream: &str| lines.iter().find(|line| line["stream"] == stream).unwrap();
    assert_eq!((&find("out")["text"], &find("err")["text"]), (&"looking".into(), &"oops".into()));
    let none = world.run(&["logs", "last", "--attempt", "2"]).await.unwrap();
    assert_eq!(none.code, Some(2), "{none:?}");
    let enlisted = world.enlist("worker", &[]).await.unwrap();
    let theirs = world.run(&["logs", &enlisted.id]).await.unwrap();
    assert_eq!(theirs.code, Some(5), "{theirs:?}");
}

#[tokio::test]
async fn costs_are_added_up_and_tools_counted() {
    let world = crew().await;
    role(
        &world,
        "caller",
        "worker",
        &format!("{BINARY} tool system_log_decision --title t --body b"),
    );
    let _server = world.up().await.unwrap();
    assert_eq!(ok(&world, &["costs"]).await.stdout, "Nothing was spent yet.\n");
    let run = json(&world, &["run", "--role", "mender", "x"]).await;
    json(&world, &["run", "--role", "mender", "x"]).await;
    let costs = json(&world, &["costs"]).await;
    assert_eq!(keys(&costs), ["by", "rows", "since", "total"]);
    assert_eq!(
        (&costs["rows"][0]["key"], &costs["total"]["costUsd"]),
        (&"mender".into(), &0.5.into())
    );
    let by_agent = json(&world, &["costs", "--by", "agent", "--since", "1d"]).await;
    let keys: Vec<&str> = by_agent["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["key"].as_str().unwrap())
        .collect();
    assert!(keys.len() == 2 && keys.contains(&run["agentId"].as_str().unwrap()), "{by_agent}");
    let text = ok(&world, &["costs", "--by", "hour"]).await.stdout;
    assert!(text.starts_with("HOUR ") && text.contains("total"), "{text}");
    let wrong = world.run(&["costs", "--since", "soon"]).await.unwrap();
    assert_eq!((wrong.code, wrong.stderr.contains("7d")), (Some(2), true), "{wrong:?}");

    ok(&world, &["run", "--role", "caller", "x"]).await;
    let tools = json(&world, &["costs", "--tools"]).await;
    let used = tools["rows"].as_array().unwrap().iter().find(|row| row["key"] == "caller").unwrap();
    assert_eq!((&used["tool"], &used["calls"]), (&"mcp__system__log_decision".into(), &1.into()));
    let own = json(&world, &["costs", "--tools", "--agent", "last"]).await;
    assert_eq!(own["by"], "agent");
    assert!(ok(&world, &["costs", "--tools"]).await.stdout.starts_with("ROLE "));
}

/// Speaks as Claude Code does, and ends when it has heard a second line.
const CLAUDE: &str = r#"#!/bin/sh
read -r first
echo '{"type":"system","subtype":"init","session_id":"s-1","model":"m","mcp_servers":[]}'
case "$*" in *--resume*) said=resumed ;; *) read -r second; said=heard ;; esac
echo '{"type":"assistant","message":{"content":[{"type":"text","text":"I '$said' you"}]}}'
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"'$said'","session_id":"s-1"}'
"#;

#[tokio::test]
async fn typed_lines_reach_an_agent_and_its_conversation_goes_on_later() {
    let mut world = crew().await;
    let claude = world.project().join("claude");
    std::fs::write(&claude, CLAUDE).unwrap();
    world.shell("chmod +x claude").await.unwrap().ok().unwrap();
    world.set("ADJUTANT_AGENTS_CLAUDE_BINARY", claude.display().to_string());
    let _server = world.up().await.unwrap();
    let talker = json(&world, &["draft", "--kind", "claude", "Listen"]).await;
    let talker = talker["agentId"].as_str().unwrap();
    let mut child = world.command(&["attach", talker]).stdin(Stdio::piped()).spawn().unwrap();
    let mut typing = child.stdin.take().unwrap();
    typing.write_all(b"leave the docs alone\n").await.unwrap();
    let output = child.wait_with_output().await.unwrap();
    drop(typing);
    let (out, err) = (output.stdout, output.stderr);
    let (out, err) = (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap());
    assert_eq!(output.status.code(), Some(0), "{out}\n{err}");
    assert!(out.contains("» leave the docs alone") && out.contains("I heard you"), "{out}\n{err}");
    assert!(err.contains("succeeded"), "{err}");

    let resumed = json(&world, &["resume", talker]).await;
    assert_ne!(resumed["agentId"], *talker);
    assert_eq!(resumed["result"]["summary"], "resumed", "{resumed}");
    let detached = json(&world, &["resume", talker, "More", "--detach"]).await;
    assert_eq!(keys(&detached), ["agentId", "role", "taskSlug"]);
    json(&world, &["await", "last"]).await;
    let mender = json(&world, &["run", "--role", "mender", "x"]).await;
    let cannot = world.run(&["resume", mender["agentId"].as_str().unwrap()]).await.unwrap();
    assert_eq!(cannot.code, Some(5), "{cannot:?}");
}

#[tokio::test]
async fn attach_says_when_nobody_listens() {
    let world = crew().await;
    let _server = world.up().await.unwrap();
    let waiter = draft(&world, "waiter").await;
    let mut child = world.command(&["attach", &waiter]).stdin(Stdio::piped()).spawn().unwrap();
    let mut typing = child.stdin.take().unwrap();
    typing.write_all(b"hello\n").await.unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap()).lines();
    let said = errors.next_line().await.unwrap().unwrap();
    assert!(said.contains("adjutant mail send --to"), "{said}");
    drop(typing);
    go(&world);
    assert_eq!(child.wait().await.unwrap().code(), Some(0));
}
