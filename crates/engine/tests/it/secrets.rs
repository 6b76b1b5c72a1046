//! Secrets in what agents write: the addressee gets the exact text, everybody else a redacted one.

use engine::{Call, Principal, Progress};
use model::AgentId;
use serde_json::{Value, json};

use crate::support::{Who, World};

const SECRET: &str = "Use ghp_16C7e42F292c6912E7710c838347Ae178B4a";
const CLEAN: &str = "Use ghp_[redacted]";

async fn send(world: &World, from: AgentId, to: AgentId) -> Value {
    let mail = json!({ "toAgentId": to, "subject": "Keys", "body": SECRET });
    world.ok(from, "mcp__mail__send", mail).await
}

/// The body of the only mail in an inbox.
async fn body(world: &World, who: impl Into<Who>) -> Value {
    world.ok(who, "mcp__mail__list_inbox", json!({})).await["mails"][0]["body"].clone()
}

#[tokio::test]
async fn the_writer_is_told_and_the_reader_gets_the_exact_mail() {
    let world = World::new();
    let (one, other) = (world.enlist("worker").await, world.enlist("worker").await);
    let sent = send(&world, one, other).await;
    assert_eq!(sent["redacted"]["fields"], json!(["body"]), "{sent}");
    assert_eq!(body(&world, other).await, SECRET);
    let id = &sent["mailId"];
    let read = world.ok(other, "mcp__mail__read", json!({ "mailId": id })).await;
    assert_eq!(read["body"], SECRET);
    assert!(read["redacted"].is_null(), "it wrote nothing: {read}");
    let mail = world.ok(
        one,
        "mcp__mail__send",
        json!({
            "toAgentId": other, "subject": "Plain", "body": "Nothing secret",
        }),
    );
    assert!(mail.await["redacted"].is_null());
}

#[tokio::test]
async fn exact_mail_is_forgotten_after_a_day() {
    let world = World::new();
    let (one, other) = (world.enlist("worker").await, world.enlist("worker").await);
    send(&world, one, other).await;
    world.clock.advance_seconds(24 * 60 * 60 - 1);
    world.engine.forget_expired_texts().await.unwrap();
    assert_eq!(body(&world, other).await, SECRET);
    world.clock.advance_seconds(2);
    world.engine.forget_expired_texts().await.unwrap();
    assert_eq!(body(&world, other).await, CLEAN);
}

#[tokio::test]
async fn mail_that_goes_on_to_another_reader_goes_on_exactly() {
    let world = World::new();
    let (one, other) = (world.enlist("worker").await, world.enlist("worker").await);
    let sent = send(&world, one, other).await;
    world.discharge(other).await;
    let id = sent["mailId"].as_str().unwrap().parse().unwrap();
    let mail = world.store.read(|tx| tx.mail_exact(tx.mail_get(id)?.unwrap())).unwrap();
    assert_eq!(mail.to, store::Recipient::Human);
    assert!(mail.body.starts_with("[Forwarded by Adjutant"), "{}", mail.body);
    assert!(mail.body.ends_with(SECRET), "mail that goes on goes on exactly: {}", mail.body);
}

#[tokio::test]
async fn a_task_is_exact_for_the_agent_it_was_given_to() {
    let world = World::new();
    let (worker, other) = (world.enlist("worker").await, world.enlist("worker").await);
    let new = json!({ "title": "Deploy", "description": SECRET });
    let task = world.ok(Who::Operator, "mcp__task__create", new).await;
    assert_eq!(task["redacted"]["fields"], json!(["description"]), "{task}");
    let give = json!({ "taskId": task["id"], "agentId": worker });
    world.ok(Who::Operator, "mcp__task__assign", give).await;
    let ask = json!({ "taskId": task["id"] });
    for (who, expected) in
        [(Who::Agent(worker), SECRET), (Who::Agent(other), CLEAN), (Who::Operator, CLEAN)]
    {
        let seen = world.ok(who, "mcp__task__get", ask.clone()).await;
        assert_eq!(seen["description"], expected);
    }
    let own = world.ok(worker, "mcp__agent__get_task", json!({})).await;
    assert_eq!(own["description"], SECRET);
}

#[tokio::test]
async fn a_secret_in_a_title_is_not_in_its_slug() {
    let world = World::new();
    let task = world.ok(Who::Operator, "mcp__task__create", json!({ "title": SECRET })).await;
    assert_eq!(task["title"], CLEAN);
    assert!(!task["slug"].as_str().unwrap().contains("16c7"), "{task}");
}

#[tokio::test]
async fn a_repeated_call_gets_the_same_exact_answer() {
    let world = World::new();
    let (one, other) = (world.enlist("worker").await, world.enlist("worker").await);
    let sent = send(&world, one, other).await;
    let ask = async || {
        let call = Call {
            principal: Principal::Agent(other),
            as_agent: None,
            tool: engine::by_name("mcp__mail__read").unwrap(),
            input: json!({ "mailId": sent["mailId"] }),
            key: Some("again".to_owned()),
        };
        world.engine.call(call, &Progress::default()).await.unwrap().value()
    };
    let first = ask().await;
    assert_eq!(first["body"], SECRET);
    assert_eq!(ask().await, first);
}

#[tokio::test]
async fn what_an_operators_act_says_is_redacted_in_its_row() {
    let world = World::new();
    let worker = world.enlist("worker").await;
    world.engine.discharge(worker, SECRET.to_owned()).await.unwrap();
    let rows = world.store.read(|tx| tx.audit_page(&store::AuditFilter::default(), 99));
    let rows = rows.unwrap().items;
    assert!(rows.iter().any(|row| row.body.contains(CLEAN)));
    assert!(rows.iter().all(|row| !row.body.contains("16C7e42F")));
}
