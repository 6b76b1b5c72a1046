//! The board as people see it: rows, one task whole, its history in words, the graph, and the epics above.

use engine::{BoardRequest, BoardSlice, ListScope};
use model::{Column, EpicId, TaskRef};
use serde_json::{Value, json};
use wire::tasks::{Board, TaskDetails};

use crate::support::{Who, World};

const CREATE: &str = "mcp__task__create";
const UPDATE: &str = "mcp__task__update_status";
const SESSION: &str = "mcp__session__task-update";
const COMMENT: &str = "mcp__task__add_comment";
const ASSIGN: &str = "mcp__task__assign";
const EPIC: &str = "mcp__epic__create";

async fn task(world: &World, input: Value) -> i64 {
    let made = world.ok(Who::Operator, CREATE, input).await;
    made["number"].as_str().unwrap().trim_start_matches("TAS-").parse().unwrap()
}

fn name(number: i64) -> String {
    format!("TAS-{number}")
}

async fn board(world: &World, words: &str) -> Board {
    let request = BoardRequest { words: words.into(), ..BoardRequest::default() };
    world.engine.board(request, 25).await.unwrap()
}

/// The numbers in a column, and how many it says there are.
fn column(board: &Board, name: Column) -> (Vec<i64>, i64) {
    let column = board.columns.iter().find(|column| column.name == name).unwrap();
    (column.tasks.iter().map(|task| task.number).collect(), column.count)
}

async fn whole(world: &World, number: i64) -> TaskDetails {
    world.engine.whole_task(TaskRef::Number(number)).await.unwrap()
}

async fn told(world: &World, number: i64) -> Vec<String> {
    whole(world, number).await.history.into_iter().map(|entry| entry.text).collect()
}

#[tokio::test]
async fn what_waits_for_another_is_blocked_until_that_is_done() {
    let world = World::new();
    let first = task(&world, json!({ "title": "Fence stale claims" })).await;
    let second =
        task(&world, json!({ "title": "Fail over", "priority": 0, "dependsOn": [name(first)] }))
            .await;
    let board_before = board(&world, "").await;
    assert_eq!(column(&board_before, Column::Blocked), (vec![second], 1));
    assert_eq!(column(&board_before, Column::Ready), (vec![first], 1));
    let row = &board_before.columns[0].tasks[0];
    assert_eq!((row.needs[0].number, row.needs[0].done, row.needed_by), (first, false, 0));
    assert_eq!(board_before.columns[1].tasks[0].needed_by, 1);
    world.ok(Who::Operator, SESSION, json!({ "id": name(first), "status": "completed" })).await;
    let after = board(&world, "").await;
    assert_eq!(column(&after, Column::Blocked), (vec![], 0));
    assert_eq!(column(&after, Column::Ready), (vec![second], 1));
    assert_eq!(column(&after, Column::Done), (vec![first], 1));
    assert!(after.columns[1].tasks[0].needs[0].done);
}

#[tokio::test]
async fn words_priorities_epics_and_single_rows_narrow_the_board() {
    let world = World::new();
    let epic = world.ok(Who::Operator, EPIC, json!({ "title": "Console" })).await["id"].clone();
    let one = task(&world, json!({ "title": "Sort jobs", "epicId": epic, "priority": 1 })).await;
    let two = task(&world, json!({ "title": "Sort queues", "priority": 3 })).await;
    assert_eq!(column(&board(&world, "SORT").await, Column::Ready), (vec![one, two], 2));
    assert_eq!(column(&board(&world, "sort p1").await, Column::Ready), (vec![one], 1));
    assert_eq!(column(&board(&world, "p3").await, Column::Ready), (vec![two], 1));
    assert_eq!(column(&board(&world, "console").await, Column::Ready), (vec![one], 1));
    let id: EpicId = epic.as_str().unwrap().parse().unwrap();
    let of_epic = BoardRequest { epic: Some(id), ..BoardRequest::default() };
    let of_epic = world.engine.board(of_epic, 25).await.unwrap();
    assert_eq!(column(&of_epic, Column::Ready), (vec![one], 1));
    assert_eq!(of_epic.columns[1].tasks[0].epic.as_ref().unwrap().title, "Console");
    let rows = world.engine.board_rows(vec![two, 999, one]).await.unwrap();
    assert_eq!(rows.tasks.iter().map(|row| row.number).collect::<Vec<_>>(), [two, one]);
    let nobody = BoardRequest { epic: Some(EpicId::from_bits(1)), ..BoardRequest::default() };
    assert!(world.engine.board(nobody, 25).await.is_err());
    let long = BoardRequest { words: "a ".repeat(9), ..BoardRequest::default() };
    assert!(world.engine.board(long, 25).await.is_err());
}

#[tokio::test]
async fn pages_join_also_where_words_are_looked_for() {
    let world = World::new();
    for at in 0..7 {
        task(&world, json!({ "title": format!("Job {at}"), "priority": at % 3 })).await;
    }
    for words in ["", "job"] {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let request = BoardRequest { words: words.into(), ..BoardRequest::default() };
            let slice = BoardSlice { column: Some(Column::Ready), after, limit: 2 };
            let page = world.engine.board_page(request, slice).await.unwrap();
            seen.extend(page.tasks.iter().map(|row| row.number));
            match page.next_cursor {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        assert_eq!(seen, [7, 4, 1, 5, 2, 6, 3], "`{words}`: by priority, then the newest first");
    }
}

#[tokio::test]
async fn a_row_shows_who_has_the_task() {
    let world = World::new();
    let number = task(&world, json!({ "title": "Renew leases" })).await;
    let worker = world.enlist("worker").await;
    let given = json!({ "taskId": name(number), "agentId": worker });
    world.ok(Who::Operator, ASSIGN, given).await;
    let row = whole(&world, number).await.row;
    let agent = row.agent.unwrap();
    assert_eq!((agent.id, agent.role.as_str()), (worker, "worker"));
    assert!(worker.to_string().ends_with(&agent.short) && agent.short.len() == 5);
    assert_eq!(row.column, Column::Ready);
    world.ok(worker, UPDATE, json!({ "taskId": name(number), "status": "IN_PROGRESS" })).await;
    let row = whole(&world, number).await;
    assert_eq!((row.row.column, row.fence), (Column::InProgress, 1));
    assert_eq!(row.dispatches[0].agent_id, worker);
}

#[tokio::test]
async fn a_history_says_what_changed_and_by_whom() {
    let world = World::new();
    let other = task(&world, json!({ "title": "Other" })).await;
    let number = task(&world, json!({ "title": "Locks", "description": "All of them" })).await;
    let worker = world.enlist("worker").await;
    let short = whole_short(worker);
    let step = |tool: &'static str, input: Value| world.ok(Who::Operator, tool, input);
    step(SESSION, json!({ "id": name(number), "priority": 1 })).await;
    step(SESSION, json!({ "id": name(number), "depends_on": name(other) })).await;
    step(COMMENT, json!({ "taskId": name(number), "body": "One lock a home." })).await;
    step(SESSION, json!({ "id": name(number), "priority": 0 })).await;
    step(ASSIGN, json!({ "taskId": name(number), "agentId": worker })).await;
    world.ok(worker, UPDATE, json!({ "taskId": name(number), "status": "IN_PROGRESS" })).await;
    world.clock.advance_seconds(60);
    world.discharge(worker).await;
    world.clock.advance_seconds(60);
    step(SESSION, json!({ "id": name(number), "status": "in_progress" })).await;
    step(UPDATE, json!({ "taskId": name(number), "status": "BLOCKED", "reason": "no disk" })).await;
    step(SESSION, json!({ "id": name(number), "status": "remaining" })).await;
    step(SESSION, json!({ "id": name(number), "status": "cancelled" })).await;
    assert_eq!(
        told(&world, number).await,
        [
            "cancelled by the operator".to_owned(),
            "moved from blocked to ready by the operator".to_owned(),
            "blocked by the operator: no disk".to_owned(),
            "moved from ready to in progress by the operator".to_owned(),
            format!("worker {short} ended, succeeded: released"),
            format!("claimed by worker {short}"),
            format!("assigned to worker {short} by the operator"),
            "priority changed from 1 to 0 by the operator".to_owned(),
            "comment by the operator".to_owned(),
            "dependencies changed by the operator".to_owned(),
            "priority changed from 2 to 1 by the operator".to_owned(),
            "created by the operator".to_owned(),
        ]
    );
    let task = whole(&world, number).await;
    assert_eq!(task.history[8].comment.as_deref(), Some("One lock a home."));
    assert_eq!(task.comments[0].body, "One lock a home.");
    assert_eq!(task.description.as_deref(), Some("All of them"));
    assert_eq!((task.waits_for[0].number, task.waits_for[0].title.as_str()), (other, "Other"));
    assert_eq!(whole(&world, other).await.waited_for_by[0].number, number);
    assert!(task.context.contains("> Locks") && task.context.contains("One lock a home."));
    // The same in pages, each told with what was before it.
    let (mut texts, mut after) = (Vec::new(), 0);
    loop {
        let page = world.engine.task_history(TaskRef::Number(number), after, 3).await.unwrap();
        assert!(page.history.len() <= 3);
        texts.extend(page.history.into_iter().map(|entry| entry.text));
        match page.next_cursor {
            Some(next) => after = next,
            None => break,
        }
    }
    assert_eq!(texts, told(&world, number).await);
}

fn whole_short(id: model::AgentId) -> String {
    let id = id.to_string();
    id.chars().skip(id.len() - 5).collect()
}

#[tokio::test]
async fn the_graph_has_what_hangs_together_and_nothing_else() {
    let world = World::new();
    let done = task(&world, json!({ "title": "Done" })).await;
    let base = task(&world, json!({ "title": "Base" })).await;
    let top = task(&world, json!({ "title": "Top", "dependsOn": [name(base), name(done)] })).await;
    let lonely = task(&world, json!({ "title": "Lonely" })).await;
    world.ok(Who::Operator, SESSION, json!({ "id": name(done), "status": "completed" })).await;
    let graph = world.engine.board_graph(BoardRequest::default()).await.unwrap();
    let mut numbers: Vec<i64> = graph.nodes.iter().map(|node| node.number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [done, base, top]);
    let mut edges: Vec<(i64, i64)> = graph.edges.iter().map(|edge| (edge.from, edge.to)).collect();
    edges.sort_unstable();
    assert_eq!(edges, [(done, top), (base, top)]);
    assert!(!graph.truncated);
    let words = BoardRequest { words: "lonely".into(), ..BoardRequest::default() };
    let found = world.engine.board_graph(words).await.unwrap();
    assert_eq!(found.nodes[0].number, lonely, "what is looked for is drawn");
}

#[tokio::test]
async fn a_graph_is_bounded_and_says_so() {
    let world = World::new();
    let made = world
        .store
        .write(|tx| {
            for bits in 1..=600 {
                let new = store::NewTask {
                    id: model::TaskId::from_bits(bits),
                    slug: format!("task-{bits}"),
                    session: "default".into(),
                    title: format!("Task {bits}"),
                    description: None,
                    priority: model::Priority::default(),
                    epic: None,
                    iteration: 0,
                };
                let task = tx.task_insert(&new, model::Timestamp::from_millis(0))?;
                if task.number > 1 {
                    tx.task_add_need(task.number, task.number - 1)?;
                }
            }
            Ok::<_, store::StoreError>(())
        })
        .await;
    made.unwrap();
    let graph = world.engine.board_graph(BoardRequest::default()).await.unwrap();
    assert_eq!((graph.nodes.len(), graph.edges.len(), graph.truncated), (500, 499, true));
}

#[tokio::test]
async fn an_epic_counts_its_tasks_by_column() {
    let world = World::new();
    let made = world.ok(Who::Operator, EPIC, json!({ "title": "Leases" })).await;
    let id: EpicId = made["id"].as_str().unwrap().parse().unwrap();
    let first = task(&world, json!({ "title": "A", "epicId": id })).await;
    task(&world, json!({ "title": "B", "epicId": id, "dependsOn": [name(first)] })).await;
    let third = task(&world, json!({ "title": "C", "epicId": id })).await;
    let force = json!({ "taskId": name(third), "reason": "came another way" });
    world.ok(Who::Operator, "mcp__supervisor__force_complete_task", force).await;
    let lead = world.enlist_in("supervisor", id).await;
    let epic = world.engine.epic(id).await.unwrap();
    let counts = epic.counts;
    assert_eq!((counts.blocked, counts.ready, counts.done), (1, 1, 1));
    assert_eq!((epic.tasks, epic.done, epic.supervisor_id), (3, 1, Some(lead)));
    assert_eq!(epic.cost_usd, None, "nobody has said so");
    world.ok(Who::Operator, EPIC, json!({ "title": "Next" })).await;
    let page = world.engine.epics(ListScope::Open, 0, 1).await.unwrap();
    assert_eq!(page.epics[0].id, id);
    let rest = world.engine.epics(ListScope::Open, page.next_cursor.unwrap(), 1).await.unwrap();
    assert_eq!((rest.epics[0].title.as_str(), rest.next_cursor), ("Next", None));
    let cancel = json!({ "epicId": rest.epics[0].id, "status": "CANCELLED" });
    world.ok(Who::Operator, "mcp__epic__update_status", cancel).await;
    assert_eq!(world.engine.epics(ListScope::Open, 0, 9).await.unwrap().epics.len(), 1);
    assert_eq!(world.engine.epics(ListScope::All, 0, 9).await.unwrap().epics.len(), 2);
}

#[tokio::test]
async fn a_move_that_is_refused_says_why_and_what_to_do() {
    let world = World::new();
    let epic = world.ok(Who::Operator, EPIC, json!({ "title": "E" })).await["id"].clone();
    let number = task(&world, json!({ "title": "A", "epicId": epic })).await;
    let review = json!({ "taskId": name(number), "status": "REVIEW" });
    let refusal = world.refused(Who::Operator, UPDATE, review, "CONFLICT").await;
    assert_eq!(
        refusal.message(),
        "a task that is pending cannot become review: no agent has begun it; move it to in_progress first"
    );
    let done = json!({ "id": name(number), "status": "completed" });
    let refusal = world.refused(Who::Operator, SESSION, done, "CONFLICT").await;
    assert!(refusal.message().ends_with("is completed through review"), "{}", refusal.body);
}
