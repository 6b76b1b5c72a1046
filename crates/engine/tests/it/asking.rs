//! Calls that wait: who is known to wait, and for how long.

use std::time::Duration;

use engine::{Call, Principal, Progress};
use model::AgentId;
use serde_json::{Value, json};

use crate::support::{Who, World};

/// No test waits longer than this for what it waits for.
async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), what).await.unwrap()
}

fn inbox(principal: Principal, as_agent: Option<AgentId>, seconds: u32) -> Call {
    let tool = engine::by_name("mcp__mail__list_inbox").unwrap();
    Call { principal, as_agent, tool, input: json!({ "waitSeconds": seconds }), key: None }
}

async fn send(world: &World, to: AgentId) -> Value {
    let letter = json!({ "toAgentId": to, "subject": "s", "body": "b" });
    world.ok(Who::Operator, "mcp__mail__send", letter).await
}

#[tokio::test]
async fn an_agent_is_known_to_wait_until_it_has_its_answer() {
    let world = World::new();
    let (one, other) = (world.enlist("worker").await, world.enlist("worker").await);
    let waits = world.engine.waits();
    let mut changes = waits.changed();
    let progress = Progress::default();
    let call = world.engine.call(inbox(Principal::Agent(one), None, 240), &progress);
    let letters = async {
        changes.changed().await.unwrap();
        assert!(waits.is_waiting(one) && !waits.is_waiting(other));
        send(&world, other).await;
        assert!(waits.is_waiting(one), "a letter to another is not what it waits for");
        send(&world, one).await;
    };
    let (answer, ()) = soon(async { tokio::join!(call, letters) }).await;
    assert_eq!(answer.unwrap().value()["count"], 1);
    assert!(!waits.is_waiting(one));
    assert_eq!(*changes.borrow(), 2, "once when it began and once when it was over");
}

#[tokio::test]
async fn a_wait_is_over_however_it_ends() {
    let world = World::new();
    let agent = world.enlist("worker").await;
    let waits = world.engine.waits();
    let waiting = async || {
        let mut changes = waits.changed();
        while !waits.is_waiting(agent) {
            changes.changed().await.unwrap();
        }
    };
    let call = || inbox(Principal::Agent(agent), None, 240);

    let left = Progress::default();
    let leave = async {
        waiting().await;
        left.gone.cancel();
    };
    let (answer, ()) = soon(async { tokio::join!(world.engine.call(call(), &left), leave) }).await;
    assert_eq!(answer.unwrap().value()["count"], 0);
    assert!(!waits.is_waiting(agent), "its caller left");

    let progress = Progress::default();
    soon(async {
        tokio::select! {
            _ = world.engine.call(call(), &progress) => panic!("nothing came"),
            () = waiting() => {}
        }
    })
    .await;
    assert!(!waits.is_waiting(agent), "the call was dropped");

    let end = async {
        waiting().await;
        world.discharge(agent).await;
    };
    let (answer, ()) =
        soon(async { tokio::join!(world.engine.call(call(), &progress), end) }).await;
    assert_eq!(answer.unwrap_err().body()["code"], "UNAUTHENTICATED", "it hears of its own end");
    assert!(!waits.is_waiting(agent), "it has ended");
}

#[tokio::test]
async fn two_waits_of_one_agent_are_over_with_the_second() {
    let world = World::new();
    let agent = world.enlist("worker").await;
    let waits = world.engine.waits();
    let (first, second) = (Progress::default(), Progress::default());
    let call = || inbox(Principal::Agent(agent), None, 240);
    let leave = async {
        // Both wait as soon as they have run for the first time, before this does.
        assert!(waits.is_waiting(agent));
        first.gone.cancel();
        tokio::task::yield_now().await;
        assert!(waits.is_waiting(agent), "the other still waits");
        second.gone.cancel();
    };
    let (one, other, ()) = soon(async {
        tokio::join!(world.engine.call(call(), &first), world.engine.call(call(), &second), leave)
    })
    .await;
    assert!(one.is_ok() && other.is_ok());
    assert!(!waits.is_waiting(agent));
}

#[tokio::test]
async fn who_asks_without_waiting_and_who_is_played_by_the_operator_do_not_wait() {
    let world = World::new();
    let agent = world.enlist("worker").await;
    let progress = Progress::default();
    let waits = world.engine.waits();
    let changes = waits.changed();
    world.engine.call(inbox(Principal::Agent(agent), None, 0), &progress).await.unwrap();
    progress.gone.cancel();
    let played = inbox(Principal::Operator, Some(agent), 240);
    soon(world.engine.call(played, &progress)).await.unwrap();
    soon(world.engine.call(inbox(Principal::Operator, None, 240), &progress)).await.unwrap();
    assert_eq!(*changes.borrow(), 0);
}

#[tokio::test]
async fn a_letter_about_a_failure_wakes_whom_it_is_for() {
    let world = World::new();
    let parent = world.enlist("supervisor").await;
    let child = world.enlist_under("worker", parent).await;
    let progress = Progress::default();
    let call = world.engine.call(inbox(Principal::Agent(parent), None, 240), &progress);
    let fail = async {
        for _ in 0..3 {
            world.ask(child, "mcp__mail__read", json!({})).await.unwrap_err();
        }
    };
    let (answer, ()) = soon(async { tokio::join!(call, fail) }).await;
    assert_eq!(answer.unwrap().value()["count"], 1);
}
