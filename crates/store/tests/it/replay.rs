//! Writes that a replay must repeat: debug builds replay every commit into a second database and compare.

use model::AgentId;
use store::{AuditDraft, KeyedCall, SlackOrder, Store, StoreError};

use crate::migrate::unbounded;
use crate::support::{NOW, add_task, open, row};

/// More answers than one sweep removes, all of the same moment.
const ANSWERS: usize = 5_400;

#[tokio::test]
async fn which_old_answers_are_swept_does_not_depend_on_their_places_in_the_table() {
    let (_dir, store) = open();
    let remembered = |key: usize| KeyedCall {
        principal: "operator".into(),
        key: format!("key-{}", key.wrapping_mul(7919) % ANSWERS),
        tool: "task_list".into(),
        input: "{}".into(),
    };
    let calls: Vec<KeyedCall> = (0..ANSWERS).map(remembered).collect();
    let inserted = store
        .write(move |tx| calls.iter().try_for_each(|call| tx.idempotency_insert(call, "{}", NOW)));
    inserted.await.unwrap();
    let later = NOW.after_seconds(2 * 24 * 60 * 60);
    assert!(store.write(move |tx| tx.exact_sweep(later)).await.unwrap(), "more remain");
    assert_eq!(store.write(move |tx| tx.idempotency_remove(later, 200)).await.unwrap(), 200);
    // Whichever of the rest went, the replica must have lost the same.
    store.close().await;
}

#[tokio::test]
async fn what_a_failed_operation_wrote_is_not_replayed() {
    let (_dir, store) = open();
    let fails = store.write(|tx| {
        tx.audit_append(&row("task_list"))?;
        Err::<(), _>(StoreError::Corrupt("on purpose".into()))
    });
    let (kept, failed, other) = tokio::join!(add_task(&store, 1), fails, add_task(&store, 2));
    assert!(kept.is_ok() && failed.is_err() && other.is_ok());
    store.audit_later(AuditDraft { agent: Some(AgentId::from_bits(1)), ..row("x") }).await.unwrap();
    store.close().await;
}

/// Says how the agents of a thread are listed.
fn listed(store: &Store) -> Vec<AgentId> {
    store.read(|tx| tx.slack_orders(1)).unwrap().iter().map(|order| order.agent).collect()
}

#[tokio::test]
async fn agents_asked_for_in_slack_keep_their_order_when_the_database_is_upgraded_and_copied() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    let file = unbounded(&path);
    let ids = [3, 1, 2].map(AgentId::from_bits);
    for id in ids {
        let insert =
            "INSERT INTO slack_order (agent, thread, ts, user_id) VALUES (?1, 1, '1', 'U1')";
        file.execute(insert, [id.to_string()]).unwrap();
    }
    drop(file);
    let store = Store::open(&path).unwrap();
    let [first, second, third] = ids;
    assert_eq!(listed(&store), [third, second, first]);
    let fourth = AgentId::from_bits(0);
    let order = SlackOrder {
        agent: fourth,
        thread: 1,
        ts: "2".to_owned(),
        user: "U1".to_owned(),
        mark: None,
    };
    store.write(move |tx| tx.slack_order_insert(&order)).await.unwrap();
    let copy = dir.path().join("copy.db");
    store.snapshot(&copy).unwrap();
    let newest_first = [fourth, third, second, first];
    assert_eq!(listed(&store), newest_first);
    assert_eq!(listed(&Store::open(&copy).unwrap()), newest_first);
}
