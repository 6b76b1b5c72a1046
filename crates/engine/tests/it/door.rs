//! The door: who calls, what is recorded, what is tried again, who is told.

use engine::Principal;
use model::AgentId;
use serde_json::{Value, json};
use store::AuditFilter;

use crate::support::{RETRY_AFTER, Who, World};

fn rows(world: &World) -> Vec<Value> {
    let page = world.store.read(|tx| tx.audit_page(&AuditFilter::default(), 500)).unwrap();
    page.items.iter().map(|row| serde_json::from_str(&row.body).unwrap()).collect()
}

async fn inbox(world: &World, of: impl Into<Who>) -> Vec<Value> {
    let answer = world.ask(of, "mcp__mail__list_inbox", json!({})).await.unwrap();
    answer["mails"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_write_is_recorded_with_who_what_and_outcome() {
    let world = World::new();
    let agent = world.enlist("worker").await;
    let input = json!({ "title": "Use JWT", "body": "because Bearer abcdefghijklmnopqrstuvwxyz" });
    let answer = world.ask(agent, "mcp__system__log_decision", input).await.unwrap();
    let row = rows(&world).pop().unwrap();
    assert_eq!(row["agentId"], agent.to_string());
    assert_eq!(row["byOperator"], false);
    assert_eq!(row["tool"], "mcp__system__log_decision");
    assert_eq!(row["code"], Value::Null);
    assert_eq!(row["output"], answer);
    assert_eq!(row["input"]["body"], "because Bearer [redacted]");
}

#[tokio::test]
async fn a_read_is_recorded_after_the_answer_and_flushed_at_the_end() {
    let world = World::new();
    let agent = world.enlist("worker").await;
    world.ask(agent, "mcp__agent__get_status", json!({})).await.unwrap();
    // An operation is answered when all that came before it is on disk.
    world.store.write(|_| Ok::<_, store::StoreError>(())).await.unwrap();
    let row = rows(&world).pop().unwrap();
    assert_eq!(row["tool"], "mcp__agent__get_status");
}

#[tokio::test]
async fn a_refusal_is_recorded_too() {
    let world = World::new();
    let agent = world.enlist("worker").await;
    world.ask(agent, "mcp__epic__create", json!({})).await.unwrap_err();
    let row = rows(&world).pop().unwrap();
    assert_eq!(row["code"], "PERMISSION_DENIED");
    assert_eq!(row["output"]["code"], "PERMISSION_DENIED");
}

#[tokio::test]
async fn the_operator_acts_as_an_agent_and_both_are_recorded() {
    let world = World::new();
    let worker = world.enlist("worker").await;
    let status = world.ask(Who::As(worker), "mcp__agent__get_status", json!({})).await.unwrap();
    assert_eq!(status["id"], worker.to_string());
    let denied =
        world.ask(Who::As(worker), "mcp__epic__create", json!({ "title": "x" })).await.unwrap_err();
    assert_eq!(denied.body["code"], "PERMISSION_DENIED", "as that agent, with its rights");
    let row = rows(&world).pop().unwrap();
    assert_eq!((&row["agentId"], &row["byOperator"]), (&json!(worker.to_string()), &json!(true)));
    let nobody =
        world.ask(Who::As(AgentId::from_bits(404)), "mcp__agent__get_status", json!({})).await;
    assert_eq!(nobody.unwrap_err().body["code"], "AGENT_NOT_FOUND");
}

#[tokio::test]
async fn a_discharged_agent_is_nobody() {
    let world = World::new();
    let enlisted = world.enlist_with_token("worker").await;
    let token = enlisted.token;
    assert_eq!(world.engine.authenticate(&token).unwrap(), Some(Principal::Agent(enlisted.agent)));
    world.engine.discharge(enlisted.agent, "done".into()).await.unwrap();
    assert_eq!(world.engine.authenticate(&token).unwrap(), None);
    let call = world.ask(enlisted.agent, "mcp__agent__get_status", json!({})).await;
    assert_eq!(call.unwrap_err().body["code"], "UNAUTHENTICATED");
    let again = world.engine.discharge(enlisted.agent, "again".into()).await.unwrap_err();
    assert_eq!(again.code, engine::Code::InvalidAgentState);
}

#[tokio::test]
async fn the_third_failure_in_ten_minutes_is_told_to_the_parent_once() {
    let world = World::new();
    let parent = world.enlist("supervisor").await;
    let child = world.enlist_under("worker", parent).await;
    let fail = async || world.ask(child, "mcp__mail__read", json!({})).await.unwrap_err();
    fail().await;
    fail().await;
    assert!(inbox(&world, parent).await.is_empty());
    fail().await;
    fail().await;
    let mails = inbox(&world, parent).await;
    assert_eq!(mails.len(), 1, "one mail in ten minutes");
    assert_eq!(mails[0]["subject"], "Tool Failure: mcp__mail__read");
    assert_eq!(mails[0]["fromAgentId"], child.to_string());
    world.clock.advance_seconds(601);
    for _ in 0..3 {
        fail().await;
    }
    assert_eq!(inbox(&world, parent).await.len(), 2);
}

#[tokio::test]
async fn failures_spread_over_time_are_no_pattern() {
    let world = World::new();
    let agent = world.enlist("worker").await;
    for _ in 0..6 {
        world.ask(agent, "mcp__mail__read", json!({})).await.unwrap_err();
        world.clock.advance_seconds(400);
    }
    assert!(inbox(&world, Who::Operator).await.is_empty());
}

#[tokio::test]
async fn a_critical_failure_is_told_to_the_human_at_once() {
    let world = World::new();
    let agent = world.enlist("worker").await;
    let unknown = json!({ "toAgentId": "sp_00000000000000ff", "subject": "s", "body": "b" });
    let failed = world.ask(agent, "mcp__mail__send", unknown).await.unwrap_err();
    assert_eq!(failed.body["code"], "AGENT_NOT_FOUND");
    let mails = inbox(&world, Who::Operator).await;
    assert_eq!(mails[0]["subject"], "⚠️ CRITICAL: Tool Failure - mcp__mail__send");
    assert_eq!(mails.len(), 1, "the superior is the human: one letter is enough");
    world.ask(agent, "mcp__mail__send", json!({})).await.unwrap_err();
    assert_eq!(inbox(&world, Who::Operator).await.len(), 1, "bad input is the caller's to mend");
}

#[tokio::test]
async fn too_many_calls_are_refused_until_time_has_passed() {
    let world = World::with_limit(3);
    let agent = world.enlist("worker").await;
    let status = async || world.ask(agent, "mcp__agent__get_status", json!({})).await;
    for _ in 0..3 {
        status().await.unwrap();
    }
    let body = status().await.unwrap_err().body;
    assert_eq!(body["code"], "RATE_LIMITED");
    world.clock.advance_seconds(30);
    status().await.unwrap();
}

#[tokio::test]
async fn the_chain_holds_over_successes_and_failures() {
    let world = World::new();
    let agent = world.enlist("worker").await;
    for n in 0..20 {
        let input = json!({ "title": format!("t{n}"), "body": "b" });
        world.ask(agent, "mcp__system__log_decision", input).await.unwrap();
        world.ask(agent, "mcp__mail__read", json!({})).await.unwrap_err();
        world.ask(agent, "mcp__mail__list_inbox", json!({})).await.unwrap();
    }
    world.store.close().await;
    let verdict = world.store.read(|tx| tx.audit_verify()).unwrap();
    assert_eq!(verdict.broken, None);
    assert!(verdict.rows >= 61);
}

/// Time stands still here unless somebody waits for it, so that the waits can be counted.
#[tokio::test(start_paused = true)]
async fn a_busy_store_is_tried_three_more_times_a_second_apart() {
    let world = World::new();
    let agent = world.enlist("worker").await;
    let somebody = rusqlite::Connection::open(world.database()).unwrap();
    somebody.execute_batch("BEGIN IMMEDIATE").unwrap();
    let input = json!({ "title": "t", "body": "b" });
    let before = tokio::time::Instant::now();
    let refusal = world.ask(agent, "mcp__system__log_decision", input.clone()).await.unwrap_err();
    assert_eq!(refusal.body["code"], "TRANSIENT_ERROR", "{}", refusal.body);
    assert_eq!(before.elapsed(), 3 * RETRY_AFTER);
    somebody.execute_batch("COMMIT").unwrap();
    world.ask(agent, "mcp__system__log_decision", input).await.unwrap();
}
