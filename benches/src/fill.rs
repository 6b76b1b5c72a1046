//! A store that has seen much: tasks and audit rows, written in big operations.

use std::path::Path;

use anyhow::{Context as _, Result};
use model::task::Priority;
use model::{AgentId, TaskId, Timestamp};
use store::{AuditDraft, NewTask, Store, StoreError, Tx};
use tokio::time::Instant;

use crate::report::say;

/// So many rows are one operation.
const ROWS_PER_COMMIT: u64 = 5_000;
/// When it all happened: any time will do, as long as it is the same.
const FILL_TIME_MS: i64 = 1_700_000_000_000;

/// What a store is filled with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoreContent {
    /// How many tasks
    pub(crate) tasks: u64,
    /// How many rows of the audit record
    pub(crate) rows: u64,
}

/// Fills the store in that file.
pub(crate) async fn fill(file: &Path, filling: &StoreContent) -> Result<()> {
    let began = Instant::now();
    let store = Store::open(file).context("could not open the store")?;
    each_chunk(&store, filling.tasks, insert_task).await?;
    each_chunk(&store, filling.rows, insert_row).await?;
    store.close().await;
    say(&format!(
        "filled a store with {} tasks and {} audit rows in {:.1} s",
        filling.tasks,
        filling.rows,
        began.elapsed().as_secs_f64()
    ));
    Ok(())
}

async fn each_chunk(
    store: &Store,
    count: u64,
    insert: fn(&mut Tx<'_>, u64) -> Result<(), StoreError>,
) -> Result<()> {
    let mut from = 0;
    while from < count {
        let to = (from + ROWS_PER_COMMIT).min(count);
        let chunk = move |tx: &mut Tx<'_>| (from..to).try_for_each(|number| insert(tx, number));
        store.write(chunk).await.context("could not fill the store")?;
        from = to;
    }
    Ok(())
}

/// Bits that look like chance and are the same in every run.
const fn bits(number: u64) -> u64 {
    (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn insert_task(tx: &mut Tx<'_>, number: u64) -> Result<(), StoreError> {
    let task = NewTask {
        id: TaskId::from_bits(bits(number)),
        slug: format!("old-task-{number}"),
        session: "default".into(),
        title: format!("Old task {number}"),
        description: Some(
            "Something that somebody wanted done, and said so at some length.".into(),
        ),
        priority: Priority::default(),
        epic: None,
        iteration: 0,
    };
    tx.task_insert(&task, Timestamp::from_millis(FILL_TIME_MS)).map(drop)
}

fn insert_row(tx: &mut Tx<'_>, number: u64) -> Result<(), StoreError> {
    const TOOLS: [&str; 4] = [
        "mcp__system__log_decision",
        "mcp__mail__send",
        "mcp__task__list",
        "mcp__task__update_status",
    ];
    let tool = TOOLS.get(usize::try_from(number % 4).unwrap_or(0)).copied().unwrap_or("");
    let draft = AuditDraft {
        at: Timestamp::from_millis(FILL_TIME_MS),
        agent: Some(AgentId::from_bits(bits(number % 100))),
        by_operator: false,
        tool: tool.to_owned(),
        input: format!(r#"{{"title":"Row {number}","body":"What an agent said of it."}}"#),
        code: number.is_multiple_of(50).then_some("RESOURCE_NOT_FOUND"),
        output: format!(r#"{{"logId":"log_{:016x}"}}"#, bits(number)),
        duration_micros: 250,
        git_commit: Some("0123456789abcdef0123456789abcdef01234567".into()),
    };
    tx.audit_append(&draft).map(drop)
}
