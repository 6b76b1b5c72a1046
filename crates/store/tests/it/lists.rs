//! Lists come in pages, through an index, and the next task is the right one.

use model::task::{TaskMove, TaskStateName};
use model::{AgentId, Priority};
use store::{Store, TaskFilter};

use crate::support::{NOW, add_task, open};

async fn change(store: &Store, number: i64, task_move: TaskMove, priority: i64) {
    store
        .write(move |tx| {
            let mut task = tx.task_find(&model::TaskRef::Number(number))?.unwrap();
            task.state =
                task.state.apply_through(&task_move, model::task::EpicMembership::Alone).unwrap();
            task.priority = Priority::new(priority).unwrap();
            tx.task_save(&task, NOW)
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn pages_join_without_gap_or_repeat() {
    let (_dir, store) = open();
    for bits in 1..=25 {
        add_task(&store, bits).await.unwrap();
    }
    for number in [3, 8, 13] {
        change(&store, number, TaskMove::Complete, 2).await;
    }
    for (states, expected) in [(vec![], 25), (vec![TaskStateName::Completed], 3)] {
        let filter =
            TaskFilter { states, session: Some("default".into()), ..TaskFilter::default() };
        let (mut seen, mut after) = (Vec::new(), 0);
        loop {
            let page = store.read(|tx| tx.task_page(&filter, after, 2)).unwrap();
            seen.extend(page.items.iter().map(|task| task.number));
            match page.next {
                Some(next) => after = next,
                None => break,
            }
        }
        assert_eq!(seen.len(), expected);
        assert!(seen.windows(2).all(|pair| pair[0] < pair[1]));
    }
}

#[tokio::test]
async fn the_next_task_is_ready_first_by_priority_then_by_age() {
    let (_dir, store) = open();
    for bits in 1..=5 {
        add_task(&store, bits).await.unwrap();
    }
    let next = |agent: Option<AgentId>| {
        store.read(|tx| tx.task_next("default", agent)).unwrap().map(|task| task.number)
    };
    assert_eq!(next(None), Some(1), "the oldest");
    change(&store, 4, TaskMove::Release, 0).await;
    assert_eq!(next(None), Some(4), "the most urgent");
    store.write(|tx| tx.task_add_need(4, 2)).await.unwrap();
    assert_eq!(next(None), Some(1), "not what waits for another");
    change(&store, 2, TaskMove::Cancel { reason: None }, 2).await;
    assert_eq!(next(None), Some(4), "a cancelled need is met");
    let (mine, theirs) = (AgentId::from_bits(7), AgentId::from_bits(8));
    change(&store, 4, TaskMove::Assign { to: mine }, 0).await;
    assert_eq!(next(Some(mine)), Some(4), "what was given to me");
    assert_eq!(next(Some(theirs)), Some(1), "not what was given to another");
}

/// No list may walk a whole table: the plan of each query must name an index.
#[tokio::test]
async fn every_list_is_served_by_an_index() {
    let (dir, store) = open();
    add_task(&store, 1).await.unwrap();
    let file = rusqlite::Connection::open(dir.path().join("state.db")).unwrap();
    let queries = [
        "SELECT * FROM task WHERE number > 5 ORDER BY number LIMIT 5",
        "SELECT * FROM task WHERE number > 5 AND state IN ('failed') ORDER BY number LIMIT 5",
        "SELECT * FROM task WHERE number > 5 AND epic_id = 'x' ORDER BY number LIMIT 5",
        "SELECT * FROM task WHERE number > 5 AND session = 'x' ORDER BY number LIMIT 5",
        "SELECT * FROM task WHERE session = 'x' AND state = 'pending' ORDER BY priority, number LIMIT 1",
        "SELECT * FROM mail WHERE recipient = 'x' AND number > 5 ORDER BY number LIMIT 5",
        "SELECT * FROM mail WHERE read_at IS NULL AND recipient = 'x' AND number > 5 ORDER BY number LIMIT 5",
        "SELECT * FROM note WHERE session = 'x' AND kind = 'tip' AND number > 5 ORDER BY number LIMIT 5",
        "SELECT * FROM event WHERE kind = 'x' AND number > 5 ORDER BY number LIMIT 5",
        "SELECT block FROM audit_block WHERE key = 'x' AND block >= 5 ORDER BY block LIMIT 1",
        "SELECT COUNT(*) FROM audit WHERE agent_id = 'x' AND tool = 'y' AND at >= 5 AND code IS NOT NULL",
        "SELECT * FROM agent WHERE ended_at IS NULL AND number > 5 ORDER BY number LIMIT 5",
    ];
    for sql in queries {
        let mut plan = file.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let steps: Vec<String> =
            plan.query_map([], |row| row.get("detail")).unwrap().map(Result::unwrap).collect();
        let text = steps.join("; ");
        assert!(!text.contains("TEMP B-TREE"), "{sql}: {text}");
        let scans = text.contains("SCAN") && !text.contains("USING");
        assert!(!scans, "{sql}: {text}");
    }
}

#[tokio::test]
async fn an_agents_and_a_tools_rows_are_found_wherever_they_are() {
    use store::{AuditFilter, AuditRow};
    let (_dir, store) = open();
    let agent = AgentId::from_bits(9);
    // Few among many, over several blocks.
    for at in 0..5000_u32 {
        let mut row =
            crate::support::row(if at % 700 == 3 { "mcp__mail__send" } else { "mcp__task__get" });
        row.agent = (at % 500 == 3).then_some(agent);
        store.audit_later(row).await.unwrap();
    }
    store.write(|_| Ok::<_, store::StoreError>(())).await.unwrap();
    let all = |filter: AuditFilter| {
        let (mut rows, mut after) = (Vec::<AuditRow>::new(), 0);
        loop {
            let filter = AuditFilter { after, ..filter.clone() };
            let page = store.read(|tx| tx.audit_page(&filter, 3)).unwrap();
            rows.extend(page.items);
            match page.next {
                Some(next) => after = next,
                None => return rows.into_iter().map(|row| row.number).collect::<Vec<_>>(),
            }
        }
    };
    let expected =
        |keep: &dyn Fn(i64) -> bool| (1..=5000).filter(|n| keep(n - 1)).collect::<Vec<_>>();
    let by_agent = AuditFilter { agent: Some(agent), ..AuditFilter::default() };
    assert_eq!(all(by_agent.clone()), expected(&|n| n % 500 == 3));
    let tool = Some("mcp__mail__send".to_owned());
    assert_eq!(
        all(AuditFilter { tool: tool.clone(), ..AuditFilter::default() }),
        expected(&|n| n % 700 == 3)
    );
    assert_eq!(all(AuditFilter { tool, ..by_agent }), expected(&|n| n % 3500 == 3));
    assert_eq!(all(AuditFilter::default()).len(), 5000);
}
