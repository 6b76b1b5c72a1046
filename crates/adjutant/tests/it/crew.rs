//! Agents that run: a coordinator that drafts, waits and kills; and what the tests of crews share.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::time::Duration;

use serde_json::{Value, json};
use store::Store;
use testkit::World;

/// How long a test waits for something that must happen.
const PATIENCE: Duration = Duration::from_secs(120);

/// A project whose agents can play the scenarios of one file, with variables of its own.
pub(crate) async fn scene(scenarios: &str, variables: &[(&str, &str)]) -> World {
    let mut world = crate::world().await;
    for (name, value) in variables {
        world.set(name, *value);
    }
    fs::write(world.project().join("crew.yaml"), scenarios).unwrap();
    world
}

/// Writes a role into a world's home.
pub(crate) fn role(world: &World, name: &str, front: &str) {
    let text = format!("---\nname: {name}\n{front}\n---\nYou are the {name}.\n");
    fs::write(world.home().join("roles").join(format!("{name}.md")), text).unwrap();
}

/// Waits until something is so. It must become so.
pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    let mut look = tokio::time::interval(Duration::from_millis(5));
    while !is_so() {
        look.tick().await;
        assert!(tokio::time::Instant::now() < deadline, "waited in vain: {what}");
    }
}

/// The processes of a world's agents that are still there.
pub(crate) fn leftovers(world: &World) -> Vec<String> {
    let home = world.home();
    let mark = [b"ADJUTANT_HOME=", home.as_os_str().as_bytes()].concat();
    let processes = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let environment = fs::read(entry.path().join("environ")).ok()?;
        let is_ours = environment.split(|byte| *byte == 0).any(|variable| variable == mark);
        let command = fs::read(entry.path().join("cmdline")).ok()?;
        is_ours.then(|| String::from_utf8_lossy(&command).replace('\0', " "))
    });
    processes.filter(|command| !command.is_empty()).collect()
}

/// The agents of a world, with those that ended.
pub(crate) async fn crew(world: &World) -> Vec<Value> {
    let listed = world.run(&["ps", "--all", "--json"]).await.unwrap().ok().unwrap().json().unwrap();
    listed["agents"].as_array().unwrap().clone()
}

/// Runs a script in the project, which must go well, and gives what it prints.
pub(crate) async fn sh(world: &World, script: &str) -> String {
    let ran = world.shell(&format!("set -e\n{script}")).await.unwrap();
    assert_eq!(ran.code, Some(0), "{script}: {ran:?}");
    ran.stdout.trim().to_owned()
}

/// Puts the project under git, with all that is in it so far.
pub(crate) async fn repository(world: &World) {
    let begin = "git init -q -b main
        git config user.name Crew && git config user.email crew@localhost
        echo .adjutant > .gitignore && git add -A && git commit -q -m Begin";
    sh(world, begin).await;
}

/// Waits until nothing is left to be done outside.
pub(crate) async fn settled(world: &World) {
    until("every errand is over", || {
        let store = Store::open(&world.state_dir().join("state.db")).unwrap();
        store.read(|tx| tx.outbox_jobs_open()).unwrap().is_empty()
    })
    .await;
}

/// Git and the record agree.
async fn check(world: &World) {
    let checked = world.run(&["worktrees", "check", "--json"]).await.unwrap();
    assert_eq!(checked.code, Some(0), "{checked:?}");
    assert_eq!(checked.json().unwrap()["disagreements"], json!([]), "{checked:?}");
}

/// Git and the record agree, and nothing runs.
pub(crate) async fn agree(world: &World) {
    check(world).await;
    assert_eq!(leftovers(world), Vec::<String>::new());
}

/// Nothing is left to be done, git and the record agree, nothing runs, and the main checkout is as it was.
pub(crate) async fn in_order(world: &World) {
    settled(world).await;
    check(world).await;
    assert_eq!(sh(world, "git status --porcelain").await, "");
    assert_eq!(leftovers(world), Vec::<String>::new());
}

const STORY: &str = "
scenarios:
  lead:
    steps:
      - call: draft_agent
        with: {role: worker-bee, prompt: work one}
        save: first
      - call: draft_agent
        with: {role: worker-bee, prompt: work two}
        save: second
      - call: draft_agent
        with: {role: worker-bee, prompt: hang}
        save: third
      - call: await_agent
        with: {agentId: '{{first.agentId}}'}
        until: {status: completed}
        save: result
      - call: await_agent
        with: {agentId: '{{second.agentId}}'}
        until: {status: completed}
      - call: kill_agent
        with: {agentId: '{{third.agentId}}'}
        expect: {success: true}
      - call: kill_agent
        with: {agentId: '{{third.agentId}}'}
        expect: {success: false}
      - call: get_task_context
        with: {taskSlug: '{{task}}'}
        save: history
      - say: '{{history.context}}'
      - result: {status: success, summary: 'led, and heard: {{result.result.summary}}'}
  work:
    steps:
      - say: 'working {{args.1}}'
      - call: draft_agent
        with: {role: worker-bee, prompt: more}
        fails: PERMISSION_DENIED
      - burn: {input_tokens: 1000, output_tokens: 100, cost_usd: 0.02}
      - result: {status: success, summary: 'worked {{args.1}}', changes: [a, b], questions: ['why?']}
  hang:
    steps: [{sleep: 1000}]
";

#[tokio::test]
async fn a_coordinator_drafts_waits_kills_and_reads_the_history() {
    let world = crate::world().await;
    fs::write(world.project().join("crew.yaml"), STORY).unwrap();
    role(&world, "pm", "category: conversational\nagent: script\nscript: crew.yaml");
    role(&world, "worker-bee", "category: worker\nagent: script\nscript: crew.yaml");
    let ran = world.run(&["run", "--role", "pm", "--json", "lead"]).await.unwrap().ok().unwrap();
    let answer = ran.json().unwrap();
    assert_eq!(answer["status"], "completed");
    assert_eq!(answer["result"]["summary"], "led, and heard: worked one");
    let agents = crew(&world).await;
    let states: Vec<(&str, &str)> = agents
        .iter()
        .map(|agent| (agent["role"].as_str().unwrap(), agent["state"].as_str().unwrap()))
        .collect();
    assert_eq!(
        states,
        [
            ("pm", "succeeded"),
            ("worker-bee", "succeeded"),
            ("worker-bee", "succeeded"),
            ("worker-bee", "killed")
        ]
    );
    let (lead, task) = (&agents[0], &agents[0]["taskSlug"]);
    for child in &agents[1..] {
        assert_eq!((&child["parentId"], &child["depth"]), (&lead["id"], &json!(1)));
        assert_eq!(&child["taskSlug"], task, "a child works on its parent's task");
    }
    let logs =
        world.run(&["logs", "--raw", lead["id"].as_str().unwrap()]).await.unwrap().ok().unwrap();
    for told in ["**worker-bee** (completed)", "> Summary: worked two", "> - why?", "(aborted)"] {
        assert!(logs.stdout.contains(told), "{told}: {}", logs.stdout);
    }
    assert_eq!(leftovers(&world), Vec::<String>::new());
}
