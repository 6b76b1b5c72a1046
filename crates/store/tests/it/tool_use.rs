//! What agents use is counted in the commit that records it: once, whatever else the commit meets.

use futures_util::future::join_all;
use model::AgentId;
use store::{AuditDraft, RoleToolUse, Store, StoreError, ToolUse};

use crate::support::{NOW, agent, open, row};

const SEND: &str = "mcp__mail__send";
const READ: &str = "mcp__mail__read";

fn by(bits: u64, tool: &str) -> AuditDraft {
    AuditDraft { agent: Some(AgentId::from_bits(bits)), by_operator: false, ..row(tool) }
}

fn failed(draft: AuditDraft) -> AuditDraft {
    AuditDraft { code: Some("CONFLICT"), ..draft }
}

fn used(tool: &str, calls: u64, errors: u64) -> ToolUse {
    ToolUse { tool: tool.into(), calls, errors, micros: calls * 7 }
}

fn of(store: &Store, bits: u64) -> Vec<ToolUse> {
    store.read(|tx| tx.tool_use_by_agent(AgentId::from_bits(bits))).unwrap()
}

async fn join(store: &Store, bits: u64, role: &str) {
    let new = store::NewAgent { role: role.into(), ..agent(bits) };
    store.write(move |tx| tx.agent_insert(&new, NOW)).await.unwrap();
}

/// Answered when all that came before is on disk.
async fn flushed(store: &Store) {
    store.write(|_| Ok::<_, StoreError>(())).await.unwrap();
}

#[tokio::test]
async fn calls_of_agents_are_counted_for_every_recorder() {
    let (_dir, store) = open();
    for draft in [by(1, SEND), by(1, SEND), failed(by(1, SEND)), by(2, READ)] {
        store.write(move |tx| tx.audit_append(&draft)).await.unwrap();
    }
    for draft in [by(1, READ), by(1, READ), failed(by(2, READ)), row(READ)] {
        store.audit_later(draft).await.unwrap();
    }
    let in_its_name = AuditDraft { by_operator: true, ..by(1, SEND) };
    store.write(move |tx| tx.audit_append(&in_its_name)).await.unwrap();
    let part = by(1, SEND);
    store.write(move |tx| tx.audit_append_uncounted(&part)).await.unwrap();
    assert_eq!(of(&store, 1), [used(SEND, 3, 1), used(READ, 2, 0)]);
    assert_eq!(of(&store, 2), [used(READ, 2, 1)]);
    assert_eq!(of(&store, 3), []);
}

/// A failure makes the whole batch run again, first without and then with savepoints.
#[tokio::test]
async fn what_is_run_again_is_counted_once_and_what_fails_not_at_all() {
    let (_dir, store) = open();
    let writes = (0..200_u64).map(|n| {
        let (store, draft) = (store.clone(), by(n % 4, SEND));
        async move {
            let undo = n % 5 == 0;
            let written = store.write(move |tx| {
                tx.audit_append(&draft)?;
                if undo { Err(StoreError::Corrupt("on purpose".into())) } else { Ok(()) }
            });
            assert_eq!(written.await.is_err(), undo);
        }
    });
    let reads = (0..40).map(|n| store.audit_later(by(n % 4, READ)));
    let (_, written) = tokio::join!(join_all(writes), join_all(reads));
    assert!(written.into_iter().all(|one| one.is_ok()));
    flushed(&store).await;
    for bits in 0..4 {
        assert_eq!(of(&store, bits), [used(SEND, 40, 0), used(READ, 10, 0)]);
    }
}

#[tokio::test]
async fn a_commit_that_fails_counts_nothing_until_its_rows_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    let patience = std::time::Duration::from_millis(10);
    let store = Store::open_with_timeout(&path, patience).unwrap();
    let somebody = rusqlite::Connection::open(&path).unwrap();
    somebody.execute_batch("BEGIN IMMEDIATE").unwrap();
    store.audit_later(by(1, READ)).await.unwrap();
    let draft = by(1, SEND);
    let refused = store.write(move |tx| tx.audit_append(&draft)).await;
    assert!(matches!(refused, Err(StoreError::Busy(_))), "{refused:?}");
    somebody.execute_batch("COMMIT").unwrap();
    flushed(&store).await;
    assert_eq!(of(&store, 1), [used(READ, 1, 0)], "the row that nobody waits for came later");
}

#[tokio::test]
async fn what_is_recorded_elsewhere_can_be_counted_too() {
    let (_dir, store) = open();
    let id = AgentId::from_bits(1);
    let own = ToolUse { tool: "Bash".into(), calls: 3, errors: 1, micros: 50 };
    let (first, undone) = (own.clone(), own.clone());
    let count = store.write(move |tx| {
        tx.tool_use_add(id, &first);
        tx.tool_use_add(id, &first);
        tx.audit_append(&by(1, SEND))
    });
    let undo = store.write(move |tx| {
        tx.tool_use_add(id, &undone);
        Err::<(), _>(StoreError::Corrupt("on purpose".into()))
    });
    let (counted, undone) = tokio::join!(count, undo);
    assert!(counted.is_ok() && undone.is_err());
    let twice = ToolUse { calls: 6, errors: 2, micros: 100, ..own };
    assert_eq!(of(&store, 1), [twice, used(SEND, 1, 0)]);
}

#[tokio::test]
async fn roles_are_summed_up() {
    let (_dir, store) = open();
    join(&store, 1, "coder").await;
    join(&store, 2, "coder").await;
    join(&store, 3, "planner").await;
    for (bits, tool) in [(1, SEND), (1, SEND), (2, SEND), (2, READ), (3, READ), (3, READ)] {
        store.audit_later(by(bits, tool)).await.unwrap();
    }
    store.audit_later(failed(by(2, SEND))).await.unwrap();
    flushed(&store).await;
    let line = |role: &str, used: ToolUse| RoleToolUse { role: role.into(), used };
    assert_eq!(
        store.read(|tx| tx.tool_use_by_role()).unwrap(),
        [
            line("coder", used(SEND, 4, 1)),
            line("planner", used(READ, 2, 0)),
            line("coder", used(READ, 1, 0)),
        ]
    );
}
