//! What becomes of pull requests: asked for, and told by GitHub.

use host::github::{GitHub, NewPull, Repository};
use model::review::PullState;
use serde_json::{Value, json};
use testkit::github::{Delivery, Fault};
use testkit::{Agent, Http};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use super::{KEY, Stage, TOOL, as_agent, draft, events, request, stage, until_is};
use crate::kill::{answer, ended};

const HOOK: &str = "/api/github/webhook";

/// How an agent stands.
async fn status(stage: &Stage, url: &str, agent: &str) -> Value {
    let http = Http::new(url, stage.world.operator().await.unwrap());
    http.get(&format!("/api/agents/{agent}")).await.unwrap().1["reviewStatus"].clone()
}

/// Waits until a pull request has changed so many times, and gives what was told of it.
pub(super) async fn changes(stage: &Stage, many: usize) -> Vec<Value> {
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        let told = events(&stage.world, "pull.changed").await;
        if told.len() >= many {
            return told;
        }
        assert!(tokio::time::Instant::now() < deadline, "{told:?}");
    }
}

/// The subjects of an agent's mail.
async fn mail(http: &Http) -> Vec<Value> {
    let inbox = http.call("mcp__mail__list_inbox", json!({})).await.unwrap().unwrap();
    inbox["mails"].as_array().unwrap().iter().map(|mail| mail["subject"].clone()).collect()
}

async fn deliver(url: &str, delivery: &Delivery) -> (u16, Value) {
    // Anyone who holds the key needs no token.
    let http = Http::new(url, "nobody");
    let body: Value = serde_json::from_slice(&delivery.body).unwrap();
    assert_eq!(body.to_string().as_bytes(), delivery.body, "it is sent as it was signed");
    let headers = [
        ("X-GitHub-Event", delivery.event.as_str()),
        ("X-Hub-Signature-256", delivery.signature.as_str()),
    ];
    let (status, answer) = http.post_with(HOOK, &body, &headers).await.unwrap();
    (status.as_u16(), answer)
}

/// Announces a body of that length, sends none of it, and gives the first line of the answer.
async fn announce(url: &str, length: usize) -> String {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head =
        format!("POST {HOOK} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    BufReader::new(stream).lines().next_line().await.unwrap().unwrap()
}

#[tokio::test]
async fn asking_now_and_then_finds_out_that_work_is_in() {
    let stage = stage(&[("ADJUTANT_GITHUB_POLL_SECONDS", "1")]).await;
    let server = stage.world.up().await.unwrap();
    answer(&stage.world, &["tasks", "add", "Feature", "--slug", "feature"]).await;
    let Agent { id, token } = {
        let agent = stage.coder("work").await;
        // The same, with a task.
        let cwd = stage.world.scratch().join("work").display().to_string();
        stage.world.run(&["discharge", &agent.id]).await.unwrap().ok().unwrap();
        stage.world.enlist("coder", &["--cwd", &cwd, "--task", "feature"]).await.unwrap()
    };
    let http = Http::new(&server.url, &token);
    http.call(TOOL, request()).await.unwrap().unwrap();
    let task = || async { http.call("mcp__agent__get_task", json!({})).await.unwrap().unwrap() };
    let before = task().await;
    assert_eq!(before["state"], "IN_PROGRESS", "{before}");
    assert!(before["prUrl"].as_str().unwrap().contains("o/r/pull/1"), "{before}");
    // An odd answer is no reason to stop asking.
    stage.github.fail_next(Fault::Garbage("<html>".to_owned()));
    stage.github.set_pull_state(1, PullState::Merged);
    let told = changes(&stage, 1).await;
    let data = &told[0]["data"];
    assert_eq!(
        (&data["from"], &data["state"], &data["by"]),
        (&json!("open"), &json!("merged"), &json!("poll"))
    );
    assert_eq!(told[0]["agentId"], json!(id));
    assert_eq!(status(&stage, &server.url, &id).await, "PR_MERGED");
    assert_eq!(task().await["state"], "COMPLETED");
    assert_eq!(mail(&http).await, ["Pull request #1 was merged"]);
    stage.in_order().await;
}

#[tokio::test]
async fn the_worktree_of_an_agent_that_has_ended_goes_when_its_work_is_in_and_the_branch_stays() {
    let stage = stage(&[]).await;
    let server = stage.world.up().await.unwrap();
    let coder = draft(&stage.world, "coder", "deliver").await;
    assert_eq!(ended(&stage.world, &coder).await, "succeeded");
    stage.settled().await;
    let worktree = stage.world.worktrees().join(&coder);
    assert!(worktree.is_dir(), "it stays while the pull request is open");
    let head = stage.git(&format!("git rev-parse adjutant/{coder}")).await;
    stage.github.set_pull_state(1, PullState::Merged);
    let delivery = stage.github.deliver(1, KEY.as_bytes()).unwrap();
    assert_eq!(deliver(&server.url, &delivery).await, (200, json!({ "status": "changed" })));
    stage.settled().await;
    assert!(!worktree.exists());
    let has_it = format!("git for-each-ref --contains {head} --format='%(refname)' | head -1");
    assert_ne!(stage.git(&has_it).await, "", "no commit is lost");
    assert_eq!(status(&stage, &server.url, &coder).await, "PR_MERGED");
    stage.in_order().await;
}

#[tokio::test]
async fn an_approval_opens_the_pull_request_and_its_merge_completes_the_task() {
    let stage = stage(&[]).await;
    let server = stage.world.up().await.unwrap();
    let ran = answer(&stage.world, &["run", "--role", "coder", "asks"]).await;
    assert_eq!(
        (&ran["state"], &ran["taskState"]),
        (&json!("succeeded"), &json!("review")),
        "{ran}"
    );
    let [pull] = &stage.github.pulls()[..] else { panic!("one pull request") };
    assert_eq!(
        (pull.title.as_str(), pull.head.as_str()),
        ("asks", ran["branch"].as_str().unwrap())
    );
    assert!(pull.body.contains("It holds."), "{}", pull.body);
    let task = answer(&stage.world, &["tasks", "show", "TAS-1"]).await;
    assert!(task["prUrl"].as_str().unwrap().ends_with("/pull/1"), "{task}");
    stage.settled().await;
    let worktree = stage.world.worktrees().join(ran["agentId"].as_str().unwrap());
    assert!(worktree.is_dir(), "it stays while the pull request is open");
    stage.github.set_pull_state(1, PullState::Merged);
    let delivery = stage.github.deliver(1, KEY.as_bytes()).unwrap();
    let told = deliver(&server.url, &delivery).await;
    assert_eq!(told, (200, json!({ "status": "changed" })));
    let task = answer(&stage.world, &["tasks", "show", "TAS-1"]).await;
    assert_eq!(task["storedState"], "completed", "{task}");
    stage.settled().await;
    assert!(!worktree.exists(), "nobody needs it any more");
    stage.in_order().await;
}

#[tokio::test]
async fn a_closed_pull_request_is_told_to_a_person_if_its_author_has_ended() {
    let stage = stage(&[]).await;
    let server = stage.world.up().await.unwrap();
    let coder = draft(&stage.world, "coder", "deliver").await;
    assert_eq!(ended(&stage.world, &coder).await, "succeeded");
    stage.github.set_pull_state(1, PullState::Closed);
    let delivery = stage.github.deliver(1, KEY.as_bytes()).unwrap();
    assert_eq!(deliver(&server.url, &delivery).await.0, 200);
    assert_eq!(status(&stage, &server.url, &coder).await, "PR_CLOSED");
    let inbox = answer(&stage.world, &["mail"]).await;
    let subjects: Vec<&Value> =
        inbox["mails"].as_array().unwrap().iter().map(|mail| &mail["subject"]).collect();
    assert!(subjects.contains(&&json!("Pull request #1 was closed and not merged")), "{inbox}");
    assert!(stage.world.worktrees().join(&coder).is_dir(), "the work may go on");
    stage.in_order().await;
}

#[tokio::test]
async fn what_github_signs_is_heard_once_and_nothing_else_is() {
    let stage = stage(&[]).await;
    let server = stage.world.up().await.unwrap();
    let coder = stage.coder("work").await;
    let http = as_agent(&server, &coder);
    http.call(TOOL, request()).await.unwrap().unwrap();
    stage.github.set_pull_state(1, PullState::Closed);
    let closed = stage.github.deliver(1, KEY.as_bytes()).unwrap();
    let forged = stage.github.deliver(1, b"another key").unwrap();
    let unsigned = Delivery { signature: String::new(), ..closed.clone() };
    let other = Delivery { body: stage.github.deliver(1, b"x").unwrap().body, ..forged.clone() };
    for bad in [&forged, &unsigned, &other] {
        let (status, answer) = deliver(&server.url, bad).await;
        assert_eq!((status, &answer["code"]), (401, &json!("UNAUTHENTICATED")), "{answer}");
    }
    assert_eq!(status(&stage, &server.url, &coder.id).await, "PR_CREATED");

    for expected in ["changed", "unchanged", "unchanged"] {
        assert_eq!(deliver(&server.url, &closed).await, (200, json!({ "status": expected })));
    }
    assert_eq!(status(&stage, &server.url, &coder.id).await, "PR_CLOSED");
    stage.github.set_pull_state(1, PullState::Open);
    let opened = stage.github.deliver(1, KEY.as_bytes()).unwrap();
    assert_eq!(deliver(&server.url, &opened).await.1["status"], "changed");
    stage.github.set_pull_state(1, PullState::Merged);
    let merged = stage.github.deliver(1, KEY.as_bytes()).unwrap();
    assert_eq!(deliver(&server.url, &merged).await.1["status"], "changed");
    // What comes late does not take it out again.
    for late in [&closed, &opened] {
        assert_eq!(deliver(&server.url, late).await.1["status"], "unchanged");
    }
    assert_eq!(status(&stage, &server.url, &coder.id).await, "PR_MERGED");
    assert_eq!(mail(&http).await.len(), 3, "one letter for each change");
    assert_eq!(events(&stage.world, "pull.changed").await.len(), 3);
    let operator = http.with_token(stage.world.operator().await.unwrap());
    let (_, audit) = operator.get("/api/audit?limit=500").await.unwrap();
    let rows =
        audit["rows"].as_array().unwrap().iter().filter(|row| row["tool"] == "github__webhook");
    assert_eq!(rows.count(), 3, "{audit}");
    stage.in_order().await;
}

#[tokio::test]
async fn what_is_about_nothing_of_ours_is_taken_and_forgotten() {
    let stage = stage(&[]).await;
    let server = stage.world.up().await.unwrap();
    stage.github.repo("o", "other", "main");
    let client = GitHub::new(
        &stage.github.url(),
        Some(stage.github.token().to_owned()),
        std::time::Duration::from_secs(10),
    );
    let new =
        NewPull { title: "x".into(), body: "y".into(), head: "a".into(), base: "main".into() };
    let other = Repository::new("github.com", "o", "other").unwrap();
    let pull = client.unwrap().create_pull(&other, &new).await.unwrap();
    stage.github.set_pull_state(pull.number, PullState::Merged);
    let delivery = stage.github.deliver(pull.number, KEY.as_bytes()).unwrap();
    let ignored = (202, json!({ "status": "ignored" }));
    assert_eq!(deliver(&server.url, &delivery).await, ignored);
    let ping = Delivery { event: "ping".to_owned(), ..delivery };
    assert_eq!(deliver(&server.url, &ping).await, ignored);
    assert_eq!(events(&stage.world, "pull.changed").await, Vec::<Value>::new());
    let http = Http::new(&server.url, "nobody");
    assert!(announce(&server.url, (4 << 20) + 1).await.starts_with("HTTP/1.1 413"));
    assert_eq!(http.get(HOOK).await.unwrap().0.as_u16(), 405);
    stage.in_order().await;
}

#[tokio::test]
async fn without_a_key_nobody_is_heard() {
    let stage = stage(&[("GITHUB_WEBHOOK_SECRET", "")]).await;
    let server = stage.world.up().await.unwrap();
    let coder = stage.coder("work").await;
    as_agent(&server, &coder).call(TOOL, request()).await.unwrap().unwrap();
    stage.github.set_pull_state(1, PullState::Merged);
    let (code, answer) =
        deliver(&server.url, &stage.github.deliver(1, KEY.as_bytes()).unwrap()).await;
    assert_eq!(code, 404);
    assert!(
        answer["suggestions"][0].as_str().unwrap().contains("GITHUB_WEBHOOK_SECRET"),
        "{answer}"
    );
    assert_eq!(status(&stage, &server.url, &coder.id).await, "PR_CREATED");
    until_is(&stage.world, &coder.id, "running").await;
    stage.in_order().await;
}

#[tokio::test]
async fn an_epic_goes_in_by_one_pull_request_and_is_complete_when_that_is_merged() {
    let stage = stage(&[]).await;
    let server = stage.world.up().await.unwrap();
    let operator = Http::new(&server.url, stage.world.operator().await.unwrap());
    let call = async |http: &Http, tool: &str, input: Value| http.call(tool, input).await.unwrap();
    let epic = call(&operator, "mcp__epic__create", json!({ "title": "Parser" })).await.unwrap();
    let epic = epic["id"].as_str().unwrap().to_owned();
    let status = json!({ "epicId": epic, "status": "IN_PROGRESS" });
    call(&operator, "mcp__epic__update_status", status).await.unwrap();
    let task = json!({ "title": "Write it", "epicId": epic });
    let task = call(&operator, "mcp__task__create", task).await.unwrap();
    let boss = stage.world.enlist("supervisor", &["--epic", &epic]).await.unwrap();
    let boss = as_agent(&server, &boss);
    let opened = "mcp__supervisor__create_epic_pr";
    let early = call(&boss, opened, json!({})).await.unwrap_err();
    assert_eq!(early["code"], "CONFLICT", "a task is open: {early}");
    let done = json!({ "taskId": task["id"], "reason": "by hand" });
    call(&boss, "mcp__supervisor__force_complete_task", done).await.unwrap();
    let branch = format!("adjutant/epic/{epic}");
    let make =
        "git switch -q -c {} && echo x > x && git add x && git commit -qm x && git switch -q main";
    stage.git(&make.replace("{}", &branch)).await;
    let first = call(&boss, opened, json!({ "title": "The parser" })).await.unwrap();
    let again = call(&boss, opened, json!({ "title": "The parser" })).await.unwrap();
    assert_eq!((&again, stage.asked()), (&first, 1), "opened once");
    let [pull] = &stage.github.pulls()[..] else { panic!("one pull request") };
    assert_eq!((pull.title.as_str(), pull.head.as_str()), ("The parser", branch.as_str()));
    stage.github.set_pull_state(pull.number, PullState::Merged);
    let told = stage.github.deliver(pull.number, KEY.as_bytes()).unwrap();
    assert_eq!(deliver(&server.url, &told).await.0, 200);
    let epic = call(&operator, "mcp__epic__get", json!({ "epicId": epic })).await.unwrap();
    assert_eq!(epic["state"], "COMPLETED", "{epic}");
    stage.in_order().await;
}
