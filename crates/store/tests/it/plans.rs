//! Plans: their steps, who runs them, what they cost, and how they are handed over.

use model::agent::{AgentState, Outcome};
use model::money::Usd;
use model::{AgentId, PlanState, TaskId};
use store::{
    BudgetCaps, NewAgent, NewMail, NewPlan, PlanStep, PlanTurn, Recipient, Sender, Spend, Store,
};

use crate::support::{NOW, agent, open};

const FIRST: AgentId = AgentId::from_bits(1);
const CHILD: AgentId = AgentId::from_bits(2);
const GONE: AgentId = AgentId::from_bits(3);
const SECOND: AgentId = AgentId::from_bits(4);

fn plan(name: &str) -> NewPlan {
    NewPlan {
        name: name.to_owned(),
        title: "A plan".to_owned(),
        path: "PLAN.md".to_owned(),
        text: format!("# {name}\n1. do it\n"),
        hash: format!("hash of {name}"),
        role: "coordinator".to_owned(),
        kind: None,
        task: TaskId::from_bits(9),
        coordinator: FIRST,
        closed: 0,
        cap: Some(Usd::from_dollars(5.0)),
    }
}

async fn enrol(store: &Store, id: u64, parent: Option<AgentId>) {
    let new = NewAgent { parent, ..agent(id) };
    let write = move |tx: &mut store::Tx<'_>| {
        tx.agent_insert(&new, NOW)?;
        tx.budget_insert(new.id, &BudgetCaps::default())
    };
    store.write(write).await.unwrap();
}

async fn end(store: &Store, id: AgentId) {
    let over = AgentState::Ended { outcome: Outcome::Failed, reason: String::new(), at: NOW };
    store.write(move |tx| tx.agent_advance(id, &over, NOW)).await.unwrap();
}

#[tokio::test]
async fn a_plan_is_found_by_its_name_its_words_its_steps_and_who_runs_it() {
    let (_dir, store) = open();
    enrol(&store, 1, None).await;
    let number = store.write(|tx| tx.plan_insert(&plan("one"), NOW)).await.unwrap();
    let step = PlanStep { number: 3, task: TaskId::from_bits(7), role: None, cap: None };
    let copy = step.clone();
    store.write(move |tx| tx.plan_step_insert(number, &copy)).await.unwrap();
    let found = store.read(|tx| tx.plan_get("one")).unwrap().unwrap();
    assert_eq!((found.state, found.tries, found.ended_at), (PlanState::Running, 1, None));
    store
        .read(|tx| {
            assert_eq!(tx.plan_text(number)?, "# one\n1. do it\n");
            assert_eq!(tx.plan_by_hash("hash of one")?.as_ref(), Some(&found));
            assert_eq!(tx.plan_of_coordinator(FIRST)?.as_ref(), Some(&found));
            assert_eq!(tx.plans_live()?, std::slice::from_ref(&found));
            assert_eq!(tx.plan_steps(number)?, std::slice::from_ref(&step));
            assert_eq!(tx.plan_step_of(TaskId::from_bits(7))?, Some(step));
            assert_eq!((tx.plan_get("two")?, tx.plan_by_hash("x")?), (None, None));
            assert_eq!(tx.plan_of_coordinator(CHILD)?, None);
            tx.plan_page(i64::MAX, 10).map(|page| assert_eq!(page.items, [found]))
        })
        .unwrap();
    let ended =
        move |tx: &mut store::Tx<'_>| tx.plan_end(number, PlanState::Failed, "nobody could", NOW);
    store.write(ended).await.unwrap();
    let over = store.read(|tx| tx.plan_get("one")).unwrap().unwrap();
    assert_eq!((over.state, over.why.as_deref()), (PlanState::Failed, Some("nobody could")));
    assert_eq!(store.read(|tx| tx.plans_live()).unwrap(), []);
}

#[tokio::test]
async fn plans_are_listed_in_pages_newest_first() {
    let (_dir, store) = open();
    enrol(&store, 1, None).await;
    for (bits, name) in [(11, "a"), (12, "b"), (13, "c")] {
        let new = NewPlan { coordinator: AgentId::from_bits(bits), ..plan(name) };
        store.write(move |tx| tx.plan_insert(&new, NOW)).await.unwrap();
    }
    let first = store.read(|tx| tx.plan_page(i64::MAX, 2)).unwrap();
    let names: Vec<&str> = first.items.iter().map(|plan| plan.name.as_str()).collect();
    assert_eq!(names, ["c", "b"]);
    let rest = store.read(|tx| tx.plan_page(first.next.unwrap(), 2)).unwrap();
    assert_eq!((rest.items.len(), rest.next), (1, None));
}

#[tokio::test]
async fn a_new_coordinator_has_the_live_agents_and_the_costs_of_all_are_the_plans() {
    let (_dir, store) = open();
    enrol(&store, 1, None).await;
    enrol(&store, 2, Some(FIRST)).await;
    enrol(&store, 3, Some(FIRST)).await;
    let number = store.write(|tx| tx.plan_insert(&plan("one"), NOW)).await.unwrap();
    end(&store, GONE).await;
    end(&store, FIRST).await;
    enrol(&store, 4, None).await;
    let hand_over = |tx: &mut store::Tx<'_>| {
        let plan = tx.plan_get("one")?.unwrap();
        let cap = Some(Usd::from_dollars(7.0));
        let turn = PlanTurn { coordinator: SECOND, tries: 2, closed: 1, cap };
        tx.plan_hand_over(&plan, turn, NOW)?;
        for (agent, cents) in [(FIRST, 25), (SECOND, 50), (GONE, 100)] {
            let money = Usd::from_nanos(cents * 10_000_000);
            tx.budget_charge(agent, Spend { money, ..Spend::default() })?;
        }
        Ok::<_, store::StoreError>(())
    };
    store.write(hand_over).await.unwrap();
    store
        .read(|tx| {
            let plan = tx.plan_get("one")?.unwrap();
            assert_eq!((plan.coordinator, plan.tries, plan.closed), (SECOND, 2, 1));
            assert_eq!(plan.cap, Some(Usd::from_dollars(7.0)));
            let parent = |id| tx.agent_get(id).map(|agent| agent.unwrap().parent);
            assert_eq!((parent(CHILD)?, parent(GONE)?), (Some(SECOND), Some(FIRST)));
            let led: Vec<AgentId> =
                tx.plan_coordinators(number)?.iter().map(|agent| agent.id).collect();
            assert_eq!(led, [FIRST, SECOND]);
            // What those below spend is charged to who is above them already.
            assert_eq!(tx.plan_spent(number)?, Usd::from_dollars(0.75));
            Ok::<_, store::StoreError>(())
        })
        .unwrap();
}

#[tokio::test]
async fn letters_to_the_human_are_a_plans_if_its_crew_wrote_them() {
    let (_dir, store) = open();
    for (id, parent) in [(1, None), (2, Some(FIRST)), (3, Some(CHILD)), (4, None)] {
        enrol(&store, id, parent).await;
    }
    let number = store.write(|tx| tx.plan_insert(&plan("one"), NOW)).await.unwrap();
    let write = |bits: u64, from: Option<AgentId>, to: Recipient, reply_to: Option<u64>| {
        let new = NewMail {
            id: model::MailId::from_bits(bits),
            from: from.map_or(Sender::Human, |from| Sender::Agent(from, "worker".to_owned())),
            to,
            subject: "?".to_owned(),
            body: "?".to_owned(),
            reply_to: reply_to.map(model::MailId::from_bits),
        };
        store.write(move |tx| tx.mail_insert(&new, NOW))
    };
    write(1, Some(GONE), Recipient::Human, None).await.unwrap();
    write(2, Some(FIRST), Recipient::Human, None).await.unwrap();
    write(3, Some(SECOND), Recipient::Human, None).await.unwrap();
    write(4, Some(FIRST), Recipient::Agent(CHILD), None).await.unwrap();
    write(5, Some(CHILD), Recipient::Human, None).await.unwrap();
    write(6, None, Recipient::Agent(CHILD), Some(5)).await.unwrap();
    let letters = store.read(|tx| tx.plan_mails(number)).unwrap();
    let ids: Vec<model::MailId> = letters.iter().map(|mail| mail.id).collect();
    assert_eq!(ids, [1, 2, 5].map(model::MailId::from_bits), "answered or not");
}
