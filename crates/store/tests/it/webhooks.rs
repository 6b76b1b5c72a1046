//! Messages to webhooks: lines, what is due, what is sent again, and what is forgotten.

use model::event::EventKind;
use model::webhook::DeliveryState;
use model::{AgentId, DeliveryId};
use store::{Delivery, DeliveryAttempt, EventDraft, NewDelivery, Store, StoreError};
use wire::event::{EventData, MailRead};

use crate::support::{NOW, open};

const HOOK: &str = "it";

async fn add(store: &Store, bits: u64, line: &str) -> DeliveryId {
    let id = DeliveryId::from_bits(bits);
    let new = NewDelivery {
        id,
        webhook: HOOK.into(),
        event: 1,
        kind: EventKind::NoteAdded,
        line: line.into(),
    };
    store.write(move |tx| tx.delivery_insert(&new, NOW)).await.unwrap();
    id
}

fn get(store: &Store, id: DeliveryId) -> Delivery {
    store.read(|tx| tx.delivery_get(HOOK, id)).unwrap().unwrap()
}

fn due(store: &Store) -> Vec<DeliveryId> {
    let due = store.read(|tx| tx.deliveries_due(HOOK, NOW, 100)).unwrap();
    due.into_iter().map(|delivery| delivery.id).collect()
}

async fn end(store: &Store, id: DeliveryId, state: DeliveryState) {
    let (delivery, tried) = (get(store, id), DeliveryAttempt { status: Some(500), error: None });
    store.write(move |tx| tx.delivery_end(&delivery, state, &tried, NOW)).await.unwrap();
}

#[tokio::test]
async fn only_the_first_of_a_line_is_due() {
    let (_dir, store) = open();
    let [one, two, other] =
        [add(&store, 1, "a").await, add(&store, 2, "a").await, add(&store, 3, "b").await];
    assert_eq!(due(&store), [one, other]);
    // It failed, and nobody of its line is due before it is.
    let (tried, later) = (DeliveryAttempt::default(), NOW.after_seconds(5));
    store.write(move |tx| tx.delivery_reschedule(one, &tried, later)).await.unwrap();
    assert_eq!(due(&store), [other]);
    assert_eq!(store.read(|tx| tx.delivery_next_due(HOOK, NOW)).unwrap(), Some(later));
    end(&store, one, DeliveryState::Dead).await;
    assert_eq!(due(&store), [two, other]);
    assert_eq!(get(&store, one).attempts, 2);
    // What is over is over.
    end(&store, one, DeliveryState::Delivered).await;
    assert_eq!(get(&store, one).state, DeliveryState::Dead);
}

#[tokio::test]
async fn what_is_sent_again_goes_beside_its_line_and_in_order() {
    let (_dir, store) = open();
    let mut dead = Vec::new();
    for bits in 1..=3 {
        let id = add(&store, bits, "a").await;
        end(&store, id, DeliveryState::Dead).await;
        dead.push(id);
    }
    let waiting = add(&store, 4, "a").await;
    for id in [dead[2], dead[0], dead[1]] {
        let delivery = get(&store, id);
        assert!(store.write(move |tx| tx.delivery_retry(&delivery, NOW)).await.unwrap());
    }
    let mut now = due(&store);
    now.sort_unstable();
    assert_eq!(now, [dead[0], waiting], "the oldest of them, and the line itself");
    end(&store, dead[0], DeliveryState::Delivered).await;
    assert!(due(&store).contains(&dead[1]) && !due(&store).contains(&dead[2]));
    let delivery = get(&store, dead[0]);
    assert!(!store.write(move |tx| tx.delivery_retry(&delivery, NOW)).await.unwrap());
}

#[tokio::test]
async fn lists_are_cut_newest_first_and_pruned_from_the_old_end() {
    let (_dir, store) = open();
    for bits in 1..=10_u64 {
        let id = add(&store, bits, &bits.to_string()).await;
        let state = if bits % 2 == 0 { DeliveryState::Delivered } else { DeliveryState::Dead };
        end(&store, id, state).await;
    }
    let page = |state, before| store.read(|tx| tx.delivery_page(HOOK, state, before, 4)).unwrap();
    let numbers =
        |page: &store::Page<Delivery>| page.items.iter().map(|one| one.number).collect::<Vec<_>>();
    let first = page(None, i64::MAX);
    assert_eq!((numbers(&first), first.next), (vec![10, 9, 8, 7], Some(7)));
    assert_eq!(numbers(&page(None, 7)), [6, 5, 4, 3]);
    let dead = page(Some(DeliveryState::Dead), 9);
    assert_eq!((numbers(&dead), dead.next), (vec![7, 5, 3, 1], None));
    store.write(|tx| tx.delivery_prune(HOOK, DeliveryState::Delivered, 2)).await.unwrap();
    let left = |state| store.read(|tx| tx.delivery_count(HOOK, state)).unwrap();
    assert_eq!((left(DeliveryState::Delivered), left(DeliveryState::Dead)), (2, 5));
    assert_eq!(numbers(&page(Some(DeliveryState::Delivered), i64::MAX)), [10, 8]);
    store.write(|tx| tx.delivery_prune(HOOK, DeliveryState::Delivered, 2)).await.unwrap();
    assert_eq!(left(DeliveryState::Delivered), 2, "nothing more to forget");
}

#[tokio::test]
async fn a_webhook_begins_with_what_happens_from_now_on() {
    let (_dir, store) = open();
    let event = EventDraft {
        agent: Some(AgentId::from_bits(1)),
        task: None,
        data: EventData::MailRead(MailRead { mail_id: model::MailId::from_bits(1) }),
    };
    let begun = store.write(move |tx| {
        let number = tx.event_append(NOW, &event)?;
        tx.webhook_begin(HOOK, NOW)?;
        Ok::<_, StoreError>(number)
    });
    let number = begun.await.unwrap();
    let row = store.read(|tx| tx.webhook_get(HOOK)).unwrap().unwrap();
    assert_eq!((row.seen, row.disabled_at), (number, None), "also in one commit");
    let disable = |tx: &mut store::Tx<'_>| tx.webhook_disable(HOOK, "gone", "hash", NOW);
    assert!(store.write(disable).await.unwrap());
    assert!(!store.write(disable).await.unwrap(), "once");
    assert!(store.write(|tx| tx.webhook_enable(HOOK, NOW)).await.unwrap());
    add(&store, 1, "a").await;
    store.write(|tx| tx.webhook_forget(HOOK)).await.unwrap();
    assert!(store.read(|tx| tx.webhooks()).unwrap().is_empty() && due(&store).is_empty());
}

#[tokio::test]
async fn many_that_wait_do_not_make_a_look_slower() {
    let (dir, store) = open();
    let filled = store.write(|tx| {
        for bits in 0..10_000_u64 {
            let new = NewDelivery {
                id: DeliveryId::from_bits(bits),
                webhook: HOOK.into(),
                event: 1,
                kind: EventKind::NoteAdded,
                line: if bits < 9000 { "stuck".into() } else { bits.to_string() },
            };
            tx.delivery_insert(&new, NOW)?;
        }
        Ok::<_, StoreError>(())
    });
    filled.await.unwrap();
    // By index and without a sort: a plan that reads everything would name the table alone.
    let file = rusqlite::Connection::open(dir.path().join("state.db")).unwrap();
    let plan = |sql: &str| -> String {
        let mut statement = file.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let rows = statement.query_map([], |row| row.get::<_, String>(3)).unwrap();
        rows.map(Result::unwrap).collect::<Vec<_>>().join("; ")
    };
    let due = plan(
        "SELECT id FROM delivery WHERE webhook = 'it' AND due_at IS NOT NULL AND due_at <= 5
         ORDER BY due_at, number LIMIT 16",
    );
    assert!(due.contains("USING INDEX delivery_due") && !due.contains("TEMP B-TREE"), "{due}");
    let first = plan(
        "SELECT number FROM delivery WHERE webhook = 'it' AND line = 'a' AND state = 'pending'
         ORDER BY number LIMIT 1",
    );
    assert!(first.contains("delivery_line") && !first.contains("TEMP B-TREE"), "{first}");
    let due = store.read(|tx| tx.deliveries_due(HOOK, NOW, 16)).unwrap();
    assert_eq!(due.len(), 16);
}
