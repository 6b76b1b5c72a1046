//! What the page shows to who answers and approves, over the real server: a question for leave, a review's rounds, and a
//! check while it runs.

use std::fs;

use serde_json::{Value, json};
use testkit::{Http, World};
use tokio_util::task::TaskTracker;

use crate::crew::{in_order, repository, scene, settled, until};
use crate::going_on::claude;
use crate::kill::{answer, cast, draft, ended, lines, operator, until_is};

async fn get(http: &Http, path: &str) -> Value {
    let (status, body) = http.get(path).await.unwrap();
    assert!(status.is_success(), "{path}: {body}");
    body
}

/// Asks for one tool, waits for the answer, and then for a last word.
const ASKS: &str = r#"
say '{"type":"system","subtype":"init","session_id":"s-1","model":"m","mcp_servers":[]}'
say '{"type":"control_request","request_id":"r-1","request":{"subtype":"can_use_tool","tool_name":"WebFetch","input":{"url":"https://example.com"}}}'
hear
hear
say '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"done","session_id":"s-1"}'
"#;

#[tokio::test]
async fn a_question_for_leave_is_shown_with_what_it_is_for_and_is_answered_once() {
    let mut world = scene("scenarios: {}\n", &[("ADJUTANT_AGENTS_ASKS", "person")]).await;
    claude(&mut world, ASKS);
    let server = world.up().await.unwrap();
    let http = operator(&world, &server).await;
    let agent = draft(&world, "claude-hand", "Look it up").await;
    until_is(&world, &agent, "waiting_input").await;
    let asks = get(&http, "/api/mail?box=asks").await;
    let letter = &asks["letters"][0];
    assert_eq!((&letter["kind"], &letter["needsAnswer"]), (&json!("permission"), &json!(true)));
    let id = letter["id"].as_str().unwrap();
    let thread = get(&http, &format!("/api/mail/threads/{id}")).await;
    let asked = &thread["letters"][0];
    assert_eq!(asked["request"]["tool"], "WebFetch");
    let input: Value = serde_json::from_str(asked["request"]["input"].as_str().unwrap()).unwrap();
    assert_eq!(input, json!({ "url": "https://example.com" }), "nothing but what it is for");
    let offered: Vec<&Value> =
        asked["options"].as_array().unwrap().iter().map(|option| &option["reply"]).collect();
    assert_eq!(offered, ["allow", "deny", "always"]);
    assert_eq!(
        asked["options"][2]["text"],
        "Always allow WebFetch(domain:example.com) in this run"
    );
    assert_eq!((&thread["wakes"], &thread["replyTo"]), (&json!(true), &json!(id)));

    for reply in ["allow", "deny: I changed my mind"] {
        let input = json!({ "originalMailId": id, "body": reply });
        http.call("mcp__mail__reply", input).await.unwrap().ok().unwrap();
    }
    until_is(&world, &agent, "running").await;
    let note = json!({ "toAgentId": agent, "subject": "End", "body": "b" });
    http.call("mcp__mail__send", note).await.unwrap().ok().unwrap();
    assert_eq!(ended(&world, &agent).await, "succeeded");
    let heard = lines(&world, "heard");
    let answers: Vec<Value> = heard
        .iter()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|said| said["type"] == "control_response")
        .collect();
    assert_eq!(answers.len(), 1, "{heard:?}");
    assert_eq!(answers[0]["response"]["response"]["behavior"], "allow", "the first one counts");
    let thread = get(&http, &format!("/api/mail/threads/{id}")).await;
    let asked = &thread["letters"][0];
    assert_eq!(
        (&asked["settled"]["allowed"], &asked["settled"]["by"]["human"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(asked["needsAnswer"], false);
    assert_eq!(get(&http, "/api/mail?box=asks").await["letters"], json!([]));
}

/// Asks for four tools, one after the other: two of one pattern, another one, and one that nobody is asked about.
const ASKS_OFTEN: &str = r#"
say '{"type":"system","subtype":"init","session_id":"s-1","model":"m","mcp_servers":[]}'
ask() { say '{"type":"control_request","request_id":"'$1'","request":{"subtype":"can_use_tool","tool_name":"'$2'","input":{"command":"'"$3"'"}}}'; hear; }
ask r-1 Bash 'make all'
ask r-2 Bash 'make all -j2'
ask r-3 mcp__mail__list_inbox ''
ask r-4 Bash 'make all; rm -rf /'
say '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"done","session_id":"s-1"}'
"#;

/// The question that is open, which says this.
async fn asked(world: &World, server: &testkit::Server, wanted: &str) -> String {
    let asks = get(&operator(world, server).await, "/api/mail?box=asks").await;
    let id = asks["letters"][0]["id"].as_str().unwrap().to_owned();
    let read = world.run(&["mail", "read", &id]).await.unwrap().ok().unwrap().stdout;
    assert!(read.contains(wanted), "{read}");
    id
}

#[tokio::test]
async fn always_covers_the_calls_of_its_pattern_and_they_are_no_questions() {
    let mut world = scene("scenarios: {}\n", &[("ADJUTANT_AGENTS_ASKS", "person")]).await;
    claude(&mut world, ASKS_OFTEN);
    let server = world.up().await.unwrap();
    let agent = draft(&world, "claude-hand", "Make it").await;
    until_is(&world, &agent, "waiting_input").await;
    let first = asked(&world, &server, "`always` to allow `Bash(make all:*)` for the rest").await;
    // It is remembered on disk.
    server.kill().await.unwrap();
    let server = world.up().await.unwrap();
    let http = operator(&world, &server).await;
    world.run(&["mail", "reply", &first, "always"]).await.unwrap().ok().unwrap();
    until("the next question is asked", || lines(&world, "heard").len() > 3).await;
    until_is(&world, &agent, "waiting_input").await;
    let second = asked(&world, &server, "`always` to allow `Bash(make all; rm -rf /)`").await;
    assert_ne!(first, second);
    let stream = get(&http, &format!("/api/agents/{agent}/stream?whole=true")).await;
    let asked = stream["items"].as_array().unwrap().iter();
    let asked: Vec<&str> = asked
        .filter(|step| step["text"].as_str().unwrap().starts_with("asks"))
        .map(|step| step["input"]["command"].as_str().unwrap())
        .collect();
    assert_eq!(asked, ["make all", "make all; rm -rf /"]);
    world.run(&["mail", "reply", &second, "deny"]).await.unwrap().ok().unwrap();
    assert_eq!(ended(&world, &agent).await, "succeeded");
    let heard = lines(&world, "heard");
    let answers: Vec<String> = heard
        .iter()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|said| said["type"] == "control_response")
        .map(|said| said["response"]["response"]["behavior"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(answers, ["allow", "allow", "allow", "deny"]);
    // Another agent is asked anew.
    let other = draft(&world, "claude-hand", "Make it").await;
    until_is(&world, &other, "waiting_input").await;
    world.run(&["kill", &other]).await.unwrap();
}

const STORY: &str = r#"
scenarios:
  twice:
    steps:
      - repeat:
          times: 2
          steps:
            - append: {path: feature.txt, text: "{{i}}\n"}
            - commit: "Try {{i}}"
            - call: request_review
              with: {reviewer_prompt: refuse, completion_message: 'Done {{i}}'}
            - call: mail_list_inbox
              with: {waitSeconds: 100}
              until: {mails: [{subject: 'Review {{i}}: needs_work'}]}
              save: inbox
            - call: mail_read
              with: {mailId: '{{inbox.mails.0.id}}'}
      - run: [sh, -c, 'touch "$ADJUTANT_HOME/told"; until [ -e "$ADJUTANT_HOME/end" ]; do sleep 0.02; done']
      - result: {summary: reviewed}
  refuse:
    steps:
      - call: send_feedback
        with: {feedback: In feature.txt a line is lost., feedback_type: needs_work, actionable_items: [Keep it]}
  add:
    steps:
      - write: {path: feature.txt, text: "good\n"}
      - commit: Add it
      - result: {summary: added}
"#;

async fn stage(variables: &[(&str, &str)]) -> World {
    let world = scene(STORY, variables).await;
    let ask = "{{instructions}}\n\nWork of {{coder}}, {{iteration}} of {{max_iterations}}.\n";
    fs::write(world.home().join("review.md"), ask).unwrap();
    cast(&world, "coder", "category: coding\nworktree: fresh");
    cast(&world, "reviewer", "category: review");
    cast(&world, "hand", "category: worker\nworktree: fresh");
    world
}

#[tokio::test]
async fn a_coder_at_its_limit_is_shown_with_its_task_its_rounds_and_what_was_said() {
    let world = stage(&[("ADJUTANT_REVIEW_MAX_ITERATIONS", "2")]).await;
    repository(&world).await;
    let server = world.up().await.unwrap();
    let http = operator(&world, &server).await;
    let task = json!({ "title": "The feature", "slug": "feature" });
    http.call("mcp__task__create", task).await.unwrap().ok().unwrap();
    let drafted = answer(&world, &["draft", "--role", "coder", "--task", "feature", "twice"]).await;
    let coder = drafted["agentId"].as_str().unwrap();
    let told = world.home().join("told");
    until("it has had its reviews", || told.exists()).await;
    let limited = get(&http, "/api/reviews").await["limited"][0].clone();
    let task = json!({ "number": "TAS-1", "slug": "feature", "title": "The feature" });
    assert_eq!((&limited["coderId"], &limited["task"]), (&json!(coder), &task), "{limited}");
    assert_eq!((&limited["iterations"], &limited["maxIterations"]), (&json!(2), &json!(2)));
    assert!(limited["branch"].is_string() && limited["reviewedAt"].is_string(), "{limited}");
    let story = get(&http, "/api/reviews/feature").await;
    let rounds: Vec<(&Value, &Value, &Value)> = story["reviews"]
        .as_array()
        .unwrap()
        .iter()
        .map(|review| (&review["message"], &review["reviewerRole"], &review["feedback"]["items"]))
        .collect();
    let items = json!(["Keep it"]);
    let role = json!("reviewer");
    let said = [json!("Done 1"), json!("Done 2")];
    assert_eq!(rounds, [(&said[0], &role, &items), (&said[1], &role, &items)]);
    assert_eq!(
        (&story["reviews"][0]["coderRole"], &story["reviews"][0]["task"]),
        (&json!("coder"), &task)
    );
    fs::write(world.home().join("end"), "").unwrap();
    assert_eq!(ended(&world, coder).await, "succeeded");
    settled(&world).await;
    in_order(&world).await;
}

/// Says what it does, and waits until it is told to go on.
const CHECK: &str = r#"
echo "building"
echo "test 412 of 655"
touch "$ADJUTANT_HOME/checking"
until [ -e "$ADJUTANT_HOME/go" ]; do sleep 0.02; done
"#;

#[tokio::test]
async fn a_check_can_be_watched_while_it_runs() {
    let world = stage(&[]).await;
    fs::write(world.project().join("check.sh"), CHECK).unwrap();
    let config = world.home().join("config.yaml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text.replace("\ncheck: null\n", "\ncheck: sh check.sh\n")).unwrap();
    repository(&world).await;
    let server = world.up().await.unwrap();
    let http = operator(&world, &server).await;
    let epic = http.call("mcp__epic__create", json!({ "title": "E" })).await.unwrap().ok().unwrap();
    let task = json!({ "title": "Feature", "slug": "feature", "epicId": epic["id"] });
    http.call("mcp__task__create", task).await.unwrap().ok().unwrap();
    let ran = answer(&world, &["run", "--role", "hand", "--task", "feature", "add"]).await;
    assert_eq!(ran["state"], "succeeded", "{ran}");
    let approving = {
        let http = operator(&world, &server).await;
        TaskTracker::new().spawn(async move {
            http.call("mcp__supervisor__approve_task", json!({ "taskId": "feature" })).await
        })
    };
    let checking = world.home().join("checking");
    until("the check runs", || checking.exists()).await;
    let open = get(&http, "/api/merge-queue").await;
    let merge = &open["merges"][0];
    assert_eq!(
        (&merge["state"], &merge["title"]),
        (&json!("merging"), &json!("Feature")),
        "{open}"
    );
    assert!(merge.get("checking").is_none(), "only where one is asked for");
    let path = format!("/api/merge-queue/{}", merge["id"].as_str().unwrap());
    let one = get(&http, &path).await;
    assert_eq!(one["checking"]["output"], json!(["building", "test 412 of 655"]), "{one}");
    assert!(one["checking"]["startedAt"].is_string(), "{one}");
    fs::write(world.home().join("go"), "").unwrap();
    let merged = approving.await.unwrap().unwrap().ok().unwrap();
    assert_eq!(merged["status"], "merged", "{merged}");
    let over = get(&http, "/api/merge-queue?over=5").await;
    assert_eq!(
        (&over["merges"], &over["over"][0]["mergedCommit"]),
        (&json!([]), &merged["commit"])
    );
    assert!(get(&http, &path).await.get("checking").is_none());
    settled(&world).await;
    in_order(&world).await;
}
