//! Anyone who is killed is gone with all it started, and so is one whose time is up; and what the tests of
//! how a crew behaves share.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use testkit::{Http, Server, World};

use crate::crew::{crew, leftovers, role, scene, until};

/// A project whose roles play scenarios of one file: a `lead` may start others, a `hand` may not.
pub(crate) async fn stage(scenarios: &str, variables: &[(&str, &str)]) -> World {
    let world = scene(scenarios, variables).await;
    cast(&world, "lead", "category: conversational");
    cast(&world, "hand", "category: worker");
    world
}

/// A role more that plays the same file.
pub(crate) fn cast(world: &World, name: &str, front: &str) {
    role(world, name, &format!("{front}\nagent: script\nscript: crew.yaml"));
}

/// What a command answers, however it ends.
pub(crate) async fn answer(world: &World, typed: &[&str]) -> Value {
    world.run(&[typed, &["--json"]].concat()).await.unwrap().json().unwrap()
}

/// Starts an agent, and gives its id.
pub(crate) async fn draft(world: &World, role: &str, prompt: &str) -> String {
    let drafted = world.run(&["draft", "--role", role, prompt, "--json"]).await.unwrap();
    drafted.ok().unwrap().json().unwrap()["agentId"].as_str().unwrap().to_owned()
}

/// Waits until an agent is over, and gives its state.
pub(crate) async fn ended(world: &World, agent: &str) -> String {
    answer(world, &["await", agent]).await["state"].as_str().unwrap().to_owned()
}

/// The states of all agents, in the order in which they were made.
pub(crate) async fn states(world: &World) -> Vec<String> {
    crew(world).await.iter().map(|agent| agent["state"].as_str().unwrap().to_owned()).collect()
}

/// Waits until an agent is in a state.
pub(crate) async fn until_is(world: &World, agent: &str, state: &str) {
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        let all = crew(world).await;
        let found = all.iter().find(|one| one["id"] == agent).unwrap();
        if found["state"] == state {
            return;
        }
        assert!(tokio::time::Instant::now() < deadline, "{found}");
    }
}

/// The events of a kind, oldest first.
pub(crate) async fn events(world: &World, kind: &str) -> Vec<Value> {
    let told = answer(world, &["events", "--after", "0", "-n", "500", "-k", kind]).await;
    told["events"].as_array().unwrap().clone()
}

/// Why an agent ended.
pub(crate) async fn reason(world: &World, agent: &str) -> String {
    let events = events(world, "agent.finished").await;
    let event = events.iter().find(|event| event["agentId"] == agent).unwrap();
    event["data"]["reason"].as_str().unwrap().to_owned()
}

/// The operator, without the time that a command takes.
pub(crate) async fn operator(world: &World, server: &Server) -> Http {
    Http::new(&server.url, world.operator().await.unwrap())
}

pub(crate) fn is_there(world: &World, file: &str) -> bool {
    world.project().join(file).exists()
}

/// The lines of a file that agents write.
pub(crate) fn lines(world: &World, file: &str) -> Vec<String> {
    let text = fs::read_to_string(world.project().join(file)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Whether the process whose number is in a file still lives.
fn lives(world: &World, file: &str) -> bool {
    let pid = fs::read_to_string(world.project().join(file)).unwrap();
    Path::new("/proc").join(pid.trim()).exists()
}

/// The supervisor of an agent's first attempt.
pub(crate) fn supervisor(world: &World, agent: &str) -> String {
    let file = world.state_dir().join("runs").join(agent).join("1/supervisor.json");
    let record: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    record["pid"].to_string()
}

/// Says who it is, and is deaf.
const DEAF: &str = "trap '' TERM HUP INT\necho $$ > $1.new && mv $1.new $1\n\
                    while :; do sleep 0.05; done\n";

/// Those who are hard to end: in other sessions, without a parent, with nothing in their environment.
const PIDS: [&str; 3] = ["one.pid", "two.pid", "three.pid"];

const SCENARIOS: &str = r#"
scenarios:
  stubborn:
    steps:
      - &deaf {deaf: true}
      - &one {run: [setsid, sh, deaf.sh, one.pid], background: true}
      - &two {run: [sh, -c, 'setsid sh deaf.sh two.pid > /dev/null 2>&1 &']}
      - &first {wait_file: {path: one.pid}}
      - &second {wait_file: {path: two.pid}}
      - &ready {write: {path: ready, text: 'yes'}}
      - &rest {sleep: 100}
  hidden:
    steps:
      - *deaf
      - *one
      - *two
      - run: [sh, -c, 'env -i PATH=/usr/bin:/bin setsid sh deaf.sh three.pid > /dev/null 2>&1 &']
      - *first
      - *second
      - wait_file: {path: three.pid}
      - *ready
      - *rest
  top:
    steps:
      - call: draft_agent
        with: {role: lead, prompt: middle}
        save: middle
      - call: await_agent
        with: {agentId: '{{middle.agentId}}'}
        until: {status: completed}
  middle:
    steps:
      - &leaf {call: draft_agent, with: {role: hand, prompt: leaf}}
      - *leaf
      - sleep: 100
  leaf:
    steps: [{append: {path: leaves, text: "{{agent}}\n"}}, *rest]
  breeder:
    steps:
      - deaf: true
      - repeat:
          times: 1000
          steps:
            - call: draft_agent
              with: {role: hand, prompt: 'leaf {{i}}'}
            - write: {path: ready, text: 'yes'}
            - sleep: 0.05
  rebel:
    steps:
      - call: kill_agent
        with: {agentId: '{{args.1}}'}
        fails: PERMISSION_DENIED
      - call: kill_agent
        with: {agentId: '{{args.2}}'}
        fails: PERMISSION_DENIED
      - call: draft_agent
        with: {role: hand, prompt: leaf}
        save: own
      - call: kill_agent
        with: {agentId: '{{own.agentId}}'}
        expect: {success: true}
  court:
    steps:
      - call: draft_agent
        with: {role: hand, prompt: leaf}
        save: sibling
      - call: draft_agent
        with: {role: lead, prompt: 'rebel {{agent}} {{sibling.agentId}}'}
        save: rebel
      - call: await_agent
        with: {agentId: '{{rebel.agentId}}'}
        until: {status: completed}
      - call: kill_agent
        with: {agentId: '{{sibling.agentId}}'}
        expect: {success: true}
  brief:
    steps:
      - call: draft_agent
        with: {role: lead, prompt: middle}
      - sleep: 100
  heir:
    steps:
      - call: draft_agent
        with: {role: lead, prompt: quitter}
        save: quitter
      - call: await_agent
        with: {agentId: '{{quitter.agentId}}'}
        until: {status: completed}
        save: quit
      - call: await_agent
        with: {agentId: '{{quit.result.summary}}', waitSeconds: 0}
        expect: {status: running}
      - call: kill_agent
        with: {agentId: '{{quit.result.summary}}'}
        expect: {success: true}
  quitter:
    steps:
      - call: draft_agent
        with: {role: hand, prompt: leaf}
        save: child
      - wait_file: {path: leaves}
      - result: {summary: '{{child.agentId}}'}
  caller:
    steps:
      - call: draft_agent
        with: {role: hand, prompt: counter}
        save: child
      - say: before
      - write: {path: ready, text: 'yes'}
      - wait_file: {path: go}
      - call: await_agent
        with: {agentId: '{{child.agentId}}'}
        until: {status: completed}
      - say: after
  counter:
    steps:
      - repeat: {times: 20, steps: [{say: 'line {{i}}'}, {sleep: 0.01}]}
      - wait_file: {path: go}
      - call: system_log_decision
        with: {title: went on, body: after the server was away}
      - repeat: {times: 20, steps: [{say: 'more {{i}}'}]}
"#;

/// A short grace, so that the deaf do not take long.
const GRACE: (&str, &str) = ("ADJUTANT_LIMITS_GRACE", "500");

#[tokio::test]
async fn an_agent_that_adjutant_runs_is_killed_and_not_discharged() {
    let world = stage("scenarios: {work: {steps: [{sleep: 1000}]}}", &[]).await;
    let _server = world.up().await.unwrap();
    let agent = draft(&world, "hand", "work").await;
    until_is(&world, &agent, "running").await;
    let refused = world.run(&["discharge", &agent]).await.unwrap();
    assert_eq!(refused.code, Some(5), "{refused:?}");
    assert!(refused.stderr.contains(&format!("adjutant kill {agent}")), "{}", refused.stderr);
    assert_eq!(states(&world).await, ["running"]);
    world.run(&["kill", &agent]).await.unwrap().ok().unwrap();
    assert!(leftovers(&world).is_empty());
}

#[tokio::test]
async fn a_deaf_agent_is_gone_with_all_it_started_when_kill_says_so() {
    let world = stage(SCENARIOS, &[GRACE]).await;
    fs::write(world.project().join("deaf.sh"), DEAF).unwrap();
    let server = world.up().await.unwrap();
    let http = operator(&world, &server).await;
    let agent = draft(&world, "hand", "hidden").await;
    until("it is ready", || is_there(&world, "ready")).await;
    assert!(PIDS.iter().all(|file| lives(&world, file)));
    let kill = || http.call("mcp__harness__kill_agent", json!({ "agentId": agent }));
    let killed = kill().await.unwrap().unwrap();
    let left: Vec<&&str> = PIDS.iter().filter(|file| lives(&world, file)).collect();
    assert_eq!((&killed["success"], left), (&json!(true), vec![]), "{killed}");
    assert_eq!(leftovers(&world), Vec::<String>::new());
    let again = kill().await.unwrap().unwrap();
    assert_eq!(again["success"], false, "{again}");
    assert!(again["message"].as_str().unwrap().contains("has already ended: killed"), "{again}");
    let awaited = answer(&world, &["await", &agent]).await;
    assert_eq!((&awaited["status"], &awaited["state"]), (&json!("aborted"), &json!("killed")));
}

#[tokio::test]
async fn a_subtree_ends_with_its_root_the_deepest_first() {
    let world = stage(SCENARIOS, &[GRACE]).await;
    let server = world.up().await.unwrap();
    let http = operator(&world, &server).await;
    let top = draft(&world, "lead", "top").await;
    until("everybody is there", || lines(&world, "leaves").len() == 2).await;
    let input = json!({ "agentId": top });
    let killed = http.call("mcp__harness__kill_agent", input).await.unwrap().unwrap();
    assert_eq!(killed["success"], true, "{killed}");
    assert_eq!(leftovers(&world), Vec::<String>::new(), "it says so only when all are gone");
    let agents = crew(&world).await;
    let order: Vec<(Value, Value)> = events(&world, "agent.finished")
        .await
        .iter()
        .map(|event| {
            let agent = agents.iter().find(|agent| agent["id"] == event["agentId"]).unwrap();
            (agent["depth"].clone(), event["data"]["state"].clone())
        })
        .collect();
    let expected: Vec<(Value, Value)> =
        [2, 2, 1, 0].map(|depth| (json!(depth), json!("killed"))).into();
    assert_eq!(order, expected);
    assert!(reason(&world, agents[3]["id"].as_str().unwrap()).await.contains(&top));
}

#[tokio::test]
async fn who_is_being_killed_leaves_no_children_behind() {
    // Each reserves so little that a thousand of them fit.
    let many =
        [GRACE, ("ADJUTANT_LIMITS_CHILDREN", "1000"), ("ADJUTANT_BUDGET_CHILD_USD", "0.001")];
    let world = stage(SCENARIOS, &many).await;
    let _server = world.up().await.unwrap();
    let agent = draft(&world, "lead", "breeder").await;
    until("it starts others", || is_there(&world, "ready")).await;
    assert_eq!(answer(&world, &["kill", &agent]).await["success"], true);
    assert_eq!(leftovers(&world), Vec::<String>::new());
    let states = states(&world).await;
    assert!(states.iter().all(|state| state == "killed"), "{states:?}");
}

#[tokio::test]
async fn a_queued_agent_that_is_killed_never_starts() {
    let world = stage(SCENARIOS, &[("ADJUTANT_LIMITS_RUNNING", "1")]).await;
    let _server = world.up().await.unwrap();
    let first = draft(&world, "hand", "leaf").await;
    let second = draft(&world, "hand", "leaf").await;
    until("the first runs", || lines(&world, "leaves").len() == 1).await;
    assert_eq!(states(&world).await, ["running", "queued"]);
    assert_eq!(answer(&world, &["kill", &second]).await["success"], true);
    assert_eq!(states(&world).await, ["running", "killed"]);
    assert_eq!(answer(&world, &["kill", &first]).await["success"], true);
    let third = draft(&world, "hand", "leaf").await;
    until("the next runs", || lines(&world, "leaves").len() == 2).await;
    assert_eq!(lines(&world, "leaves"), [first, third.clone()]);
    assert_eq!(events(&world, "agent.started").await.len(), 2);
    assert_eq!(answer(&world, &["kill", &third]).await["success"], true);
}

#[tokio::test]
async fn an_agent_may_kill_only_those_below_it() {
    let world = stage(SCENARIOS, &[]).await;
    let ran = answer(&world, &["run", "--role", "lead", "court"]).await;
    assert_eq!(ran["state"], "succeeded", "{ran}");
    assert_eq!(states(&world).await, ["succeeded", "killed", "succeeded", "killed"]);
}

#[tokio::test]
async fn a_supervisor_that_does_not_answer_is_ended_with_its_agent() {
    let world = stage(SCENARIOS, &[GRACE]).await;
    fs::write(world.project().join("deaf.sh"), DEAF).unwrap();
    let _server = world.up().await.unwrap();
    let agent = draft(&world, "hand", "stubborn").await;
    until("it is ready", || is_there(&world, "ready")).await;
    let stop = format!("kill -STOP {}", supervisor(&world, &agent));
    world.shell(&stop).await.unwrap().ok().unwrap();
    let killed = answer(&world, &["kill", &agent]).await;
    assert_eq!(killed["success"], true, "{killed}");
    assert_eq!(leftovers(&world), Vec::<String>::new());
    assert_eq!(ended(&world, &agent).await, "killed");
}

#[tokio::test]
async fn an_agent_whose_supervisor_was_killed_is_gone_and_lost() {
    let world = stage(SCENARIOS, &[GRACE]).await;
    fs::write(world.project().join("deaf.sh"), DEAF).unwrap();
    let _server = world.up().await.unwrap();
    let agent = draft(&world, "hand", "stubborn").await;
    until("it is ready", || is_there(&world, "ready")).await;
    let kill = format!("kill -KILL {}", supervisor(&world, &agent));
    world.shell(&kill).await.unwrap().ok().unwrap();
    let awaited = answer(&world, &["await", &agent]).await;
    assert_eq!((&awaited["status"], &awaited["state"]), (&json!("crashed"), &json!("lost")));
    assert_eq!(leftovers(&world), Vec::<String>::new());
}

#[tokio::test]
async fn who_has_no_time_left_ends_with_all_below_it() {
    let world = stage(SCENARIOS, &[GRACE]).await;
    cast(&world, "hasty", "category: conversational\ntimeout: 2");
    let _server = world.up().await.unwrap();
    let ran = answer(&world, &["run", "--role", "hasty", "brief"]).await;
    assert_eq!((&ran["status"], &ran["state"]), (&json!("aborted"), &json!("timed_out")));
    assert_eq!(leftovers(&world), Vec::<String>::new(), "nobody below it lives on");
    let mut states = states(&world).await;
    assert_eq!(states.remove(0), "timed_out");
    assert!(!states.is_empty() && states.iter().all(|state| state == "killed"), "{states:?}");
    let finished = events(&world, "agent.finished").await;
    assert_eq!(finished.last().unwrap()["agentId"], ran["agentId"], "the deepest first");
}

#[tokio::test]
async fn who_ends_by_itself_leaves_its_children_to_those_above() {
    let world = stage(SCENARIOS, &[]).await;
    let _server = world.up().await.unwrap();
    let ran = answer(&world, &["run", "--role", "lead", "heir"]).await;
    assert_eq!(ran["state"], "succeeded", "{ran}");
    assert_eq!(states(&world).await, ["succeeded", "succeeded", "killed"]);

    fs::remove_file(world.project().join("leaves")).unwrap();
    let quitter = answer(&world, &["run", "--role", "lead", "quitter"]).await;
    let orphan = quitter["result"]["summary"].as_str().unwrap();
    let waited = answer(&world, &["await", orphan, "--timeout", "0"]).await;
    assert_eq!((&quitter["state"], &waited["status"]), (&json!("succeeded"), &json!("running")));
    assert_eq!(answer(&world, &["kill", orphan]).await["success"], true);
    assert_eq!(ended(&world, orphan).await, "killed");
    assert_eq!(leftovers(&world), Vec::<String>::new());
}

#[tokio::test]
async fn agents_that_were_left_are_taken_up_with_nothing_lost() {
    let world = stage(SCENARIOS, &[]).await;
    let up = answer(&world, &["up", "--detach"]).await;
    let agent = draft(&world, "lead", "caller").await;
    until("it runs", || is_there(&world, "ready")).await;
    let refused = world.run(&["down"]).await.unwrap();
    assert_eq!(refused.code, Some(5), "{refused:?}");
    world.run(&["down", "--leave"]).await.unwrap().ok().unwrap();
    // They go on while nobody is there.
    fs::write(world.project().join("go"), "").unwrap();
    let again = answer(&world, &["up", "--detach"]).await;
    assert_eq!(again["url"], up["url"]);
    assert_eq!(ended(&world, &agent).await, "succeeded");
    let agents = crew(&world).await;
    assert_eq!(states(&world).await, ["succeeded", "succeeded"]);
    let logs = world.run(&["logs", "--raw", agents[1]["id"].as_str().unwrap()]).await.unwrap();
    let said: Vec<&str> = logs.stdout.lines().filter(|line| line.starts_with(['l', 'm'])).collect();
    let expected: Vec<String> = ["line", "more"]
        .iter()
        .flat_map(|word| (1..=20).map(move |i| format!("{word} {i}")))
        .collect();
    assert_eq!(said, expected);

    fs::remove_file(world.project().join("go")).unwrap();
    draft(&world, "lead", "top").await;
    until("everybody is there", || lines(&world, "leaves").len() == 2).await;
    world.run(&["down", "--kill"]).await.unwrap().ok().unwrap();
    assert_eq!(leftovers(&world), Vec::<String>::new());
    world.run(&["up", "--detach"]).await.unwrap().ok().unwrap();
    assert_eq!(states(&world).await[2..], ["killed"; 4]);
    world.run(&["down"]).await.unwrap().ok().unwrap();
}
