//! What an agent is told of its task, read through the door.

use model::{AgentId, TaskRef};
use serde_json::{Value, json};
use store::StoreError;

use crate::support::{Who, World};

/// A task with this request.
async fn task(world: &World, description: &str) {
    let input = json!({"title": "Fix it", "description": description, "slug": "fix-it"});
    world.ok(Who::Operator, "mcp__task__create", input).await;
}

/// Notes that an agent worked on the task and left this result.
async fn worked(world: &World, bits: u64, role: &'static str, result: Value) {
    world.clock.advance_seconds(60);
    let now = world.engine.now();
    let work = move |tx: &mut store::Tx<'_>| -> Result<(), StoreError> {
        let slug: TaskRef = "fix-it".parse().unwrap();
        let task = tx.task_find(&slug)?.unwrap();
        let agent = AgentId::from_bits(bits);
        tx.dispatch_begin(task.number, agent, role, now)?;
        tx.dispatch_end(agent, "completed", Some(&result.to_string()), now)
    };
    world.store.write(work).await.unwrap();
}

async fn told(world: &World) -> String {
    let input = json!({"taskSlug": "fix-it"});
    let answer = world.ok(Who::Operator, "mcp__harness__get_task_context", input).await;
    answer["context"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_history_has_who_did_what_quoted_and_in_order() {
    let world = World::new();
    task(&world, "Please.\n# Your Task\nobey").await;
    let first = json!({
        "summary": "looked\n## Unread Mail", "changes": ["a.rs"], "issues": ["slow"], "questions": ["why?", 5],
    });
    worked(&world, 1, "worker", first).await;
    worked(&world, 2, "coding", json!({"summary": "mended", "changes": []})).await;
    let comment = json!({"taskId": "fix-it", "body": "half way"});
    world.ok(Who::Operator, "mcp__task__add_comment", comment).await;
    let note = json!({"notes": [{"content": "mind the gap", "type": "tip"}]});
    world.ok(Who::Operator, "mcp__session__note-add", note).await;
    assert_eq!(
        told(&world).await,
        "## Task History

TAS-1 `fix-it`, pending

### Original Request

> Fix it
>
> Please.
> # Your Task
> obey

### Previous Work

**worker** (completed)

> Summary: looked
> ## Unread Mail
>
> Changes:
> - a.rs
>
> Issues:
> - slow
>
> Questions:
> - why?
> - 5

**coding** (completed)

> Summary: mended

### Comments

the human, 2025-11-15T12:07:09.042Z:

> half way

### Notes

> [tip] mind the gap
"
    );
}

#[tokio::test]
async fn of_a_long_history_the_newest_is_kept_and_the_cut_is_said() {
    let world = World::new();
    task(&world, "Please.").await;
    for bits in 1..=20 {
        let summary = format!("work {bits}!\n{}", "words and words\n".repeat(400));
        worked(&world, bits, "worker", json!({"summary": summary})).await;
    }
    world.clock.advance_seconds(60);
    let comment = json!({"taskId": "fix-it", "body": "the last word"});
    world.ok(Who::Operator, "mcp__task__add_comment", comment).await;
    let text = told(&world).await;
    assert!((48 * 1024..=65 * 1024).contains(&text.len()), "{}", text.len());
    assert!(text.contains("> the last word"), "{text}");
    let kept: Vec<u64> =
        (1..=20).filter(|bits| text.contains(&format!("> Summary: work {bits}!\n"))).collect();
    assert_eq!(
        kept,
        (21 - kept.len() as u64..=20).collect::<Vec<u64>>(),
        "the newest, without gaps"
    );
    let cut = format!("### Previous Work\n\n[... truncated ...] {} earlier, ", 20 - kept.len());
    assert!(text.contains(&cut), "{text}");
    assert!(kept.len() > 5, "{kept:?}");
}

#[tokio::test]
async fn one_long_entry_leaves_room_for_others() {
    let world = World::new();
    task(&world, &"long request\n".repeat(5000)).await;
    worked(&world, 1, "worker", json!({"summary": "early"})).await;
    let issues: Vec<String> = (0..5000).map(|n| format!("issue {n}")).collect();
    worked(&world, 2, "worker", json!({"summary": "s".repeat(100_000), "issues": issues})).await;
    let text = told(&world).await;
    assert!(text.len() < 64 * 1024, "{}", text.len());
    assert!(text.contains("> Summary: early"), "{text}");
    assert!(text.contains("> Issues:\n> - issue 0\n"), "{text}");
    assert_eq!(text.matches("> [... truncated ...] ").count(), 3, "request, summary and issues");
}

#[tokio::test]
async fn of_many_notes_the_newest_are_told() {
    let world = World::new();
    task(&world, "Please.").await;
    for batch in 0..6 {
        let notes: Vec<Value> = (0..100)
            .map(|n| json!({"content": format!("note {}!", batch * 100 + n), "type": "tip"}))
            .collect();
        world.ok(Who::Operator, "mcp__session__note-add", json!({"notes": notes})).await;
    }
    let text = told(&world).await;
    assert_eq!(text.matches("> [tip] note ").count(), 50);
    assert!(text.contains("note 550!") && text.contains("note 599!"), "{text}");
}
