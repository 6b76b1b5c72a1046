//! The scripted agent: a real process and a real MCP client, and every step does what it says.

mod stage;

use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;

use stage::{Stage, ended, lines};

#[tokio::test]
async fn steps_are_played_in_their_order() {
    let stage = Stage::bare();
    stage.world.shell("git init -q").await.unwrap().ok().unwrap();
    let played = stage
        .play(
            r#"
steps:
  - say: begin
  - write: {path: notes/a.txt, text: "one\n"}
  - append: {path: notes/a.txt, text: "two\n"}
  - commit: "add a note"
  - commit: "add nothing"
  - run: [sh, -c, "cat notes/a.txt; exit 3"]
    code: 3
  - run: [sh, -c, "echo > made"]
    background: true
  - wait_file: {path: made}
  - sleep: 0.001
  - burn: {input_tokens: 1000, output_tokens: 200, cost_usd: 0.02}
  - burn: {cost_usd: 1.5}
  - limited: {until: "2026-11-15T12:00:00Z"}
  - limited: {}
  - tool: {name: Bash, input: {command: ls}}
  - tool: {name: Edit, error: "no such file"}
  - model: local-7b
  - repeat:
      times: 2
      steps:
        - say: "turn {{i}}"
        - repeat: {times: 1, steps: [{say: "inner {{i}}"}]}
  - result: {summary: "done it", changes: [notes/a.txt], questions: ["why?"]}
  - say: end
"#,
        )
        .await;
    assert_eq!(
        played.said(),
        [
            "begin",
            "nothing to commit",
            "one",
            "two",
            r#"{"adjutant":{"usage":{"input_tokens":1000,"output_tokens":200,"cost_usd":0.02}}}"#,
            r#"{"adjutant":{"usage":{"cost_usd":1.5}}}"#,
            r#"{"adjutant":{"limited":{"until":"2026-11-15T12:00:00.000Z"}}}"#,
            r#"{"adjutant":{"limited":{}}}"#,
            r#"{"adjutant":{"tool":{"id":"use-1","name":"Bash","input":{"command":"ls"}}}}"#,
            r#"{"adjutant":{"tool":{"id":"use-1","done":true}}}"#,
            r#"{"adjutant":{"tool":{"id":"use-2","name":"Edit"}}}"#,
            r#"{"adjutant":{"tool":{"id":"use-2","error":"no such file","done":true}}}"#,
            r#"{"adjutant":{"model":"local-7b"}}"#,
            "turn 1",
            "inner 1",
            "turn 2",
            "inner 1",
            "end",
        ]
    );
    assert_eq!(
        played.lines.last().unwrap(),
        r#"{"status":"success","summary":"done it","changes":["notes/a.txt"],"issues":[],"questions":["why?"]}"#
    );
    let log = stage.world.shell("git log --format='%an: %s' && git status -s notes").await.unwrap();
    assert_eq!(log.stdout, "Scripted agent: add a note\n");
}

#[tokio::test]
async fn a_limit_may_be_said_in_seconds() {
    let stage = Stage::bare();
    let played = stage.play("steps: [{limited: {seconds: 3600}}]").await;
    let line: Value = serde_json::from_str(&played.said()[0]).unwrap();
    let until = line["adjutant"]["limited"]["until"].as_str().unwrap();
    assert!(until.ends_with('Z') && until.len() == 24, "{until}");
    assert_eq!(played.result()["summary"], "played `s.yaml` to its end");
}

#[tokio::test]
async fn ends_are_what_the_scenario_wants() {
    let stage = Stage::bare();
    let played = stage.play("steps: [{say: a}, {fail: 'no time left'}, {say: b}]").await;
    assert_eq!(played.failure(), "no time left");
    assert_eq!((played.lines.len(), played.stderr.as_str()), (2, ""));
    let played = stage.play("steps: [{result: {summary: x}}, {exit: 3}]").await;
    assert_eq!((played.code, played.lines.len()), (Some(3), 0));
    assert_eq!(stage.play("steps: [{exit: 0}]").await.code, Some(0));
    let played = stage.play("steps: [{say: a}, {crash: true}, {say: b}]").await;
    assert_eq!((played.code, played.lines), (None, vec!["a".to_owned()]));
    let played = stage.play("steps: [{result: {status: partial, issues: [{n: 1}]}}]").await;
    assert_eq!((played.code, played.result()["status"].as_str()), (Some(0), Some("partial")));
}

#[tokio::test]
async fn what_cannot_be_done_says_where() {
    let stage = Stage::bare();
    for (step, why) in [
        (
            "{write: {path: ../x, text: x}}",
            "`../x` leads out of the folder in which the agent works",
        ),
        ("{run: [sh, -c, exit 2]}", "`sh` should exit with 0, and exited with 2"),
        ("{wait_file: {path: never, seconds: 0}}", "`never` did not come within 0 s"),
        ("{say: '{{promt}}'}", "`{{promt}}`: there is no `promt`; there is only `prompt`"),
        (
            "{sleep: -1}",
            "that is no length of time: cannot convert float seconds to Duration: value is negative",
        ),
        ("{limited: {until: tomorrow}}", "`tomorrow` is not a time"),
        (
            "{call: mail_send}",
            "there is no server to call: `ADJUTANT_URL` and `ADJUTANT_TOKEN` are not set, as they are for every agent",
        ),
    ] {
        let scenario = format!("steps:\n  - say: a\n  - parallel:\n    - - {step}\n");
        assert_eq!(stage.play(&scenario).await.failure(), format!("s.yaml:4: {why}"));
    }
    let played = stage.play("steps: [{commit: x}]").await;
    assert!(
        played.failure().starts_with("s.yaml:1: `git add` failed: fatal: not a git"),
        "{:?}",
        played.lines
    );
}

#[tokio::test]
async fn a_file_with_a_mistake_is_refused_with_its_line() {
    let stage = Stage::bare();
    let played = stage.play("steps:\n  - say: a\n  - slep: 1\n").await;
    assert_eq!(played.code, Some(2));
    assert_eq!(played.lines.len(), 1, "nothing was played: {:?}", played.lines);
    assert_eq!(played.result()["summary"], "s.yaml:3: unknown key `slep`");
    assert!(played.stderr.contains("did you mean `sleep`?"), "{}", played.stderr);
    let ran = stage.world.run(&["play", "none.yaml"]).await.unwrap();
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("there is no file `none.yaml`"), "{}", ran.stderr);
}

#[tokio::test]
async fn the_prompt_chooses_and_the_attempt_changes_the_steps() {
    let stage = Stage::bare();
    let scenario = r#"
steps: [{say: "nobody asked for {{prompt}}"}]
scenarios:
  burn:
    steps:
      - repeat:
          times: "{{args.1}}"
          steps: [{burn: {cost_usd: "{{args.2}}"}}]
      - say: "{{args.0}} {{args}} {{attempt}}"
    attempts:
      2: [{say: "again {{env.ADJUTANT_ATTEMPT}}"}]
"#;
    let context = "# Role\n\n> quoted\n\n---\n\n# Your Task\n\nburn 2 0.25\n\nPlease.\n";
    let played = stage.play_for(scenario, context).await;
    let burnt = r#"{"adjutant":{"usage":{"cost_usd":0.25}}}"#;
    assert_eq!(played.said(), [burnt, burnt, r#"burn ["burn","2","0.25"] 1"#]);
    assert_eq!(stage.play_for(scenario, "burn 2 0.25").await.said(), ["again 2"]);
    assert_eq!(stage.play_for(scenario, "rest").await.said(), ["nobody asked for rest"]);
}

#[tokio::test]
async fn calls_are_real_and_their_answers_are_checked() {
    let stage = Stage::with_server("planner").await;
    let played = stage
        .play(
            r#"
steps:
  - expect_tools: [task_create, mail_send]
  - expect_no_tools: [supervisor_approve_task, no_such_tool]
  - call: task_create
    with: {title: "One of {{agent}}", priority: 1}
    save: first
    expect: {title: "One of {{agent}}", priority: 1, dependsOn: []}
  - call: mcp__task__create
    with: {title: Two, dependsOn: ["{{first.id}}"], priority: "{{first.priority}}"}
    save: second
    expect: {dependsOn: ["{{first.id}}"], priority: 1}
  - call: task_list
    expect: {tasks: [{title: Two}, {slug: "{{first.slug}}"}]}
  - call: task_get
    with: {taskId: TAS-999}
    fails: RESOURCE_NOT_FOUND
    save: error
  - call: mail_sned
    fails: TOOL_NOT_FOUND
  - say: "{{error.code}} {{task}} {{second.title}}"
"#,
        )
        .await;
    assert_eq!(played.said(), ["RESOURCE_NOT_FOUND fix-it Two"]);
    let tasks = stage.http().call("mcp__task__list", json!({})).await.unwrap().unwrap();
    assert_eq!(tasks["tasks"].as_array().unwrap().len(), 2, "each was made once");
}

#[tokio::test]
async fn an_answer_that_does_not_fit_ends_the_agent() {
    let stage = Stage::with_server("worker").await;
    for (step, why) in [
        (
            "{call: agent_get_status, expect: {role: coder}}",
            "`agent_get_status`: `role` should be \"coder\", and is \"worker\"",
        ),
        (
            "{call: mail_list_inbox, until: {unreadCount: 1}, tries: 3, pause: 0.001}",
            "`mail_list_inbox`: after 3 tries `unreadCount` should be 1, and is 0",
        ),
        (
            "{call: task_create, fails: CONFLICT, with: {title: x}}",
            "`task_create` should fail with CONFLICT, and failed with PERMISSION_DENIED: ",
        ),
        (
            "{call: mail_list_inbox, fails: CONFLICT}",
            "`mail_list_inbox` should fail with CONFLICT, and answered {",
        ),
        ("{call: task_create, with: {title: x}}", "`task_create` failed: PERMISSION_DENIED: "),
        ("{expect_tools: [mail_sned]}", "the tool `mail_sned` is not listed; there is `mail_send`"),
        ("{expect_no_tools: [mail_send]}", "the tool `mail_send` is listed and should not be"),
    ] {
        let failure = stage.play(&format!("steps:\n  - say: a\n  - {step}\n")).await.failure();
        assert!(failure.starts_with(&format!("s.yaml:3: {why}")), "{failure}");
    }
    let (_, agent) = stage.server.as_ref().unwrap();
    stage.world.run(&["discharge", &agent.id]).await.unwrap().ok().unwrap();
    let played = stage.play("steps: [{call: mail_list_inbox, fails: UNAUTHENTICATED}]").await;
    assert_eq!(played.code, Some(0), "{:?}", played.lines);
}

#[tokio::test]
async fn branches_run_side_by_side_and_bring_their_answers_back() {
    let stage = Stage::with_server("planner").await;
    // Each waits for the other: one after the other they would never end.
    let played = stage
        .play(
            r#"
steps:
  - parallel:
      - - wait_file: {path: two}
        - call: task_create
          with: {title: One}
          save: one
        - write: {path: one, text: "{{one.slug}}"}
      - - write: {path: two, text: ""}
        - wait_file: {path: one}
        - call: mail_send
          with: {toHuman: true, subject: s, body: b}
          save: mail
  - say: "{{one.title}} {{mail.mailId}}"
"#,
        )
        .await;
    assert!(played.said()[0].starts_with("One mail_"), "{:?}", played.lines);
}

#[tokio::test]
async fn a_waiting_tool_is_called_until_its_answer_fits() {
    let stage = Stage::with_server("worker").await;
    let scenario = r#"
steps:
  - say: waiting
  - call: mail_list_inbox
    with: {waitSeconds: 1}
    until: {mails: [{subject: Go}]}
    save: inbox
  - say: "{{inbox.mails.0.fromAgentId}}"
"#;
    let mut child = stage.start(scenario, "").await;
    let mut lines = lines(&mut child);
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "waiting");
    let (_, agent) = stage.server.as_ref().unwrap();
    let letter = ["mail", "send", "--to", &agent.id, "--subject", "Go", "now"];
    stage.world.run(&letter).await.unwrap().ok().unwrap();
    assert!(lines.next_line().await.unwrap().is_some());
    assert!(ended(child).await.success());
}

#[tokio::test]
async fn a_server_that_is_killed_is_waited_for() {
    let mut stage = Stage::with_server("worker").await;
    let scenario = r#"
steps:
  - repeat:
      times: 60
      steps:
        - call: mail_send
          with: {toHuman: true, subject: "no {{i}}", body: b}
        - say: "sent {{i}}"
"#;
    let mut child = stage.start(scenario, "").await;
    let mut lines = lines(&mut child);
    let mut last = String::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        if ["sent 7", "sent 23", "sent 42"].contains(&line.as_str()) {
            let (server, agent) = stage.server.take().unwrap();
            server.kill().await.unwrap();
            stage.server = Some((stage.world.up().await.unwrap(), agent));
        }
        last = line;
    }
    assert!(ended(child).await.success(), "{last}");
    let mail = stage.world.run(&["mail", "--json"]).await.unwrap().ok().unwrap().json().unwrap();
    let mut subjects: Vec<u32> = mail["mails"]
        .as_array()
        .unwrap()
        .iter()
        .map(|mail| mail["subject"].as_str().unwrap().strip_prefix("no ").unwrap().parse().unwrap())
        .collect();
    subjects.sort_unstable();
    assert_eq!(subjects, (1..=60).collect::<Vec<u32>>(), "every letter arrived, and once");
}

#[tokio::test]
async fn patience_has_an_end() {
    let mut stage = Stage::with_server("worker").await;
    let (server, agent) = stage.server.take().unwrap();
    let url = server.url.clone();
    assert_eq!(server.stop().await.unwrap(), Some(0));
    std::fs::write(stage.path("s.yaml"), "patience: 0.05\nsteps: [{call: mail_list_inbox}]")
        .unwrap();
    let mut command = stage.world.command(&["play", "s.yaml"]);
    command.env("ADJUTANT_URL", &url).env("ADJUTANT_TOKEN", &agent.token);
    let output = command.output().await.unwrap();
    assert_eq!(output.status.code(), Some(1));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let summary = result["summary"].as_str().unwrap();
    let expected = "s.yaml:2: `mail_list_inbox` was not answered: the server was gone for 0.05 s: no server answers at ";
    assert!(summary.starts_with(expected), "{summary}");
}

#[tokio::test]
async fn a_deaf_agent_is_not_ended_by_a_request() {
    let stage = Stage::bare();
    let scenario = "steps: [{deaf: true}, {say: deaf}, {wait_file: {path: go}}, {say: still here}]";
    let mut child = stage.start(scenario, "").await;
    let mut lines = lines(&mut child);
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "deaf");
    host::process::terminate(child.id().unwrap()).unwrap();
    std::fs::write(stage.path("go"), "").unwrap();
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "still here");
    assert!(ended(child).await.success());

    let mut child = stage.start("steps: [{say: here}, {wait_file: {path: never}}]", "").await;
    let mut lines = self::lines(&mut child);
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "here");
    host::process::terminate(child.id().unwrap()).unwrap();
    assert_eq!(ended(child).await.code(), None, "the others hear well");
}

#[tokio::test]
async fn an_agent_may_close_its_output_and_go_on() {
    let stage = Stage::bare();
    let scenario = "steps: [{say: last}, {close_output: true}, {say: unheard}, {wait_file: {path: go}}, {write: {path: done, text: x}}]";
    let mut child = stage.start(scenario, "").await;
    let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let mut said = String::new();
    stdout.read_to_string(&mut said).await.unwrap();
    stderr.read_to_string(&mut said).await.unwrap();
    assert_eq!(said, "last\n");
    assert!(child.try_wait().unwrap().is_none(), "it goes on");
    std::fs::write(stage.path("go"), "").unwrap();
    assert!(ended(child).await.success());
    assert!(stage.path("done").exists());
}

#[tokio::test]
async fn a_flood_is_as_large_as_it_was_asked_for() {
    let stage = Stage::bare();
    let played = stage.play("steps: [{print: {bytes: 100000, line: 99}}]").await;
    assert!(played.said().len() == 1000 && played.said().iter().all(|line| line.len() == 99));
    let child =
        stage.start("steps: [{print: {bytes: 3000000, line: 2999999, utf8: false}}]", "").await;
    let output = child.wait_with_output().await.unwrap();
    let flood = &output.stdout[..3_000_000];
    assert_eq!(flood.iter().position(|&byte| byte == b'\n'), Some(2_999_999));
    assert!(std::str::from_utf8(flood).is_err());
}

#[tokio::test]
async fn the_scenario_of_the_manual_can_be_played() {
    let manual = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/how-to/scripted-agents.md");
    let manual = std::fs::read_to_string(manual).unwrap();
    let first = manual.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let stage = Stage::with_server("planner").await;
    stage.world.shell("git init -q").await.unwrap().ok().unwrap();
    let played = stage.play_for(first, "plan 2").await;
    assert_eq!(played.result()["status"], "success", "{:?}", played.lines);
}
