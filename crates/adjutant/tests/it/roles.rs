//! Permissions of live agents whose role file breaks or disappears.

use std::fs;

use serde_json::{Value, json};
use testkit::{Http, World};

use crate::crew::{role, until};
use crate::kill::{draft, is_there, operator, stage};

const SCENARIOS: &str = "
scenarios:
  stay:
    steps: [{write: {path: there, text: ''}}, {wait_file: {path: go}}]
";

const FRONT: &str = "category: worker\ndeny: [mcp__mail__send]\nagent: script\nscript: crew.yaml";

/// Calls a tool in an agent's name and gives the code of its error, if it failed.
async fn code(http: &Http, agent: &str, tool: &str, input: Value) -> Option<String> {
    let body = json!({ "agentId": agent, "toolName": tool, "input": input });
    let (_, answer) = http.post("/mcp/execute", &body).await.unwrap();
    let error = answer.pointer("/error/code").or_else(|| answer.get("code"));
    error.and_then(Value::as_str).map(str::to_owned)
}

/// A denied tool is denied and an allowed one allowed, to each of them.
async fn holds(http: &Http, agents: &[&str], when: &str) {
    let letter = json!({ "toHuman": true, "subject": "Hi", "body": "Hi" });
    for agent in agents {
        let denied = code(http, agent, "mcp__mail__send", letter.clone()).await;
        assert_eq!(denied.as_deref(), Some("PERMISSION_DENIED"), "{when}: {agent}");
        let allowed = code(http, agent, "mcp__mail__list_inbox", json!({})).await;
        assert_eq!(allowed, None, "{when}: {agent}");
    }
}

async fn reload(world: &World) -> String {
    world.run(&["reload"]).await.unwrap().ok().unwrap().stdout
}

#[tokio::test]
async fn a_broken_or_missing_role_gives_its_agents_nothing_more() {
    let world = stage(SCENARIOS, &[]).await;
    role(&world, "guard", FRONT);
    let mut server = world.up().await.unwrap();
    let drafted = draft(&world, "guard", "stay").await;
    until("the agent runs", || is_there(&world, "there")).await;
    let enlisted = world.enlist("guard", &[]).await.unwrap().id;
    let both = [drafted.as_str(), enlisted.as_str()];
    let mut http = operator(&world, &server).await;
    holds(&http, &both, "as written").await;
    let file = world.home().join("roles/guard.md");
    let broken = [
        ("a pattern is wrong", FRONT.replace("mcp__mail__send", "mcp__mial__send")),
        ("the category is unknown", FRONT.replace("worker", "wroker")),
        ("a key is mistyped", FRONT.replace("deny", "denny")),
        ("it is no YAML", FRONT.replace("[mcp", "{mcp")),
    ];
    for (when, front) in broken {
        role(&world, "guard", &front);
        assert!(reload(&world).await.contains("use the last good version"), "{when}");
        holds(&http, &both, when).await;
    }
    fs::remove_file(&file).unwrap();
    reload(&world).await;
    holds(&http, &both, "the file is gone").await;
    server.kill().await.unwrap();
    server = world.up().await.unwrap();
    http = operator(&world, &server).await;
    holds(&http, &both, "the file is gone, after a restart").await;
    // A configuration that cannot be read is refused whole, and the one before stays in force.
    let config = world.home().join("config.yaml");
    let good = fs::read_to_string(&config).unwrap();
    fs::write(&config, "categories: {worker: {deny: [mcp__mial__*]}}\n").unwrap();
    assert_ne!(world.run(&["reload"]).await.unwrap().code, Some(0));
    holds(&http, &both, "the configuration is broken").await;
    fs::write(&config, good).unwrap();
    // Anyone who wants the role meanwhile is told what is wrong with it.
    let refused = world.run(&["draft", "--role", "guard", "stay"]).await.unwrap();
    assert_eq!(refused.code, Some(4), "{refused:?}");
    role(&world, "guard", &FRONT.replace("deny: [mcp__mail__send]", "deny: []"));
    reload(&world).await;
    // It counts for those who come; the rights of those who are there only shrink.
    let letter = json!({ "toHuman": true, "subject": "Hi", "body": "Hi" });
    let new = world.enlist("guard", &[]).await.unwrap().id;
    assert_eq!(code(&http, &new, "mcp__mail__send", letter).await, None);
    holds(&http, &both, "the role allows more").await;
    fs::write(world.project().join("go"), "").unwrap();
    world.run(&["await", &drafted]).await.unwrap();
}

/// Ends the server by force, as a crash would.
fn crash(world: &World) {
    let file = world.server_file().unwrap().unwrap();
    host::process::kill(u32::try_from(file["pid"].as_u64().unwrap()).unwrap()).unwrap();
}

/// Writes a role and a server where Claude Code has them.
fn write_for_claude(world: &World) {
    fs::create_dir_all(world.project().join(".claude/agents")).unwrap();
    let helper = "---\nname: helper\n---\nHelp.\n";
    fs::write(world.project().join(".claude/agents/helper.md"), helper).unwrap();
    let servers = json!({ "mcpServers": { "spy": { "command": "spy" } } });
    fs::write(world.project().join(".mcp.json"), servers.to_string()).unwrap();
}

#[tokio::test]
async fn what_an_agent_writes_into_the_files_counts_once_a_person_was_told() {
    let world = stage(SCENARIOS, &[]).await;
    role(&world, "guard", FRONT);
    let config = world.home().join("config.yaml");
    fs::write(&config, "limits: {running: 9}\n").unwrap();
    world.run(&["up", "--detach"]).await.unwrap().ok().unwrap();
    let lead = world.enlist("lead", &[]).await.unwrap();
    // What the lead could write with a shell of its own: a role that denies nothing, new ones, and
    // a wider reach for its own category.
    role(&world, "guard", &FRONT.replace("deny: [mcp__mail__send]", "deny: []"));
    let scout = "category: worker\nallow: [mcp__harness__*]\nagent: script\nscript: crew.yaml";
    role(&world, "scout", scout);
    write_for_claude(&world);
    let wide = "limits: {running: 9}\ncategories: {conversational: {reach: all}}\n";
    fs::write(&config, wide).unwrap();
    let guarded = |agent: String| {
        let world = &world;
        async move {
            let typed = [
                "tool",
                "mail_send",
                "--as",
                &agent,
                "--to-human",
                "--subject",
                "s",
                "--body",
                "b",
            ];
            world.run(&typed).await.unwrap().code
        }
    };
    let mut guards = Vec::new();
    for when in ["at once", "after a crash", "after another crash"] {
        let draft = async |role: &str| {
            let typed = ["tool", "draft_agent", "--role", role, "--prompt", "stay", "--json"];
            world.run_as(&lead, &typed).await.unwrap()
        };
        for role in ["scout", "helper"] {
            let refused = draft(role).await;
            let error = refused.error().unwrap();
            assert_eq!(error["code"], "RESOURCE_NOT_FOUND", "{when}: {error}");
        }
        let guard = draft("guard").await.ok().unwrap().json().unwrap();
        let guard = guard["agentId"].as_str().unwrap().to_owned();
        assert_eq!(guarded(guard.clone()).await, Some(3), "{when}");
        guards.push(guard);
        crash(&world);
    }
    // A person's next command says what changed, and then it counts for those who come.
    world.run_as(&lead, &["tool", "mail_list_inbox"]).await.unwrap().ok().unwrap();
    let ran = world.run(&["draft", "--role", "guard", "stay"]).await.unwrap().ok().unwrap();
    for told in [
        "Read again: ",
        "more: role guard: deny loses mcp__mail__send",
        "more: role helper: is new: category worker",
        "more: MCP server spy: is new",
        "more: role scout: is new: category worker, agent script",
        "more: category conversational: reach descendants → all",
    ] {
        assert!(ran.stderr.contains(told), "no {told:?} in {}", ran.stderr);
    }
    let new = draft(&world, "guard", "stay").await;
    assert_eq!(guarded(new.clone()).await, Some(0));
    for guard in &guards {
        assert_eq!(guarded(guard.clone()).await, Some(3), "its rights only shrink");
    }
    let typed = ["tool", "draft_agent", "--role", "scout", "--prompt", "stay"];
    world.run_as(&lead, &typed).await.unwrap().ok().unwrap();
    let typed = ["tool", "await_agent", "--agent-id", &new, "--wait-seconds", "0", "--json"];
    let refused = world.run_as(&lead, &typed).await.unwrap();
    assert_eq!(refused.error().unwrap()["code"], "PERMISSION_DENIED", "{refused:?}");
    crash(&world);
    assert_eq!(guarded(new).await, Some(0), "what was told counts after a crash, too");
    assert_eq!(guarded(guards[0].clone()).await, Some(3));
    // Told once.
    let again = world.run(&["draft", "--role", "guard", "stay"]).await.unwrap().ok().unwrap();
    assert_eq!(again.stderr, "");
    world.run(&["down", "--kill"]).await.unwrap();
}

#[tokio::test]
async fn a_new_server_reports_what_changed_since_the_last_one() {
    let world = stage(SCENARIOS, &[]).await;
    let down = async || drop(world.run(&["down"]).await.unwrap().ok().unwrap());
    let first = world.run(&["ps"]).await.unwrap().ok().unwrap();
    assert_eq!(first.stderr, "", "there is nothing to compare with");
    down().await;
    for (command, name) in [(&["ps"][..], "one"), (&["up", "--detach"], "two")] {
        role(&world, name, "category: worker\nsandbox: bwrap");
        let ran = world.run(command).await.unwrap().ok().unwrap();
        let told = format!("more: role {name}: is new: category worker, sandbox bwrap");
        assert!(ran.stderr.contains("Changed since the last server:"), "{ran:?}");
        assert!(ran.stderr.contains(&told), "{ran:?}");
        down().await;
    }
    // A file that cannot be read is an error here, and the one before is not put in force behind one's back.
    fs::write(world.home().join("config.yaml"), "limits: {dpeth: 1}\n").unwrap();
    let ran = world.run(&["up", "--detach"]).await.unwrap();
    assert!(ran.code != Some(0) && ran.stderr.contains("config.yaml:1"), "{ran:?}");
}
