//! Group commit: many at once, each on its own.

use model::AgentId;
use store::{StoreError, Tx, WriterState};

use crate::support::{NOW, add_task, agent, open};

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_writers_get_numbers_of_their_own() {
    let (_dir, store) = open();
    let tasks = (1..=300).map(|bits| {
        let store = store.clone();
        async move { add_task(&store, bits).await.unwrap().number }
    });
    let mut numbers = futures_util::future::join_all(tasks).await;
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=300).collect::<Vec<_>>());
}

#[tokio::test]
async fn one_failure_does_not_touch_its_neighbours() {
    let (_dir, store) = open();
    let (first, again, other) =
        tokio::join!(add_task(&store, 1), add_task(&store, 1), add_task(&store, 2));
    assert!(first.is_ok() && other.is_ok());
    assert!(matches!(again, Err(StoreError::Duplicate(_))), "{again:?}");
}

#[tokio::test]
async fn a_panic_in_an_operation_is_an_error_and_not_the_end() {
    fn explode(_: &mut Tx<'_>) -> Result<(), StoreError> {
        panic!("on purpose");
    }
    let (_dir, store) = open();
    assert!(store.write(explode).await.is_err());
    assert!(add_task(&store, 1).await.is_ok());
}

#[tokio::test]
async fn an_operation_that_only_looks_cannot_write() {
    let (dir, store) = open();
    add_task(&store, 1).await.unwrap();
    // The type forbids it; the connection would too.
    let found = store.read(|tx| tx.task_recent_slugs(10)).unwrap();
    assert_eq!(found, ["task-1"]);
    drop(dir);
}

#[tokio::test]
async fn an_ended_agents_token_is_void() {
    use model::agent::{AgentState, Outcome};
    let (_dir, store) = open();
    let new = agent(1);
    store.write(move |tx| tx.agent_insert(&new, NOW)).await.unwrap();
    assert!(store.read(|tx| tx.agent_by_token("hash-1")).unwrap().is_some());
    let id = AgentId::from_bits(1);
    let end = AgentState::Ended { outcome: Outcome::Killed, reason: "why".into(), at: NOW };
    let to = end.clone();
    store.write(move |tx| tx.agent_advance(id, &to, NOW)).await.unwrap();
    assert!(store.read(|tx| tx.agent_by_token("hash-1")).unwrap().is_none());
    assert_eq!(store.read(|tx| tx.agent_get(id)).unwrap().unwrap().state, end);
    assert!(!store.write(move |tx| tx.agent_touch(id, NOW)).await.unwrap());
}

#[tokio::test]
async fn news_of_an_event_comes_after_its_commit_and_before_its_answer() {
    use store::EventDraft;
    use wire::event::{EventData, MailRead};
    let (_dir, store) = open();
    let last = store.last_event();
    assert_eq!(*last.borrow(), 0);
    let draft = EventDraft {
        agent: None,
        task: None,
        data: EventData::MailRead(MailRead { mail_id: model::MailId::from_bits(1) }),
    };
    for number in 1..=500 {
        let kept = draft.clone();
        store.write(move |tx| tx.event_append(NOW, &kept)).await.unwrap();
        assert_eq!(*last.borrow(), number, "the writer tells of it before it answers");
    }
    let undone = store
        .write(move |tx| {
            tx.event_append(NOW, &draft)?;
            Err::<(), _>(StoreError::Corrupt("on purpose".into()))
        })
        .await;
    assert!(undone.is_err());
    assert_eq!(*last.borrow(), 500, "what was undone is not told");
}

#[tokio::test]
async fn a_watch_wakes_for_its_kinds_and_for_a_thousand_others() {
    use futures_util::FutureExt as _;
    use model::EventKinds;
    use model::event::EventKind;
    use store::EventDraft;
    use wire::event::{EventData, MailRead};
    let (_dir, store) = open();
    let append = async |many: usize| {
        let data = EventData::MailRead(MailRead { mail_id: model::MailId::from_bits(1) });
        let draft = EventDraft { agent: None, task: None, data };
        let all = move |tx: &mut Tx<'_>| {
            (0..many).try_for_each(|_| tx.event_append(NOW, &draft).map(drop))
        };
        store.write(all).await.unwrap();
    };
    let mut read = store.event_watch();
    let mut others = store.event_watch();
    let (of_read, of_others) =
        (EventKinds::of(&[EventKind::MailRead]), EventKinds::family("agent"));
    append(1).await;
    // It stays awake until it has marked the event as seen.
    read.changed(of_read).await.unwrap();
    read.changed(of_read).await.unwrap();
    assert_eq!(read.mark_seen(), 1);
    assert!(read.changed(of_read).now_or_never().is_none(), "the event is seen");
    assert!(others.changed(of_others).now_or_never().is_none(), "no event of its kinds");
    append(999).await;
    others.changed(of_others).await.unwrap();
    assert_eq!(others.mark_seen(), 1_000);
    store.close().await;
    assert!(others.changed(of_others).await.is_err(), "nothing will be committed any more");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_writer_that_hangs_is_seen_to_be_busy_and_one_that_ended_to_have_stopped() {
    let (_dir, store) = open();
    let (begun, has_begun) = std::sync::mpsc::channel();
    let (release, released) = std::sync::mpsc::channel::<()>();
    let hanging = store.clone();
    let hangs = tokio::task::spawn_blocking(move || {
        let wait = move |_: &mut Tx<'_>| {
            begun.send(()).unwrap();
            // Ends when the sender is gone.
            _ = released.recv();
            Ok::<_, StoreError>(())
        };
        tokio::runtime::Handle::current().block_on(hanging.write(wait))
    });
    tokio::task::spawn_blocking(move || has_begun.recv().unwrap()).await.unwrap();
    assert!(matches!(store.writer_state(), WriterState::Busy(_)));
    drop(release);
    hangs.await.unwrap().unwrap();
    while store.writer_state() != WriterState::Idle {
        tokio::task::yield_now().await;
    }
    store.close().await;
    assert_eq!(store.writer_state(), WriterState::Stopped);
}
