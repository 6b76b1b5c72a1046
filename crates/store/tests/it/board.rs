//! The board: every task in its column, counted, in pages that join, and quick to answer however many there are.

use model::task::{EpicMembership, TaskMove};
use model::{AgentId, Column, EpicId, Priority, TaskId, TaskRef, TaskStateName};
use store::{BoardFilter, BoardMark, BoardPart, NewTask, Store, StoreError};

use crate::support::{NOW, add_task, agent, open};

async fn change(store: &Store, number: i64, task_move: TaskMove) {
    store
        .write(move |tx| {
            let mut task = tx.task_find(&TaskRef::Number(number))?.unwrap();
            task.state = task.state.apply_through(&task_move, EpicMembership::Alone).unwrap();
            tx.task_save(&task, NOW)
        })
        .await
        .unwrap();
}

/// Fills a record with tasks: each hundredth needs the one before it.
async fn fill(store: &Store, tasks: u64) {
    store
        .write(move |tx| {
            for bits in 1..=tasks {
                let new = NewTask {
                    id: TaskId::from_bits(bits),
                    slug: format!("task-{bits}"),
                    session: if bits % 2 == 0 { "night" } else { "default" }.into(),
                    title: format!("Task {bits} of many"),
                    description: None,
                    priority: Priority::new(i64::try_from(bits % 5).unwrap()).unwrap(),
                    epic: (bits % 10 == 0).then_some(EpicId::from_bits(7)),
                    iteration: 0,
                };
                let task = tx.task_insert(&new, NOW)?;
                if bits % 100 == 0 {
                    tx.task_add_need(task.number, task.number - 1)?;
                }
            }
            Ok::<_, StoreError>(())
        })
        .await
        .unwrap();
}

fn walk(store: &Store, filter: &BoardFilter, part: BoardPart, limit: u32) -> Vec<i64> {
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = store.read(|tx| tx.board_page(filter, part, after, limit)).unwrap();
        assert!(page.cards.len() <= usize::try_from(limit).unwrap());
        if let BoardPart::Column(column) = part {
            assert!(page.cards.iter().all(|card| card.column() == column));
        }
        seen.extend(page.cards.iter().map(|card| card.number));
        match page.next {
            Some(next) => after = Some(next),
            None => return seen,
        }
    }
}

#[tokio::test]
async fn every_task_stands_in_one_column_and_counts_agree_with_pages() {
    let (_dir, store) = open();
    for bits in 1..=12 {
        add_task(&store, bits).await.unwrap();
    }
    let to = AgentId::from_bits(1);
    change(&store, 2, TaskMove::Assign { to }).await;
    change(&store, 3, TaskMove::Start { claim: None }).await;
    change(&store, 4, TaskMove::Start { claim: None }).await;
    change(&store, 4, TaskMove::Submit).await;
    change(&store, 5, TaskMove::Block { reason: None }).await;
    change(&store, 6, TaskMove::Complete).await;
    change(&store, 7, TaskMove::Fail { reason: None }).await;
    change(&store, 8, TaskMove::Cancel { reason: None }).await;
    // 9 waits for what goes on, 10 for what failed, 11 for nothing that is not done; 3 had to wait and has begun.
    let needs = [(9, 3), (10, 7), (11, 6), (11, 8), (3, 1)];
    store
        .write(move |tx| needs.iter().try_for_each(|(task, need)| tx.task_add_need(*task, *need)))
        .await
        .unwrap();
    let filter = BoardFilter::default();
    let column = |name| walk(&store, &filter, BoardPart::Column(name), 2);
    assert_eq!(column(Column::Blocked), [10, 9, 5]);
    assert_eq!(column(Column::Ready), [12, 11, 2, 1]);
    assert_eq!(column(Column::InProgress), [3]);
    assert_eq!(column(Column::InReview), [4]);
    assert_eq!(column(Column::Done), [8, 7, 6], "the newest first");
    assert_eq!(walk(&store, &filter, BoardPart::All, 5), (1..=12).rev().collect::<Vec<_>>());
    let (counts, waiting) = store.read(|tx| tx.board_counts(&filter)).unwrap();
    assert_eq!(waiting, 2);
    assert_eq!(counts.iter().map(|(_, count)| count).sum::<i64>(), 12);
    assert!(counts.contains(&(TaskStateName::Pending, 5)));
    let nine = store.read(|tx| tx.board_card(9)).unwrap().unwrap();
    assert_eq!((nine.needs, nine.waits_for, nine.column()), (1, 1, Column::Blocked));
}

#[tokio::test]
async fn words_are_found_in_titles_roles_and_numbers() {
    let (_dir, store) = open();
    for bits in 1..=3 {
        add_task(&store, bits).await.unwrap();
    }
    store.write(|tx| tx.agent_insert(&agent(1), NOW)).await.unwrap();
    change(&store, 2, TaskMove::Assign { to: AgentId::from_bits(1) }).await;
    let found = |words: &[&str]| {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let filter = BoardFilter { words, ..BoardFilter::default() };
        let found = store.read(|tx| tx.board_search(&filter)).unwrap();
        found.cards.iter().map(|card| card.number).collect::<Vec<_>>()
    };
    assert_eq!(found(&["TASK"]), [3, 2, 1]);
    assert_eq!(found(&["task", "2"]), [2]);
    assert_eq!(found(&["TAS-3"]), [3]);
    assert_eq!(found(&["worker"]), [2], "the role of who has it");
    assert_eq!(found(&["100%"]), [0; 0], "signs of patterns are letters like others");
    assert_eq!(found(&["_"]), [0; 0]);
}

#[tokio::test]
async fn a_hundred_thousand_tasks_are_answered_by_the_page() {
    let (dir, store) = open();
    fill(&store, 100_000).await;
    let filter = BoardFilter::default();
    let ready = BoardPart::Column(Column::Ready);
    let page = store.read(|tx| tx.board_page(&filter, ready, None, 50)).unwrap();
    assert_eq!(page.cards.len(), 50);
    assert!(page.cards.iter().all(|card| card.priority.number() == 0 && card.waits_for == 0));
    let next = store.read(|tx| tx.board_page(&filter, ready, page.next, 50)).unwrap();
    assert!(next.cards[0].mark() > page.cards[49].mark());
    let (counts, waiting) = store.read(|tx| tx.board_counts(&filter)).unwrap();
    assert_eq!((counts, waiting), (vec![(TaskStateName::Pending, 100_000)], 1000));
    let night = BoardFilter { session: Some("night".into()), ..BoardFilter::default() };
    let (counts, waiting) = store.read(|tx| tx.board_counts(&night)).unwrap();
    assert_eq!((counts, waiting), (vec![(TaskStateName::Pending, 50_000)], 1000));
    let epic = BoardFilter { epic: Some(EpicId::from_bits(7)), ..BoardFilter::default() };
    assert_eq!(walk(&store, &epic, BoardPart::Column(Column::Blocked), 400).len(), 1000);
    let words = BoardFilter { words: vec!["many".into()], ..BoardFilter::default() };
    let found = store.read(|tx| tx.board_search(&words)).unwrap();
    assert_eq!((found.cards.len(), found.truncated), (500, true), "found up to a bound");
    assert_eq!(store.read(|tx| tx.board_linked(&filter, 501)).unwrap().len(), 501);

    // What is asked for each page and each count walks along an index and sorts nothing.
    let file = rusqlite::Connection::open(dir.path().join("state.db")).unwrap();
    for sql in [
        "SELECT * FROM task AS t WHERE t.state = 'pending' AND t.priority >= 1
            AND (t.priority > 1 OR t.number < 5) ORDER BY t.priority, t.number DESC LIMIT 51",
        "SELECT * FROM task AS t WHERE t.state = 'completed' AND t.number < 5
         ORDER BY t.number DESC LIMIT 51",
        "SELECT * FROM task AS t WHERE t.state = 'pending' AND t.priority >= 1
            AND (t.priority > 1 OR t.number < 5) AND t.session = 'x'
         ORDER BY t.priority, t.number DESC LIMIT 51",
        "SELECT t.state, COUNT(*) FROM task AS t WHERE t.state <> '' GROUP BY t.state",
        "SELECT number FROM event WHERE task_id = 'x' AND number < 5
            AND kind IN ('task.created', 'task.assigned', 'task.updated', 'task.commented')
         ORDER BY number DESC LIMIT 51",
        "SELECT * FROM agent WHERE task_id = 'x' AND ended_at IS NULL ORDER BY number DESC LIMIT 1",
    ] {
        let mut plan = file.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let steps: Vec<String> =
            plan.query_map([], |row| row.get("detail")).unwrap().map(Result::unwrap).collect();
        let text = steps.join("; ");
        assert!(text.contains("INDEX") && !text.contains("TEMP B-TREE"), "{sql}: {text}");
    }
}

#[test]
fn a_cursor_survives_text_and_nonsense_is_none() {
    let mark: BoardMark = "p3n118".parse().unwrap();
    assert_eq!((mark.to_string().as_str(), mark.number()), ("p3n118", 118));
    for nonsense in ["", "p", "p1", "n5", "p1n", "p-1n5", "p999n5", "p1n-5", "p1n5x", "12"] {
        assert!(nonsense.parse::<BoardMark>().is_err(), "{nonsense}");
    }
}
