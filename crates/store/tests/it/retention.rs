//! Old rows go a few at a time, and only those that nothing needs.

use model::agent::{AgentState, Outcome};
use model::event::EventKind;
use model::{AgentId, DeliveryId, MailId, TaskId, Timestamp};
use store::{EventDraft, EventFilter, EventRetention, KeyedCall, NewDelivery, Store};
use wire::event::{EventData, MailRead};

use crate::support::{NOW, add_task, agent, open};

async fn event(store: &Store, agent: Option<AgentId>, task: Option<TaskId>) {
    let data = EventData::MailRead(MailRead { mail_id: MailId::from_bits(1) });
    let draft = EventDraft { agent, task, data };
    store.write(move |tx| tx.event_append(NOW, &draft)).await.unwrap();
}

fn numbers(store: &Store) -> Vec<i64> {
    let all = store.read(|tx| tx.event_list(&EventFilter::default(), 1000)).unwrap();
    all.into_iter().map(|event| event.number).collect()
}

fn floor(store: &Store) -> i64 {
    store.read(|tx| tx.event_floor()).unwrap()
}

const LATER: EventRetention = EventRetention { before: NOW.after_seconds(60), slack: true };

async fn remove_all(store: &Store, which: EventRetention) -> usize {
    let mut removed = 0;
    loop {
        let some = store.write(move |tx| tx.events_remove(which, 3)).await.unwrap();
        assert!(some <= 3, "no more at once than was asked for");
        if some == 0 {
            return removed;
        }
        removed += some;
    }
}

#[tokio::test]
async fn old_events_go_and_numbers_go_on() {
    let (dir, store) = open();
    for _ in 0..10 {
        event(&store, None, None).await;
    }
    let early = EventRetention { before: NOW, slack: true };
    assert_eq!((remove_all(&store, early).await, floor(&store)), (0, 0), "none is old enough");
    assert_eq!(remove_all(&store, LATER).await, 9);
    assert_eq!((numbers(&store), floor(&store)), (vec![10], 9), "the newest one stays");
    store.close().await;
    let store = Store::open(&dir.path().join("state.db")).unwrap();
    event(&store, None, None).await;
    assert_eq!(numbers(&store), [10, 11]);
}

#[tokio::test]
async fn events_of_live_agents_and_open_tasks_stay_until_those_are_over() {
    let (_dir, store) = open();
    let new = agent(1);
    store.write(move |tx| tx.agent_insert(&new, NOW)).await.unwrap();
    let id = AgentId::from_bits(1);
    let task = add_task(&store, 2).await.unwrap();
    event(&store, Some(id), None).await;
    event(&store, None, Some(task.id)).await;
    event(&store, Some(AgentId::from_bits(9)), None).await;
    event(&store, None, None).await;
    event(&store, None, None).await;
    assert_eq!(remove_all(&store, LATER).await, 2);
    assert_eq!((numbers(&store), floor(&store)), (vec![1, 2, 5], 4));
    let end = AgentState::Ended { outcome: Outcome::Killed, reason: "why".into(), at: NOW };
    store.write(move |tx| tx.agent_advance(id, &end, NOW)).await.unwrap();
    assert_eq!(remove_all(&store, LATER).await, 1);
    assert_eq!(numbers(&store), [2, 5]);
}

#[tokio::test]
async fn events_behind_a_live_cursor_stay() {
    let pins = [
        "INSERT INTO webhook (name, seen, created_at) VALUES ('n8n', 4, 0)",
        "INSERT INTO delivery (number, id, webhook, event, kind, line, state, attempts, created_at)
         VALUES (1, 'msg_1', 'n8n', 5, 'mail.sent', 'x', 'dead', 9, 0)",
        "INSERT INTO slack_cursor (id, events) VALUES (1, 4)",
        "INSERT INTO loop (number, session, state, phase, step, hook_runs, iteration, next, failures,
            most_failures, role, spec, commits, seen, created_at, updated_at)
         VALUES (1, 's', 'running', 'working', 0, 0, 0, 1, 0, 3, 'builder', 'x', 0, 4, 0, 0)",
    ];
    for sql in pins {
        let (dir, store) = open();
        for _ in 0..10 {
            event(&store, None, None).await;
        }
        let file = rusqlite::Connection::open(dir.path().join("state.db")).unwrap();
        assert_eq!(file.execute(sql, []).unwrap(), 1);
        assert_eq!((remove_all(&store, LATER).await, floor(&store)), (4, 4), "{sql}");
        assert_eq!(numbers(&store), (5..=10).collect::<Vec<_>>());
        let pins = store.read(|tx| tx.event_pins(LATER)).unwrap();
        assert_eq!((pins.len(), pins[0].after), (1, 4), "{pins:?}");
    }
}

#[tokio::test]
async fn a_cursor_that_nobody_uses_holds_nothing_back() {
    let (dir, store) = open();
    for _ in 0..10 {
        event(&store, None, None).await;
    }
    let file = rusqlite::Connection::open(dir.path().join("state.db")).unwrap();
    file.execute(
        "INSERT INTO webhook (name, seen, created_at, gone_at) VALUES ('old', 4, 0, 1)",
        [],
    )
    .unwrap();
    file.execute("INSERT INTO slack_cursor (id, events) VALUES (1, 4)", []).unwrap();
    let off = EventRetention { slack: false, ..LATER };
    assert_eq!(remove_all(&store, off).await, 9);
}

#[tokio::test]
async fn delivered_messages_and_old_answers_go_and_others_stay() {
    let (dir, store) = open();
    let new = |bits| NewDelivery {
        id: DeliveryId::from_bits(bits),
        webhook: "n8n".into(),
        event: 1,
        kind: EventKind::MailSent,
        line: format!("line {bits}"),
    };
    for bits in 1..=5 {
        let new = new(bits);
        store.write(move |tx| tx.delivery_insert(&new, NOW)).await.unwrap();
    }
    let file = rusqlite::Connection::open(dir.path().join("state.db")).unwrap();
    let at = NOW.as_millis();
    file.execute("UPDATE delivery SET state = 'delivered', ended_at = ?1 WHERE number <= 3", [at])
        .unwrap();
    file.execute("UPDATE delivery SET state = 'dead', ended_at = ?1 WHERE number = 4", [at])
        .unwrap();
    for n in 0..3_i64 {
        let call = KeyedCall {
            principal: "p".into(),
            key: format!("k{n}"),
            tool: "t".into(),
            input: "{}".into(),
        };
        let at = NOW.after_seconds(n * 3600);
        store.write(move |tx| tx.idempotency_insert(&call, "{}", at)).await.unwrap();
    }
    let (early, late) = (NOW, NOW.after_seconds(3600));
    let deliveries = |before: Timestamp| store.write(move |tx| tx.deliveries_remove(before, 2));
    assert_eq!(deliveries(early).await.unwrap(), 0);
    assert_eq!(store.read(|tx| tx.deliveries_delivered_count(late)).unwrap(), 3);
    assert_eq!(deliveries(late).await.unwrap(), 2);
    assert_eq!(deliveries(late).await.unwrap(), 1);
    assert_eq!(store.read(|tx| tx.idempotency_count(late)).unwrap(), 1);
    assert_eq!(store.write(move |tx| tx.idempotency_remove(late, 9)).await.unwrap(), 1);
    let left = |table: &str| -> i64 {
        file.query_row(&format!("SELECT COUNT(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    };
    assert_eq!((left("delivery"), left("answered")), (2, 2));
}
