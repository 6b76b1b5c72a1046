//! Answers that are kept for the same call again.

use store::{IdempotencyLookup, KeyedCall, Store};

use crate::support::{NOW, open};

fn call(principal: &str, key: &str) -> KeyedCall {
    KeyedCall {
        principal: principal.into(),
        key: key.into(),
        tool: "mcp__mail__send".into(),
        input: "{}".into(),
    }
}

fn found(store: &Store, call: &KeyedCall) -> IdempotencyLookup {
    store.read(|tx| tx.idempotency_find(call)).unwrap()
}

#[tokio::test]
async fn an_answer_is_for_the_same_call_of_the_same_principal() {
    let (_dir, store) = open();
    let asked = call("operator", "k1");
    assert_eq!(found(&store, &asked), IdempotencyLookup::Never);
    let kept = asked.clone();
    store.write(move |tx| tx.idempotency_insert(&kept, "[1]", NOW)).await.unwrap();
    assert_eq!(found(&store, &asked), IdempotencyLookup::With("[1]".into()));
    assert_eq!(found(&store, &call("operator", "k2")), IdempotencyLookup::Never);
    assert_eq!(found(&store, &call("sp_0000000000000001", "k1")), IdempotencyLookup::Never);
    let tool = asked.tool.clone();
    let other_input = KeyedCall { input: "{\"a\":1}".into(), ..asked.clone() };
    assert_eq!(found(&store, &other_input), IdempotencyLookup::Otherwise { tool: tool.clone() });
    let other_tool = KeyedCall { tool: "mcp__mail__read".into(), ..asked };
    assert_eq!(found(&store, &other_tool), IdempotencyLookup::Otherwise { tool });
}

#[tokio::test]
async fn answers_go_after_a_day_a_few_at_a_time() {
    let (_dir, store) = open();
    let add = async |key: String, seconds: i64| {
        let at = NOW.after_seconds(seconds);
        let keyed = call("operator", &key);
        store.write(move |tx| tx.idempotency_insert(&keyed, "{}", at)).await.unwrap();
    };
    for n in 0..40 {
        add(format!("old{n}"), n).await;
    }
    let left = || {
        let is_there = |n: &i64| {
            found(&store, &call("operator", &format!("old{n}"))) != IdempotencyLookup::Never
        };
        (0..40).filter(is_there).collect::<Vec<_>>()
    };
    let day = 24 * 60 * 60;
    add("a".into(), day).await;
    assert_eq!(left().len(), 40, "a day is not over");
    add("b".into(), day + 100).await;
    assert_eq!(left(), (16..40).collect::<Vec<_>>(), "the oldest go first");
    add("c".into(), day + 101).await;
    add("d".into(), day + 102).await;
    assert_eq!(left(), [0_i64; 0]);
    assert_ne!(found(&store, &call("operator", "a")), IdempotencyLookup::Never);
}

#[tokio::test]
async fn both_ways_to_an_answer_go_through_an_index() {
    let (dir, _store) = open();
    let file = rusqlite::Connection::open(dir.path().join("state.db")).unwrap();
    for sql in [
        "SELECT tool, input, output FROM answered WHERE principal = 'x' AND key = 'y'",
        "DELETE FROM answered WHERE (principal, key) IN (
            SELECT principal, key FROM answered WHERE at < 5 ORDER BY at LIMIT 16)",
    ] {
        let mut plan = file.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let steps: Vec<String> =
            plan.query_map([], |row| row.get("detail")).unwrap().map(Result::unwrap).collect();
        for step in &steps {
            assert!(!step.starts_with("SCAN") && !step.contains("TEMP B-TREE"), "{steps:?}");
        }
    }
}
