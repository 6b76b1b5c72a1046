//! The office with scripted agents on a real repository: an orchestrator over a supervisor over workers, a
//! supervisor that is lost and replaced, work that is put on top of others' work, and the command line.

use std::fs;

use serde_json::{Value, json};
use testkit::World;

use crate::crew::{crew, leftovers, repository, scene, sh, until};
use crate::kill::{answer, cast, draft, ended, events, is_there, reason, until_is};

/// One file for everybody: the role chooses by what stands in its own prompt's first word, and anyone who leads an
/// epic is told so in words that are no scenario.
const STORY: &str = r#"
scenarios:
  orchestrate:
    steps:
      - call: orchestrator_list_pending_epics
        save: pending
        expect: {epics: [{title: Users, state: PLANNING, tasks: {PENDING: 2}}]}
      - call: orchestrator_create_supervisor
        with: {epicId: '{{pending.epics.0.epicId}}'}
        save: made
        expect: {role: supervisor, epicState: IN_PROGRESS}
      - call: orchestrator_create_supervisor
        with: {epicId: '{{pending.epics.0.epicId}}'}
        fails: CONFLICT
        expect: {details: {agentId: '{{made.agentId}}'}}
      - call: await_agent
        with: {agentId: '{{made.agentId}}', waitSeconds: 60}
        until: {status: completed}
        save: over
      - result: {summary: '{{over.result.summary}}'}
  part:
    steps:
      - call: agent_get_task
        save: own
      - write: {path: 'part-{{args.1}}.txt', text: "{{own.slug}}\n"}
      - commit: 'Do part {{args.1}}'
      - call: git_get_diff
        expect: {files: [{path: 'part-{{args.1}}.txt', status: added, additions: 1}]}
      - result: {summary: 'did part {{args.1}}'}
  hang:
    steps:
      - run: [sh, -c, 'touch "$ADJUTANT_HOME/hangs-$ADJUTANT_AGENT_ID"']
      - sleep: 1000
  clash:
    steps:
      - write: {path: lines.txt, text: "one\nmine\nthree\n"}
      - commit: Mine
      - run: [sh, -c, 'touch "$ADJUTANT_HOME/written"; until [ -e "$ADJUTANT_HOME/moved" ]; do sleep 0.02; done']
      - call: git_rebase
        fails: CONFLICT
        save: refused
        expect: {details: {conflicts: [{file: lines.txt, kind: content, lines: [{from: 2}]}]}}
      - run: [sh, -c, 'test -z "$(git status --porcelain)" && git log -1 --format=%s | grep -q Mine']
      - write: {path: lines.txt, text: "one\ntwo\nthree\n"}
      - commit: Take it back
      - write: {path: own.txt, text: "mine\n"}
      - call: git_rebase
        fails: CONFLICT
        expect: {details: {conflicts: [{file: lines.txt}]}}
      - run: [git, reset, -q, --hard, HEAD~2]
      - write: {path: own.txt, text: "mine\n"}
      - commit: Something else
      - call: git_rebase
        expect: {moved: true, onto: main, status: done}
        save: done
      - run: [sh, -c, 'grep -q theirs lines.txt && test -f own.txt']
      - call: git_rebase
        expect: {moved: false, head: '{{done.head}}'}
      - result: {summary: rebased}
  fit:
    steps:
      - write: {path: own.txt, text: "mine\n"}
      - commit: Something else
      - run: [sh, -c, 'touch "$ADJUTANT_HOME/written"; until [ -e "$ADJUTANT_HOME/moved" ]; do sleep 0.02; done']
      - call: git_rebase
        expect: {moved: true, onto: main}
      - result: {summary: rebased}
"#;

/// What a supervisor plays: its prompt begins with words of ours.
const LEAD: &str = r"
steps:
  - call: agent_get_epic
    save: epic
  - call: task_list
    with: {epicId: '{{epic.id}}'}
    save: list
  - call: draft_agent
    with: {role: worker, prompt: part 1, taskSlug: '{{list.tasks.0.slug}}'}
    save: first
  - call: draft_agent
    with: {role: worker, prompt: part 2, taskSlug: '{{list.tasks.1.slug}}'}
    save: second
  - call: await_agent
    with: {agentId: '{{first.agentId}}', waitSeconds: 60}
    until: {status: completed}
  - call: await_agent
    with: {agentId: '{{second.agentId}}', waitSeconds: 60}
    until: {status: completed}
  - call: task_list
    with: {epicId: '{{epic.id}}', state: REVIEW}
    expect: {tasks: [{slug: one}, {slug: two}]}
  - call: git_get_diff
    with: {taskId: one}
    expect: {files: [{path: part-1.txt}], baseName: 'adjutant/epic/{{epic.id}}'}
  - result: {summary: 'led {{epic.title}}'}
";

/// What a supervisor plays that starts workers and is never heard of again; its successor ends at once.
const STUCK: &str = r#"
steps:
  - call: agent_get_epic
    save: epic
  - call: draft_agent
    with: {role: worker, prompt: hang, taskSlug: one}
    save: first
  - call: draft_agent
    with: {role: worker, prompt: hang, taskSlug: two}
  - run: [sh, -c, 'if [ -e "$ADJUTANT_HOME/stuck" ]; then exit 7; fi; touch "$ADJUTANT_HOME/stuck"']
  - deaf: true
  - sleep: 1000
"#;

/// What a supervisor plays that calls nobody and talks when it is told to.
const TALKS: &str = r#"
steps:
  - run: [sh, -c, 'touch "$ADJUTANT_HOME/there"; until [ -e "$ADJUTANT_HOME/talk" ]; do sleep 0.02; done']
  - repeat: {times: 1000, steps: [{say: 'still here'}, {sleep: 0.1}]}
"#;

/// A project under git with an office.
async fn stage(lead: &str, variables: &[(&str, &str)]) -> World {
    let world = scene(STORY, variables).await;
    fs::write(world.project().join("lead.yaml"), lead).unwrap();
    cast(&world, "orchestrator", "category: orchestrator");
    cast(&world, "worker", "category: worker");
    crate::crew::role(
        &world,
        "supervisor",
        "category: supervisor\nagent: script\nscript: lead.yaml",
    );
    fs::write(world.project().join("lines.txt"), "one\ntwo\nthree\n").unwrap();
    repository(&world).await;
    world
}

async fn tool(world: &World, name: &str, input: Value) -> Value {
    answer(world, &["tool", name, "--input", &input.to_string()]).await
}

/// An epic with two tasks.
async fn epic(world: &World) -> String {
    let made = tool(world, "mcp__epic__create", json!({ "title": "Users" })).await;
    let epic = made["id"].as_str().unwrap().to_owned();
    for slug in ["one", "two"] {
        let task = json!({ "title": format!("Part {slug}"), "slug": slug, "epicId": epic });
        tool(world, "mcp__task__create", task).await;
    }
    epic
}

async fn task_states(world: &World, epic: &str) -> Vec<String> {
    let tasks = answer(world, &["tasks", "--epic", epic]).await;
    let tasks = tasks["tasks"].as_array().unwrap().iter();
    tasks.map(|task| task["state"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn an_orchestrator_has_an_epic_done_by_a_supervisor_and_its_workers() {
    let world = stage(LEAD, &[]).await;
    let _server = world.up().await.unwrap();
    let epic = epic(&world).await;
    let ran = world.run(&["run", "--role", "orchestrator", "--json", "orchestrate"]).await.unwrap();
    let over = ran.json().unwrap();
    assert_eq!(over["result"]["summary"], "led Users", "{over}");
    let agents = crew(&world).await;
    let lines: Vec<(&str, &Value)> =
        agents.iter().map(|agent| (agent["role"].as_str().unwrap(), &agent["depth"])).collect();
    let [zero, one, two] = [json!(0), json!(1), json!(2)];
    assert_eq!(
        lines,
        [("orchestrator", &zero), ("supervisor", &one), ("worker", &two), ("worker", &two)]
    );
    assert_eq!(task_states(&world, &epic).await, ["REVIEW", "REVIEW"]);
    // Each has its work on a branch of its own, which begins where the epic's branch stands.
    let branch = format!("adjutant/epic/{epic}");
    let main = sh(&world, "git rev-parse main").await;
    assert_eq!(sh(&world, &format!("git rev-parse {branch}")).await, main);
    for (n, worker) in [(1, &agents[2]), (2, &agents[3])] {
        let id = worker["id"].as_str().unwrap();
        let changed = sh(&world, &format!("git diff --name-only {branch} adjutant/{id}")).await;
        assert_eq!(changed, format!("part-{n}.txt"));
        assert_eq!(sh(&world, &format!("git merge-base {branch} adjutant/{id}")).await, main);
    }
    assert_eq!(sh(&world, "git status --porcelain").await, "");
    assert_eq!(leftovers(&world), Vec::<String>::new());
}

#[tokio::test]
async fn a_supervisor_that_is_lost_is_replaced_and_its_crew_ends() {
    let world = stage(STUCK, &[("ADJUTANT_LIMITS_GRACE", "200")]).await;
    let _server = world.up().await.unwrap();
    let epic = epic(&world).await;
    let made = answer(&world, &["supervisors", "create", &epic, "--prompt", "Tests first"]).await;
    let old = made["agentId"].as_str().unwrap().to_owned();
    let stuck = world.home().join("stuck");
    until("the supervisor has two workers", || stuck.exists()).await;
    let workers: Vec<String> = crew(&world).await[1..]
        .iter()
        .map(|worker| worker["id"].as_str().unwrap().to_owned())
        .collect();
    for worker in &workers {
        let file = world.home().join(format!("hangs-{worker}"));
        until("its workers work", || file.exists()).await;
    }
    let listed = answer(&world, &["supervisors"]).await;
    let one = &listed["supervisors"][0];
    assert_eq!(
        (&one["agentId"], &one["isHealthy"], &one["workers"]),
        (&json!(old), &json!(true), &json!(2))
    );
    assert_eq!(one["tasks"]["IN_PROGRESS"], 2, "{one}");
    let text = world.run(&["supervisors"]).await.unwrap().ok().unwrap().stdout;
    assert!(text.contains("healthy") && text.contains("2 in progress"), "{text}");

    let refused = world.run(&["supervisors", "recover", &old]).await.unwrap();
    assert_eq!(refused.code, Some(5), "{refused:?}");
    assert!(
        refused.stderr.contains("is healthy") && refused.stderr.contains("force"),
        "{refused:?}"
    );
    let typed = ["supervisors", "recover", &old, "--force", "--reason", "it hangs"];
    let recovered = answer(&world, &typed).await;
    assert_eq!((&recovered["status"], &recovered["tasksReset"]), (&json!("recovered"), &json!(2)));
    let new = recovered["newAgentId"].as_str().unwrap().to_owned();
    for gone in workers.iter().chain([&old]) {
        assert_eq!(ended(&world, gone).await, "killed");
    }
    assert!(reason(&world, &old).await.contains("replaced by the operator: it hangs"));
    // The successor's own start ends in failure here; what it took is free again, and somebody hears of it.
    assert_eq!(ended(&world, &new).await, "failed");
    // Of two that lead the same epic the second began after the first was gone.
    let finished = events(&world, "agent.finished").await;
    let end = finished.iter().find(|event| event["agentId"] == *old).unwrap();
    let started = events(&world, "agent.started").await;
    let begin = started.iter().find(|event| event["agentId"] == *new).unwrap();
    assert!(begin["number"].as_i64() > end["number"].as_i64(), "{begin} {end}");
    until_idle(&world).await;
    assert_eq!(task_states(&world, &epic).await, ["PENDING", "PENDING"]);
    let mail = answer(&world, &["mail"]).await;
    let mail = mail["mails"].as_array().unwrap();
    let about =
        |words: &str| mail.iter().any(|one| one["subject"].as_str().unwrap().contains(words));
    assert!(about(&format!("Supervisor {old} is being replaced")), "{mail:?}");
    assert!(about(&format!("Supervisor {new} has ended: failed")), "{mail:?}");
    let pending = answer(&world, &["supervisors"]).await;
    assert_eq!(pending["pendingEpics"][0]["epicId"], epic.as_str(), "{pending}");
    assert_eq!(leftovers(&world), Vec::<String>::new());
}

#[tokio::test]
async fn a_supervisor_is_replaced_even_if_the_server_is_killed_meanwhile() {
    let world = stage(STUCK, &[]).await;
    let server = world.up().await.unwrap();
    let epic = epic(&world).await;
    let made = answer(&world, &["supervisors", "create", &epic]).await;
    let old = made["agentId"].as_str().unwrap().to_owned();
    let stuck = world.home().join("stuck");
    until("the supervisor is deaf", || stuck.exists()).await;
    let typed = ["supervisors", "recover", &old, "--force", "--json"];
    let asking = world.command(&typed).spawn().unwrap();
    // It takes some seconds to end somebody who does not listen.
    while events(&world, "supervisor.recovering").await.is_empty() {}
    server.kill().await.unwrap();
    drop(asking);
    let _server = world.up().await.unwrap();
    assert_eq!(ended(&world, &old).await, "killed");
    let told = events(&world, "supervisor.recovered").await;
    assert_eq!(told.len(), 1, "{told:?}");
    let new = told[0]["data"]["successorId"].as_str().unwrap();
    assert_eq!(told[0]["agentId"], old.as_str());
    assert_eq!(ended(&world, new).await, "failed");
    until_idle(&world).await;
    assert_eq!(task_states(&world, &epic).await, ["PENDING", "PENDING"]);
}

#[tokio::test]
async fn what_a_supervisor_says_is_a_sign_of_life() {
    let world = stage(TALKS, &[]).await;
    let _server = world.up().await.unwrap();
    let epic = epic(&world).await;
    let made = answer(&world, &["supervisors", "create", &epic]).await;
    let id = json!({ "agentId": made["agentId"] });
    let there = world.home().join("there");
    until("it is there", || there.exists()).await;
    let before = host::clock::Clock::System.now();
    fs::write(world.home().join("talk"), "").unwrap();
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        let health = tool(&world, "mcp__orchestrator__check_supervisor_health", id.clone()).await;
        let heard: model::Timestamp = health["lastActiveAt"].as_str().unwrap().parse().unwrap();
        assert_eq!((&health["status"], &health["state"]), (&json!("healthy"), &json!("BUSY")));
        if heard > before {
            break;
        }
        assert!(tokio::time::Instant::now() < deadline, "{health}");
    }
    until_idle(&world).await;
}

/// Waits until nobody is left.
async fn until_idle(world: &World) {
    for agent in crew(world).await {
        let id = agent["id"].as_str().unwrap();
        let killed = world.run(&["kill", id]).await.unwrap();
        assert!(matches!(killed.code, Some(0 | 5)), "{killed:?}");
    }
}

#[tokio::test]
async fn work_that_does_not_fit_is_refused_with_file_and_lines_and_can_be_put_on_top_later() {
    let world = stage(LEAD, &[]).await;
    let _server = world.up().await.unwrap();
    let worker = draft(&world, "worker", "clash").await;
    let written = world.home().join("written");
    until("the worker has committed", || written.exists()).await;
    sh(&world, "printf 'one\\ntheirs\\nthree\\n' > lines.txt && git commit -qam Theirs").await;
    fs::write(world.home().join("moved"), "").unwrap();
    let over = answer(&world, &["await", &worker]).await;
    assert_eq!(over["state"], "succeeded", "{over}");
    let log = sh(&world, &format!("git log --format=%s adjutant/{worker}")).await;
    assert_eq!(log, "Something else\nTheirs\nBegin");
    assert!(!is_there(&world, "own.txt"), "the project is as it was");
    assert_eq!(sh(&world, "git status --porcelain").await, "");
}

/// Lets the server die at each place of a rebase: after a restart the work is on top, once.
#[tokio::test]
async fn a_crash_at_any_place_of_a_rebase_leaves_the_work_on_top_once() {
    for point in engine::Point::ALL.iter().filter(|point| point.name().starts_with("rebase.")) {
        let mut world = stage(LEAD, &[]).await;
        world.set("ADJUTANT_CRASH_AT", point.name());
        let mut server = world.up().await.unwrap();
        let worker = draft(&world, "worker", "fit").await;
        let written = world.home().join("written");
        until("the worker has committed", || written.exists()).await;
        sh(&world, "printf 'one\\ntheirs\\nthree\\n' > lines.txt && git commit -qam Theirs").await;
        fs::write(world.home().join("moved"), "").unwrap();
        server.ended().await.unwrap();
        world.set("ADJUTANT_CRASH_AT", "");
        let _server = world.up().await.unwrap();
        let over = answer(&world, &["await", &worker]).await;
        assert_eq!(over["state"], "succeeded", "{point}: {over}");
        let log = sh(&world, &format!("git log --format=%s adjutant/{worker}")).await;
        assert_eq!(log, "Something else\nTheirs\nBegin", "{point}");
    }
}

#[tokio::test]
async fn without_supervisors_the_command_line_says_what_to_do() {
    let world = stage(LEAD, &[]).await;
    let _server = world.up().await.unwrap();
    let none = world.run(&["supervisors"]).await.unwrap().ok().unwrap().stdout;
    assert!(none.contains("No supervisors"), "{none}");
    let epic = epic(&world).await;
    let unled = world.run(&["supervisors"]).await.unwrap().ok().unwrap().stdout;
    assert!(unled.contains(&epic) && unled.contains("adjutant supervisors create"), "{unled}");
    let wrong = world.run(&["supervisors", "create", "epic_00000000000000aa"]).await.unwrap();
    assert_eq!(wrong.code, Some(4), "{wrong:?}");
    let wrong = world.run(&["supervisors", "recover", "sp_00000000000000aa"]).await.unwrap();
    assert_eq!(wrong.code, Some(4), "{wrong:?}");
    let worker = draft(&world, "worker", "part 1").await;
    until_is(&world, &worker, "succeeded").await;
    let wrong = world.run(&["supervisors", "recover", &worker]).await.unwrap();
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.stderr.contains("is not a supervisor"), "{wrong:?}");
}
