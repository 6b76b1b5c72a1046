//! Events are looked for in steps that end, by kind, agent and task.

use model::event::EventKind;
use model::{AgentId, MailId, TaskId};
use store::{EventDraft, EventFilter, EventSearch, EventSpan, Store};
use wire::event::{AgentWarned, EventData, FailedStep, LoopStepFailed, MailRead};

use crate::support::{NOW, open};

const ALL: EventSpan = EventSpan { after: 0, until: i64::MAX, limit: 1000, bytes: usize::MAX };

/// Writes so many events, each of what the number says.
async fn write(store: &Store, many: u64, of: fn(u64) -> EventDraft) {
    store
        .write(move |tx| (1..=many).try_for_each(|n| tx.event_append(NOW, &of(n)).map(drop)))
        .await
        .unwrap();
}

fn mail() -> EventData {
    EventData::MailRead(MailRead { mail_id: MailId::from_bits(1) })
}

fn warning() -> EventData {
    EventData::AgentWarned(AgentWarned { warning: "w".to_owned() })
}

fn mixed(number: u64) -> EventDraft {
    EventDraft {
        agent: Some(AgentId::from_bits(number % 3)),
        task: number.is_multiple_of(5).then(|| TaskId::from_bits(7)),
        data: if number.is_multiple_of(2) { mail() } else { warning() },
    }
}

#[tokio::test]
async fn each_condition_narrows_the_search() {
    let (_dir, store) = open();
    write(&store, 60, mixed).await;
    let find = |search: EventSearch| -> Vec<i64> {
        let step = store.read(|tx| tx.event_step(&search, ALL)).unwrap();
        assert!(step.events.iter().all(|e| search.takes(e.kind, e.agent, e.task)));
        step.events.iter().map(|event| event.number).collect()
    };
    assert_eq!(find(EventSearch::default()), (1..=60).collect::<Vec<_>>());
    let mail = EventSearch { kinds: vec![EventKind::MailRead], ..EventSearch::default() };
    assert_eq!(find(mail.clone()), (2..=60).step_by(2).collect::<Vec<_>>());
    let both = vec![EventKind::AgentWarned, EventKind::MailRead, EventKind::NoteAdded];
    assert_eq!(
        find(EventSearch { kinds: both, ..EventSearch::default() }).len(),
        60,
        "and in order"
    );
    let agent = Some(AgentId::from_bits(0));
    assert_eq!(
        find(EventSearch { agent, ..EventSearch::default() }),
        (3..=60).step_by(3).collect::<Vec<_>>()
    );
    let task = Some(TaskId::from_bits(7));
    assert_eq!(
        find(EventSearch { task, ..EventSearch::default() }),
        (5..=60).step_by(5).collect::<Vec<_>>()
    );
    assert_eq!(find(EventSearch { agent, task, ..mail }), [30, 60]);
}

#[tokio::test]
async fn steps_join_without_gap_or_repeat_whatever_ends_them() {
    let (_dir, store) = open();
    write(&store, 100, mixed).await;
    let search = EventSearch { kinds: vec![EventKind::MailRead], ..EventSearch::default() };
    for (limit, bytes) in [(7, usize::MAX), (1000, 40), (1000, 0), (1, usize::MAX)] {
        let (mut found, mut after) = (Vec::new(), 0);
        while after < 100 {
            let span = EventSpan { after, until: 100, limit, bytes };
            let step = store.read(|tx| tx.event_step(&search, span)).unwrap();
            assert!(step.seen > after, "it gets on");
            assert!(step.events.len() <= usize::try_from(limit).unwrap());
            found.extend(step.events.iter().map(|event| event.number));
            after = step.seen;
        }
        assert_eq!(after, 100);
        assert_eq!(found, (2..=100).step_by(2).collect::<Vec<_>>(), "{limit} {bytes}");
    }
}

#[tokio::test]
async fn a_search_for_what_is_not_there_ends_after_a_bounded_step_and_says_how_far_it_came() {
    let (_dir, store) = open();
    write(&store, 25_000, mixed).await;
    let search = EventSearch { agent: Some(AgentId::from_bits(99)), ..EventSearch::default() };
    let (mut steps, mut after) = (Vec::new(), 0);
    while after < 25_000 {
        let span = EventSpan { after, until: 25_000, limit: 10, bytes: usize::MAX };
        let step = store.read(|tx| tx.event_step(&search, span)).unwrap();
        assert_eq!(step.events, []);
        after = step.seen;
        steps.push(after);
    }
    assert_eq!(steps, [10_000, 20_000, 25_000]);
}

#[tokio::test]
async fn a_step_from_before_the_first_event_reaches_the_last_in_one() {
    let (_dir, store) = open();
    write(&store, 3, mixed).await;
    for after in [i64::MIN, -1, 0] {
        let span = EventSpan { after, ..ALL };
        let step = store.read(|tx| tx.event_step(&EventSearch::default(), span)).unwrap();
        assert_eq!((step.events.len(), step.seen > 3), (3, true), "{after}");
    }
    let span = EventSpan { after: i64::MAX, ..ALL };
    let step = store.read(|tx| tx.event_step(&EventSearch::default(), span)).unwrap();
    assert_eq!((step.events.len(), step.seen), (0, i64::MAX));
}

/// Puts a row into the database as an earlier version, or a fault, may have left it.
fn insert(dir: &tempfile::TempDir, number: i64, kind: &str, data: &str) {
    let database = rusqlite::Connection::open(dir.path().join("state.db")).unwrap();
    let sql = "INSERT INTO event (number, kind, at, data) VALUES ($1, $2, 0, $3)";
    database.execute(sql, (number, kind, data)).unwrap();
}

#[tokio::test]
async fn rows_under_a_former_name_are_found_with_those_under_the_new_one() {
    let (dir, store) = open();
    let step = |session: &str| LoopStepFailed {
        session: session.to_owned(),
        iteration: 1,
        what: FailedStep::Commit,
        hook: None,
        error: "git refused it".to_owned(),
        output: None,
    };
    let draft =
        EventDraft { agent: None, task: None, data: EventData::LoopStepFailed(step("new")) };
    store.write(move |tx| tx.event_append(NOW, &draft)).await.unwrap();
    let old = EventData::LoopStepFailed(step("old"));
    insert(&dir, 2, "loop.trouble", &old.to_json().to_string());
    let kind = EventKind::LoopStepFailed;
    let search = EventSearch { kinds: vec![kind], ..EventSearch::default() };
    let filter = EventFilter { after: 0, kind: Some(kind) };
    let found = [
        store.read(|tx| tx.event_step(&search, ALL)).unwrap().events,
        store.read(|tx| tx.event_list(&filter, 9)).unwrap(),
        store.read(|tx| tx.event_list_newest(kind, 9)).unwrap(),
    ];
    for events in found {
        assert_eq!(events.iter().map(|event| event.number).collect::<Vec<_>>(), [1, 2]);
        assert!(events.iter().all(|event| event.kind == kind));
        assert_eq!(events[1].decode(), Some(old.clone()));
    }
}

#[tokio::test]
async fn a_payload_that_is_not_of_its_kind_is_kept_and_not_decoded() {
    let (dir, store) = open();
    insert(&dir, 1, "mail.read", r#"{"mailId":7}"#);
    insert(&dir, 2, "mail.read", r#"{"mailId":"mail_0000000000000001"}"#);
    let events = store.read(|tx| tx.event_list(&EventFilter::default(), 9)).unwrap();
    assert_eq!(events[0].data, serde_json::json!({ "mailId": 7 }), "it is passed on as it is");
    assert_eq!(events[0].decode(), None);
    assert_eq!(events[1].decode(), Some(mail()), "and those behind it are read");
}
