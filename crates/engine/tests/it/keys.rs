//! Keys: the same call again is answered again and done once.

use engine::{Call, Principal, Progress};
use model::AgentId;
use model::event::EventKind;
use serde_json::{Value, json};
use store::{AuditFilter, StoreError};

use crate::support::{Refusal, World};

struct Keyed<'a> {
    world: &'a World,
    principal: Principal,
    as_agent: Option<AgentId>,
}

impl Keyed<'_> {
    async fn ask(&self, key: &str, tool: &str, input: Value) -> Result<Value, Refusal> {
        let (principal, as_agent) = (self.principal, self.as_agent);
        let tool = engine::by_name(tool).unwrap();
        let call = Call { principal, as_agent, tool, input, key: Some(key.into()) };
        match self.world.engine.call(call, &Progress::default()).await {
            Ok(output) => Ok(output.value()),
            Err(failure) => Err(Refusal { body: failure.body() }),
        }
    }
}

fn by(world: &World, agent: AgentId) -> Keyed<'_> {
    Keyed { world, principal: Principal::Agent(agent), as_agent: None }
}

fn letter(to: AgentId, subject: &str) -> Value {
    json!({ "toAgentId": to, "subject": subject, "body": "b" })
}

const SEND: &str = "mcp__mail__send";

/// Number of mails to an agent; those about failures go to others.
fn letters(world: &World, to: AgentId) -> usize {
    let letters = world.told(EventKind::MailSent);
    letters.iter().filter(|event| event.data["toAgentId"] == to.to_string()).count()
}

#[tokio::test]
async fn the_same_call_with_the_same_key_is_done_once() {
    let world = World::new();
    let (one, other) = (world.enlist("worker").await, world.enlist("worker").await);
    let caller = by(&world, one);
    let first = caller.ask("k1", SEND, letter(other, "s")).await.unwrap();
    world.clock.advance_seconds(5);
    let again = caller.ask("k1", SEND, letter(other, "s")).await.unwrap();
    assert_eq!(again, first, "to the letter, with the time of the first");
    assert_eq!(letters(&world, other), 1);
    let another = caller.ask("k2", SEND, letter(other, "s")).await.unwrap();
    assert_ne!(another["mailId"], first["mailId"]);
    assert_eq!(letters(&world, other), 2);
}

#[tokio::test]
async fn calls_at_the_same_moment_with_the_same_key_are_done_once() {
    let world = World::new();
    let (one, other) = (world.enlist("worker").await, world.enlist("worker").await);
    let caller = by(&world, one);
    let call = || caller.ask("k", SEND, letter(other, "s"));
    // The fourth fails, so that all that share its commit are run again.
    let fail = world.ask(one, SEND, json!({}));
    let (first, second, third, failed) = tokio::join!(call(), call(), call(), fail);
    assert!(failed.is_err());
    let first = first.unwrap();
    assert_eq!((&second.unwrap(), &third.unwrap()), (&first, &first));
    assert_eq!(letters(&world, other), 1);
}

#[tokio::test]
async fn a_key_that_came_with_another_call_is_refused() {
    let world = World::new();
    let (one, other) = (world.enlist("worker").await, world.enlist("worker").await);
    let caller = by(&world, one);
    caller.ask("k", SEND, letter(other, "s")).await.unwrap();
    let refused = caller.ask("k", SEND, letter(other, "t")).await.unwrap_err();
    assert_eq!(refused.code(), "CONFLICT");
    assert_eq!(refused.message(), "the key `k` was used before with other input");
    let decision = json!({ "title": "t", "body": "b" });
    let refused = caller.ask("k", "mcp__system__log_decision", decision).await.unwrap_err();
    assert_eq!(refused.code(), "CONFLICT");
    assert_eq!(refused.message(), "the key `k` was used before with another tool");
    assert_eq!(letters(&world, other), 1);
    assert_eq!(world.told(EventKind::DecisionLogged).len(), 0);
}

#[tokio::test]
async fn a_key_belongs_to_its_first_caller() {
    let world = World::new();
    let (one, other) = (world.enlist("worker").await, world.enlist("worker").await);
    let to_human = json!({ "toHuman": true, "subject": "s", "body": "b" });
    for agent in [one, other] {
        by(&world, agent).ask("k", SEND, to_human.clone()).await.unwrap();
    }
    assert_eq!(world.told(EventKind::MailSent).len(), 2);
    let operator = |as_agent| Keyed { world: &world, principal: Principal::Operator, as_agent };
    operator(Some(one)).ask("k", SEND, to_human.clone()).await.unwrap();
    assert_eq!(world.told(EventKind::MailSent).len(), 3);
    let refused = operator(Some(other)).ask("k", SEND, to_human).await.unwrap_err();
    assert_eq!(refused.code(), "CONFLICT", "in whose name is part of the call");
}

#[tokio::test]
async fn a_failure_is_not_remembered() {
    let world = World::new();
    let one = world.enlist("worker").await;
    let caller = by(&world, one);
    let assign = json!({ "taskId": "TAS-1", "body": "b" });
    let comment = "mcp__task__add_comment";
    let refused = caller.ask("k", comment, assign.clone()).await.unwrap_err();
    assert_eq!(refused.code(), "RESOURCE_NOT_FOUND");
    let boss = world.enlist("supervisor").await;
    world.ok(boss, "mcp__task__create", json!({ "title": "t" })).await;
    let task = model::TaskRef::Number(1);
    let holder = world.enlist_for("worker", task).await;
    let caller = by(&world, holder);
    caller.ask("k", comment, json!({ "taskId": "TAS-2", "body": "b" })).await.unwrap_err();
    caller.ask("k", comment, assign).await.unwrap();
}

#[tokio::test]
async fn reading_takes_no_notice_of_keys() {
    let world = World::new();
    let agent = world.enlist("worker").await;
    let caller = by(&world, agent);
    let inbox = async || caller.ask("k", "mcp__mail__list_inbox", json!({})).await.unwrap();
    assert_eq!(inbox().await["count"], 0);
    caller.ask("k", SEND, letter(agent, "s")).await.unwrap();
    assert_eq!(inbox().await["count"], 1);
    let status = caller.ask("k", "mcp__agent__get_status", json!({})).await.unwrap();
    assert_eq!(status["id"], agent.to_string());
}

#[tokio::test]
async fn a_key_that_is_none_is_refused_and_recorded() {
    let world = World::new();
    let agent = world.enlist("worker").await;
    let caller = by(&world, agent);
    let long = "x".repeat(201);
    for key in ["", "a b", "schlüssel", "a\n", "a, b", &long] {
        let refused = caller.ask(key, SEND, letter(agent, "s")).await.unwrap_err();
        assert_eq!(refused.code(), "INVALID_INPUT", "{key:?}");
        assert!(refused.message().contains("1 to 200 visible ASCII characters"), "{key:?}");
    }
    assert_eq!(letters(&world, agent), 0);
    caller.ask(&"~".repeat(200), SEND, letter(agent, "s")).await.unwrap();
}

#[tokio::test]
async fn the_record_shows_that_a_call_came_again_and_counts_it_once() {
    let world = World::new();
    let agent = world.enlist("worker").await;
    let caller = by(&world, agent);
    let secret = json!({ "toAgentId": agent, "subject": "Bearer abcdefghijklmnopqrstuvwxyz",
        "body": "b" });
    for _ in 0..3 {
        caller.ask("k", SEND, secret.clone()).await.unwrap();
    }
    world.store.write(|_| Ok::<_, StoreError>(())).await.unwrap();
    let filter = AuditFilter { tool: Some(SEND.into()), ..AuditFilter::default() };
    let rows = world.store.read(|tx| tx.audit_page(&filter, 50)).unwrap().items;
    assert_eq!(rows.len(), 3);
    let output =
        |row: &store::AuditRow| serde_json::from_str::<Value>(&row.body).unwrap()["output"].clone();
    assert!(rows.iter().all(|row| output(row) == output(&rows[0])));
    let used = world.store.read(|tx| tx.tool_use_by_agent(agent)).unwrap();
    assert_eq!((used[0].tool.as_str(), used[0].calls), (SEND, 1));
    let file = rusqlite::Connection::open(world.database()).unwrap();
    let input: String = file.query_row("SELECT input FROM answered", [], |row| row.get(0)).unwrap();
    assert!(!input.contains("abcdef") || input.len() == 64, "only a hash is kept: {input}");
}
