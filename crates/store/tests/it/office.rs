//! Who leads epics, and which epics nobody leads.

use model::agent::{AgentState, Outcome};
use model::{AgentId, EpicId, EpicState};
use store::{NewAgent, NewEpic, Store};

use crate::support::{NOW, agent, open};

async fn epic(store: &Store, bits: u64, state: EpicState) -> EpicId {
    let id = EpicId::from_bits(bits);
    let new = NewEpic {
        id,
        title: format!("Epic {bits}"),
        description: None,
        linear_issue_id: None,
        linear_issue_url: None,
    };
    let write = move |tx: &mut store::Tx<'_>| {
        tx.epic_insert(&new, NOW)?;
        tx.epic_advance(new.id, state, NOW)
    };
    store.write(write).await.unwrap();
    id
}

async fn enlist(store: &Store, bits: u64, category: &str, epic: Option<EpicId>) -> AgentId {
    let new = NewAgent { category: category.to_owned(), epic, ..agent(bits) };
    store.write(move |tx| tx.agent_insert(&new, NOW)).await.unwrap();
    AgentId::from_bits(bits)
}

async fn end(store: &Store, id: AgentId) {
    let over = AgentState::Ended { outcome: Outcome::Killed, reason: String::new(), at: NOW };
    store.write(move |tx| tx.agent_advance(id, &over, NOW)).await.unwrap();
}

fn supervisors(store: &Store) -> Vec<AgentId> {
    let (mut all, mut after) = (Vec::new(), 0);
    loop {
        let page = store.read(|tx| tx.supervisor_page(after, 1)).unwrap();
        all.extend(page.items.into_iter().map(|agent| agent.id));
        match page.next {
            Some(next) => after = next,
            None => return all,
        }
    }
}

fn unled(store: &Store) -> Vec<EpicId> {
    let page = store.read(|tx| tx.epic_page_unled(0, 100)).unwrap();
    page.items.into_iter().map(|epic| epic.id).collect()
}

#[tokio::test]
async fn only_supervisors_that_have_not_ended_are_listed_in_pages() {
    let (_dir, store) = open();
    assert_eq!(supervisors(&store), []);
    let one = enlist(&store, 1, "supervisor", None).await;
    enlist(&store, 2, "worker", None).await;
    let three = enlist(&store, 3, "supervisor", None).await;
    assert_eq!(supervisors(&store), [one, three]);
    end(&store, one).await;
    assert_eq!(supervisors(&store), [three]);
}

#[tokio::test]
async fn the_orchestrator_is_the_oldest_that_has_not_ended() {
    let (_dir, store) = open();
    let live = || store.read(|tx| tx.orchestrator_live()).unwrap().map(|agent| agent.id);
    assert_eq!(live(), None);
    let one = enlist(&store, 1, "orchestrator", None).await;
    let two = enlist(&store, 2, "orchestrator", None).await;
    assert_eq!(live(), Some(one));
    end(&store, one).await;
    assert_eq!(live(), Some(two));
}

#[tokio::test]
async fn an_epic_is_led_by_a_supervisor_and_nobody_else() {
    let (_dir, store) = open();
    for (bits, state) in (1..).zip(EpicState::ALL) {
        epic(&store, bits, state).await;
    }
    // The last two are done and given up.
    let [one, two, three] = [1, 2, 3].map(EpicId::from_bits);
    assert_eq!(unled(&store), [one, two, three]);
    enlist(&store, 1, "worker", Some(one)).await;
    let leader = enlist(&store, 2, "supervisor", Some(two)).await;
    assert_eq!(unled(&store), [one, three]);
    let first = store.read(|tx| tx.epic_page_unled(0, 1)).unwrap();
    assert_eq!((first.items.len(), first.next.is_some()), (1, true));
    end(&store, leader).await;
    assert_eq!(unled(&store), [one, two, three]);
}
