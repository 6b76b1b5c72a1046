//! A store in a folder of its own.

use model::agent::AgentState;
use model::{AgentId, TaskId, Timestamp};
use store::{AuditDraft, NewAgent, NewTask, Store, StoreError, Task};
use tempfile::TempDir;

pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_763_208_309_042);

pub(crate) fn open() -> (TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("state.db")).unwrap();
    (dir, store)
}

pub(crate) fn row(tool: &str) -> AuditDraft {
    AuditDraft {
        at: NOW,
        agent: None,
        by_operator: true,
        tool: tool.into(),
        input: "{\"a\":1}".into(),
        code: None,
        output: "{}".into(),
        duration_micros: 7,
        git_commit: None,
    }
}

pub(crate) fn agent(bits: u64) -> NewAgent {
    NewAgent {
        id: AgentId::from_bits(bits),
        role: "worker".into(),
        category: "worker".into(),
        kind: "enlisted".into(),
        parent: None,
        depth: 0,
        task: None,
        epic: None,
        session: None,
        iteration: None,
        state: AgentState::Running,
        cwd: None,
        token_hash: Some(format!("hash-{bits}")),
    }
}

pub(crate) async fn add_task(store: &Store, bits: u64) -> Result<Task, StoreError> {
    let new = NewTask {
        id: TaskId::from_bits(bits),
        slug: format!("task-{bits}"),
        session: "default".into(),
        title: format!("Task {bits}"),
        description: None,
        priority: model::Priority::default(),
        epic: None,
        iteration: 0,
    };
    store.write(move |tx| tx.task_insert(&new, NOW)).await
}
