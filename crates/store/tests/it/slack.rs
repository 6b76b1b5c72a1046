//! What is kept of Slack: once, due together, and said in lines.

use model::{AgentId, TaskId};
use store::{NewSlackOut, SlackAct, SlackMessage, SlackOrder, SlackOut, Store};

use crate::support::{NOW, open};

fn said(ts: &str, text: &str) -> SlackMessage {
    SlackMessage {
        number: 0,
        channel: "C1".to_owned(),
        ts: ts.to_owned(),
        thread: "1.0".to_owned(),
        user: "U1".to_owned(),
        text: text.to_owned(),
    }
}

async fn keep(store: &Store, ts: &str) -> bool {
    let message = said(ts, "hi");
    store.write(move |tx| tx.slack_message_insert(&message, NOW, NOW)).await.unwrap()
}

#[tokio::test]
async fn a_message_is_kept_once_and_acted_on_once() {
    let (_dir, store) = open();
    assert!(keep(&store, "1.0").await);
    assert!(!keep(&store, "1.0").await, "the same again");
    assert!(keep(&store, "1.2").await);
    assert!(store.read(|tx| tx.slack_message_known("C1", "1.2")).unwrap());
    // What is said later makes all of it wait.
    let later = NOW.after_seconds(2);
    store.write(move |tx| tx.slack_wait(&said("1.2", ""), later)).await.unwrap();
    assert_eq!(store.read(|tx| tx.slack_message_due(NOW)).unwrap(), None);
    assert_eq!(store.read(|tx| tx.slack_message_next()).unwrap(), Some(later));
    assert_eq!(
        store.read(|tx| tx.slack_beginning("C1", "U1")).unwrap().as_deref(),
        Some("1.0"),
        "the one that begins a thread"
    );
    let waiting = store.read(|tx| tx.slack_waiting("C1", "1.0", "U1")).unwrap();
    assert_eq!(waiting.iter().map(|one| one.ts.as_str()).collect::<Vec<_>>(), ["1.0", "1.2"]);
    let number = waiting[0].number;
    assert!(store.write(move |tx| tx.slack_message_taken(number)).await.unwrap());
    assert!(!store.write(move |tx| tx.slack_message_taken(number)).await.unwrap());
    assert_eq!(store.read(|tx| tx.slack_waiting("C1", "1.0", "U1")).unwrap().len(), 1);
}

#[tokio::test]
async fn a_thread_keeps_what_it_is_told_and_is_found_by_its_task() {
    let (_dir, store) = open();
    for _ in 0..2 {
        store.write(|tx| tx.slack_thread_begin(&said("1.0", ""), NOW)).await.unwrap();
    }
    let mut thread = store.read(|tx| tx.slack_thread_at("C1", "1.0")).unwrap().unwrap();
    let task = TaskId::from_bits(7);
    (thread.role, thread.task) = (Some("coder".to_owned()), Some(task));
    let (kept, agent) = (thread.clone(), AgentId::from_bits(9));
    store.write(move |tx| tx.slack_thread_save(&kept, NOW)).await.unwrap();
    assert_eq!(store.read(|tx| tx.slack_thread_of(task)).unwrap(), Some(thread.clone()));
    let page = store.read(|tx| tx.slack_thread_page(i64::MAX, 10)).unwrap();
    assert_eq!((page.items, page.next), (vec![thread.clone()], None));
    assert_eq!(store.read(|tx| tx.slack_threads_count(NOW)).unwrap(), 1);
    let later = NOW.after_seconds(1);
    assert_eq!(store.read(|tx| tx.slack_threads_live(later, 10)).unwrap(), []);
    let order = SlackOrder {
        agent,
        thread: thread.number,
        ts: "1.0".to_owned(),
        user: "U1".to_owned(),
        mark: None,
    };
    let new = order.clone();
    store.write(move |tx| tx.slack_order_insert(&new)).await.unwrap();
    assert_eq!(store.read(|tx| tx.slack_order_of(agent)).unwrap(), Some(order.clone()));
    assert_eq!(store.read(|tx| tx.slack_orders(thread.number)).unwrap(), [order]);
    let channels = store.read(|tx| tx.slack_channels(10)).unwrap();
    assert_eq!(channels, [("C1".to_owned(), "1.0".to_owned())]);
}

async fn add(store: &Store, id: &'static str, thread: &'static str) {
    let new = NewSlackOut {
        id: id.to_owned(),
        channel: "C1".to_owned(),
        thread: thread.to_owned(),
        act: SlackAct::Post,
        body: id.to_owned(),
        name: None,
        mail: None,
    };
    store.write(move |tx| tx.slack_out_insert(&new, NOW)).await.unwrap();
}

fn due(store: &Store) -> Option<SlackOut> {
    store.read(|tx| tx.slack_out_due(NOW)).unwrap()
}

async fn end(store: &Store, out: SlackOut, error: Option<&'static str>) {
    store.write(move |tx| tx.slack_out_end(&out, error, NOW)).await.unwrap();
}

#[tokio::test]
async fn a_thread_is_spoken_to_in_order_and_holds_up_no_other() {
    let (_dir, store) = open();
    for (id, thread) in [("a1", "a"), ("a2", "a"), ("b1", "b")] {
        add(&store, id, thread).await;
    }
    let first = due(&store).unwrap();
    assert_eq!(first.what.id, "a1");
    // It failed, perhaps: the next of its thread waits for it.
    let number = first.number;
    let later = NOW.after_seconds(5);
    store.write(move |tx| tx.slack_out_begin(number, NOW)).await.unwrap();
    store.write(move |tx| tx.slack_out_reschedule(number, "lost", Some(NOW), later)).await.unwrap();
    let other = due(&store).unwrap();
    assert_eq!(other.what.id, "b1");
    end(&store, other, None).await;
    assert_eq!(due(&store), None);
    assert_eq!(store.read(|tx| tx.slack_out_next()).unwrap(), Some(later));
    store.write(|tx| tx.slack_out_hurry(NOW)).await.unwrap();
    let again = due(&store).unwrap();
    assert_eq!((again.begun_at, again.attempts), (Some(NOW), 1));
    // Given up, it lets the next go on; said again, it comes before what is still to come.
    end(&store, again, Some("no")).await;
    assert_eq!(due(&store).unwrap().what.id, "a2");
    assert_eq!(store.read(|tx| tx.slack_out_dead(10)).unwrap().len(), 1);
    assert_eq!(store.write(|tx| tx.slack_out_retry(NOW)).await.unwrap(), 1);
    let first = due(&store).unwrap();
    assert_eq!(first.what.id, "a1");
    end(&store, first, None).await;
    let second = due(&store).unwrap();
    assert_eq!(second.what.id, "a2");
    end(&store, second, None).await;
    assert_eq!(due(&store), None);
    let count = |state: &'static str| store.read(|tx| tx.slack_out_count(state)).unwrap();
    assert_eq!((count("pending"), count("sent"), count("dead")), (0, 3, 0));
    store.write(|tx| tx.slack_out_prune(1)).await.unwrap();
    assert_eq!(store.read(|tx| tx.slack_out_count("sent")).unwrap(), 1);
}
