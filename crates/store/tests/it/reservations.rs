//! Reserved files: renewed under the same pattern, gone with their time or their agent, found by an index.

use model::{AgentId, ReservationId, Timestamp};
use store::{NewReservation, Store};

use crate::support::{NOW, agent, open};

async fn crew() -> (tempfile::TempDir, Store) {
    let (dir, store) = open();
    for bits in [1, 2] {
        store.write(move |tx| tx.agent_insert(&agent(bits), NOW)).await.unwrap();
    }
    (dir, store)
}

async fn put(store: &Store, agent: u64, pattern: &str, id: u64, until: i64) -> ReservationId {
    let new = NewReservation {
        id: ReservationId::from_bits(id),
        agent: AgentId::from_bits(agent),
        pattern: pattern.into(),
        reason: (id == 1).then(|| "first".to_owned()),
        expires_at: NOW.after_seconds(until),
    };
    store.write(move |tx| tx.reservation_put(&new, NOW)).await.unwrap()
}

/// Agent and pattern of what holds at a time, page by page.
fn live(store: &Store, at: Timestamp) -> Vec<(u64, String)> {
    let (mut all, mut after) = (Vec::new(), 0);
    loop {
        let page = store.read(|tx| tx.reservation_page(at, after, 2)).unwrap();
        all.extend(page.items.into_iter().map(|held| {
            assert_eq!(held.role, "worker");
            (if held.agent == AgentId::from_bits(1) { 1 } else { 2 }, held.pattern)
        }));
        match page.next {
            Some(next) => after = next,
            None => return all,
        }
    }
}

#[tokio::test]
async fn the_same_pattern_of_the_same_agent_is_renewed() {
    let (_dir, store) = crew().await;
    let first = put(&store, 1, "src/**", 1, 60).await;
    assert_eq!(put(&store, 1, "src/**", 2, 600).await, first);
    assert_ne!(put(&store, 2, "src/**", 3, 60).await, first, "another agent's is another");
    let held = store.read(|tx| tx.reservation_get(first)).unwrap().unwrap();
    assert_eq!(held.expires_at, NOW.after_seconds(600));
    assert_eq!(held.reason.as_deref(), Some("first"), "without a new reason the old one stays");
    assert_eq!(store.read(|tx| tx.reservations_of(held.agent)).unwrap(), [held]);
}

#[tokio::test]
async fn what_has_run_out_is_not_listed_and_then_forgotten() {
    let (_dir, store) = crew().await;
    for (id, until) in [(1, 60), (2, 120), (3, 180), (4, 240)] {
        put(&store, 1 + id % 2, &format!("f{id}"), id, until).await;
    }
    let names = |at: i64| -> Vec<String> {
        live(&store, NOW.after_seconds(at)).into_iter().map(|(_, pattern)| pattern).collect()
    };
    assert_eq!(names(0), ["f1", "f2", "f3", "f4"]);
    assert_eq!(names(120), ["f3", "f4"], "its last moment is not its own");
    assert_eq!(names(240), [""; 0]);
    let at = NOW.after_seconds(120);
    assert_eq!(store.write(move |tx| tx.reservations_sweep(at)).await.unwrap(), 2);
    assert_eq!(names(0), ["f3", "f4"]);
}

#[tokio::test]
async fn an_agent_lets_go_of_all_it_has_and_of_nothing_else() {
    let (_dir, store) = crew().await;
    for id in 1..=4 {
        put(&store, 1 + id % 2, &format!("f{id}"), id, 60).await;
    }
    let gone = ReservationId::from_bits(1);
    assert!(store.write(move |tx| tx.reservation_release(gone)).await.unwrap());
    assert!(!store.write(move |tx| tx.reservation_release(gone)).await.unwrap());
    let agent = AgentId::from_bits(1);
    assert_eq!(store.write(move |tx| tx.reservations_release_all(agent)).await.unwrap(), 2);
    assert_eq!(live(&store, NOW), [(2, "f3".to_owned())]);
}

#[tokio::test]
async fn an_agents_own_and_what_has_run_out_are_found_through_an_index() {
    let (dir, _store) = open();
    let file = rusqlite::Connection::open(dir.path().join("state.db")).unwrap();
    for sql in [
        "SELECT id FROM reservation WHERE agent_id = 'x' ORDER BY number",
        "UPDATE reservation SET expires_at = 1 WHERE agent_id = 'x' AND pattern = 'y'",
        "DELETE FROM reservation WHERE expires_at <= 5",
        "SELECT id FROM reservation WHERE number > 3 AND expires_at > 5 ORDER BY number LIMIT 9",
    ] {
        let mut plan = file.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let steps: Vec<String> =
            plan.query_map([], |row| row.get("detail")).unwrap().map(Result::unwrap).collect();
        for step in &steps {
            assert!(!step.starts_with("SCAN") && !step.contains("TEMP B-TREE"), "{steps:?}");
        }
    }
}
