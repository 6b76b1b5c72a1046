//! A move changes the state and appends its event, or does neither and says so.

use model::agent::Outcome;
use model::event::EventKind;
use model::{AgentId, AgentStateName};
use store::{Event, EventFilter, NewAgent, Store};
use tempfile::TempDir;

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_000);

/// A record with one queued agent.
async fn record() -> (TempDir, Store, Agent) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("state.db")).unwrap();
    let id = AgentId::from_bits(1);
    let insert = move |tx: &mut Tx<'_>| {
        let new = NewAgent {
            id,
            role: "coder".into(),
            category: "coding".into(),
            kind: "script".into(),
            parent: None,
            depth: 0,
            task: None,
            epic: None,
            session: None,
            iteration: None,
            state: AgentState::Queued,
            cwd: None,
            token_hash: None,
        };
        tx.agent_insert(&new, NOW)?;
        Ok::<_, StoreError>(tx.agent_get(id)?.unwrap())
    };
    let agent = store.write(insert).await.unwrap();
    (dir, store, agent)
}

fn events(store: &Store) -> Vec<Event> {
    let filter = EventFilter { after: 0, kind: None };
    store.read(|tx| tx.event_list(&filter, 100)).unwrap()
}

#[tokio::test]
async fn a_move_is_recorded_with_its_event() {
    let (_dir, store, agent) = record().await;
    let id = agent.id;
    let until = Timestamp::from_millis(9_000);
    let moved = store.write(move |tx| {
        let mut agent = agent.clone();
        advance(tx, &mut agent, AgentEvent::Dispatched, NOW)?;
        advance(tx, &mut agent, AgentEvent::HitLimit { until }, NOW)?;
        Ok::<_, ToolError>(agent)
    });
    let moved = moved.await.unwrap();
    assert_eq!(store.read(|tx| tx.agent_get(id)).unwrap().unwrap(), moved);
    assert_eq!(moved.state, AgentState::Limited { until });
    let told: Vec<Option<EventData>> = events(&store).iter().map(Event::decode).collect();
    let changed = |state, attempt, until| {
        Some(EventData::AgentStateChanged(AgentStateChanged { state, attempt, until }))
    };
    assert_eq!(
        told,
        [
            changed(AgentStateName::Starting, Some(1), None),
            changed(AgentStateName::Limited, None, Some(until)),
        ]
    );
}

#[tokio::test]
async fn a_move_that_the_state_refuses_is_returned_and_changes_nothing() {
    let (_dir, store, agent) = record().await;
    let id = agent.id;
    let refused = store.write(move |tx| {
        let mut agent = agent.clone();
        let refused = advance(tx, &mut agent, AgentEvent::AskedReview, NOW);
        assert!(matches!(&refused, Err(MoveError::Illegal(illegal))
            if illegal.from == AgentStateName::Queued));
        assert_eq!(agent.state, AgentState::Queued);
        // Passed over on purpose, or an error of the call.
        unless_illegal(advance(tx, &mut agent, AgentEvent::AskedInput, NOW))?;
        Ok::<_, ToolError>(ToolError::from(refused.unwrap_err()))
    });
    assert_eq!(refused.await.unwrap().code, crate::core::error::Code::InvalidAgentState);
    assert_eq!(store.read(|tx| tx.agent_get(id)).unwrap().unwrap().state, AgentState::Queued);
    assert_eq!(events(&store), []);
}

#[tokio::test]
async fn an_agent_that_is_there_already_stays_without_an_event() {
    let (_dir, store, agent) = record().await;
    let moved = store.write(move |tx| {
        let mut agent = agent.clone();
        advance(tx, &mut agent, AgentEvent::Started, NOW)?;
        for _ in 0..2 {
            advance(tx, &mut agent, AgentEvent::AskedReview, NOW)?;
        }
        Ok::<_, ToolError>(())
    });
    moved.await.unwrap();
    assert_eq!(events(&store).len(), 2);
}

#[tokio::test]
async fn what_belongs_to_a_move_fails_with_it() {
    let (_dir, store, agent) = record().await;
    let id = agent.id;
    let end = AgentEvent::Ended { outcome: Outcome::Killed, reason: "why".into() };
    let failed = store.write(move |tx| {
        let mut agent = agent.clone();
        advance_with(tx, &mut agent, end.clone(), NOW, |tx, ended| {
            assert!(ended.ended_at().is_some(), "it is moved before");
            assert!(tx.agent_get(ended.id)?.unwrap().ended_at().is_some());
            Err(ToolError::wrong_state("on purpose"))
        })
        .map_err(ToolError::from)
    });
    assert_eq!(failed.await.unwrap_err().message, "on purpose");
    assert_eq!(store.read(|tx| tx.agent_get(id)).unwrap().unwrap().state, AgentState::Queued);
    assert!(events(&store).iter().all(|event| event.kind != EventKind::AgentFinished));
}
