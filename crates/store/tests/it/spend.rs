//! What was spent over time, and on what.

use model::agent::{AgentState, Outcome};
use model::money::Usd;
use model::{AgentId, TaskId, Timestamp};
use store::{
    BudgetCaps, NewAgent, NewRun, Spend, SpendAmount, SpendBy, Store, StoreError, TimeSpan, Tokens,
};

use crate::support::{NOW, add_task, agent, open};

const HOUR: i64 = 3_600_000;

fn id(bits: u64) -> AgentId {
    AgentId::from_bits(bits)
}

fn tokens(input: u64) -> Tokens {
    Tokens { input, output: 1, cache_read: 2, cache_write: 3 }
}

/// A root with two children, one of which has a child; and one alone.
async fn crew(store: &Store) {
    for bits in [1, 2] {
        add_task(store, bits).await.unwrap();
    }
    let make = move |tx: &mut store::Tx<'_>| {
        for (bits, role, parent, task) in [
            (1, "lead", None, None),
            (2, "coder", Some(1), Some(1)),
            (3, "tester", Some(1), Some(2)),
            (4, "coder", Some(2), Some(2)),
            (5, "lead", None, None),
        ] {
            let new = NewAgent {
                role: String::from(role),
                kind: "script".into(),
                parent: parent.map(id),
                task: task.map(TaskId::from_bits),
                ..agent(bits)
            };
            tx.agent_insert(&new, NOW)?;
            tx.run_insert(&NewRun {
                agent: id(bits),
                prompt: "p".into(),
                summary: "s".into(),
                options: "{}".into(),
                resumed_from: None,
                conversation: None,
            })?;
        }
        tx.budget_insert(
            id(1),
            &BudgetCaps { money: Some(Usd::from_dollars(9.0)), ..BudgetCaps::default() },
        )
    };
    store.write(make).await.unwrap();
}

async fn spend(store: &Store, bits: u64, dollars: f64, at: Timestamp) {
    let spend = move |tx: &mut store::Tx<'_>| {
        let money = Usd::from_dollars(dollars);
        tx.run_use(id(bits), tokens(10), Some(money))?;
        tx.budget_charge(id(bits), Spend { money, tokens: 16, agents: 0 })?;
        tx.spend_add(id(bits), "small", SpendAmount { money, tokens: tokens(10) }, at)
    };
    store.write(spend).await.unwrap();
}

async fn end(store: &Store, bits: u64, outcome: Outcome, at: Timestamp) {
    let state = AgentState::Ended { outcome, reason: "r".into(), at };
    store.write(move |tx| tx.agent_advance(id(bits), &state, at)).await.unwrap();
}

#[tokio::test]
async fn what_was_spent_each_hour_adds_up_to_all_of_it() {
    let (_dir, store) = open();
    crew(&store).await;
    for (bits, dollars, hours) in [(1, 0.5, 0), (2, 1.0, 0), (3, 0.25, 1), (4, 2.0, 1), (5, 4.0, 2)]
    {
        spend(&store, bits, dollars, NOW.after_millis(hours * HOUR)).await;
    }
    let span = TimeSpan { from: Timestamp::from_millis(0), to: NOW.after_millis(10 * HOUR) };
    let all = Usd::from_dollars(7.75);
    for by in [SpendBy::Role, SpendBy::Model, SpendBy::Task, SpendBy::Agent, SpendBy::Hour] {
        let points = store.read(|tx| tx.spend_points(by, span)).unwrap();
        assert_eq!(points.iter().map(|point| point.money).sum::<Usd>(), all, "{by:?}");
        let sums = store.read(|tx| tx.spend_sums(by, span.from, 100)).unwrap();
        for sum in sums.iter().filter(|_| by != SpendBy::Hour) {
            let mine = points.iter().filter(|point| point.key == sum.key);
            assert_eq!(mine.map(|point| point.money).sum::<Usd>(), sum.money, "{by:?}");
        }
    }
    let points = store.read(|tx| tx.spend_points_by_lineage(span)).unwrap();
    assert_eq!(points.iter().map(|point| point.money).sum::<Usd>(), all);
    let of = |root: u64| {
        let mine = points.iter().filter(|point| point.key == id(root).to_string());
        mine.map(|point| point.money).sum::<Usd>()
    };
    assert_eq!((of(1), of(5)), (Usd::from_dollars(3.75), Usd::from_dollars(4.0)));
    let floor = |at: Timestamp| Timestamp::from_millis(at.as_millis().div_euclid(HOUR) * HOUR);
    let second =
        TimeSpan { from: floor(NOW.after_millis(HOUR)), to: floor(NOW.after_millis(2 * HOUR)) };
    let points = store.read(|tx| tx.spend_points(SpendBy::Role, second)).unwrap();
    assert_eq!(points.iter().map(|point| point.money).sum::<Usd>(), Usd::from_dollars(2.25));
}

#[tokio::test]
async fn finished_tasks_and_failed_work_are_told_apart() {
    let (_dir, store) = open();
    crew(&store).await;
    for (bits, dollars) in [(2, 1.0), (3, 0.5), (4, 2.0), (5, 0.25)] {
        spend(&store, bits, dollars, NOW).await;
    }
    end(&store, 2, Outcome::Succeeded, NOW).await;
    end(&store, 3, Outcome::Failed, NOW).await;
    end(&store, 4, Outcome::OverBudget, NOW).await;
    end(&store, 5, Outcome::Lost, NOW).await;
    let done = |tx: &mut store::Tx<'_>| {
        let name = model::TaskRef::Id(TaskId::from_bits(1));
        let mut task = tx.task_find(&name)?.ok_or(StoreError::Stopped)?;
        task.state = model::TaskState::Completed;
        tx.task_save(&task, NOW)
    };
    store.write(done).await.unwrap();
    let span = TimeSpan { from: NOW.after_millis(-HOUR), to: NOW.after_millis(HOUR) };
    let costs = store.read(|tx| tx.spend_on_done(span)).unwrap();
    assert_eq!(costs.len(), 1);
    assert_eq!((costs[0].slug.as_str(), costs[0].money), ("task-1", Usd::from_dollars(1.0)));
    let (failed, alone) = store.read(|tx| tx.spend_on_failed(span)).unwrap();
    assert_eq!(failed.len(), 1);
    assert_eq!((failed[0].slug.as_str(), failed[0].money), ("task-2", Usd::from_dollars(2.5)));
    assert_eq!(alone, Usd::from_dollars(0.25));
    let before = TimeSpan { from: NOW.after_millis(-2 * HOUR), to: NOW.after_millis(-HOUR) };
    assert!(store.read(|tx| tx.spend_on_done(before)).unwrap().is_empty());
}

#[tokio::test]
async fn a_lineage_is_told_from_its_root_and_is_bounded() {
    let (_dir, store) = open();
    assert_eq!(store.read(|tx| tx.spend_largest_root()).unwrap(), None);
    crew(&store).await;
    spend(&store, 1, 1.0, NOW).await;
    spend(&store, 5, 2.0, NOW).await;
    assert_eq!(store.read(|tx| tx.spend_largest_root()).unwrap(), Some(id(5)));
    end(&store, 5, Outcome::Succeeded, NOW).await;
    assert_eq!(store.read(|tx| tx.spend_largest_root()).unwrap(), Some(id(1)), "it lives");
    let tree = store.read(|tx| tx.spend_lineage(id(1), 300)).unwrap();
    let agents: Vec<AgentId> = tree.iter().map(|node| node.agent).collect();
    assert_eq!(agents, [1, 2, 3, 4].map(id));
    assert_eq!(
        (tree[0].cap, tree[0].spent),
        (Some(Usd::from_dollars(9.0)), Usd::from_dollars(1.0))
    );
    assert_eq!((tree[3].parent, tree[3].task), (Some(id(2)), Some(2)));
    assert_eq!(store.read(|tx| tx.spend_lineage(id(1), 2)).unwrap().len(), 2);
}

#[tokio::test]
async fn amounts_saturate_instead_of_overflowing() {
    let (_dir, store) = open();
    crew(&store).await;
    let most = Tokens { input: u64::MAX, output: u64::MAX, cache_read: u64::MAX, cache_write: 1 };
    for money in [Usd::from_nanos(i64::MAX), Usd::from_nanos(i64::MAX), Usd::from_dollars(1.0)] {
        let claim = move |tx: &mut store::Tx<'_>| {
            // Several models, so that the sums over rows are put to the test too.
            for (bits, model) in [(2, "large"), (2, "small"), (4, "large")] {
                tx.run_use(id(bits), most, Some(money))?;
                tx.spend_add(id(bits), model, SpendAmount { money, tokens: most }, NOW)?;
                for charged in [1, bits] {
                    let spend = Spend { money, tokens: u64::MAX, agents: u64::MAX };
                    tx.budget_charge(id(charged), spend)?;
                }
            }
            Ok::<_, StoreError>(())
        };
        store.write(claim).await.unwrap();
    }
    for bits in [2, 4] {
        end(&store, bits, Outcome::Failed, NOW).await;
    }
    let span = TimeSpan { from: Timestamp::from_millis(0), to: NOW.after_millis(10 * HOUR) };
    let read = store.read(|tx| {
        for by in [SpendBy::Role, SpendBy::Model, SpendBy::Task, SpendBy::Agent, SpendBy::Hour] {
            for sum in tx.spend_sums(by, span.from, 10)? {
                assert!(sum.money > Usd::from_dollars(1e6) && sum.tokens.all() > 0, "{sum:?}");
            }
            assert!(!tx.spend_points(by, span)?.is_empty());
        }
        tx.spend_points_by_lineage(span)?;
        tx.spend_on_done(span)?;
        tx.spend_on_failed(span)?;
        tx.spend_total(span.from)?;
        tx.agent_spend(id(2))?;
        tx.epic_costs()?;
        tx.task_cost(TaskId::from_bits(1))?;
        tx.spend_lineage(id(1), 10)?;
        assert!(tx.run_get(id(2))?.unwrap().tokens.input > 1_000_000_000);
        tx.budget_get(id(1))
    });
    let budget = read.unwrap().unwrap();
    assert!(budget.money > Usd::from_dollars(1e6) && budget.tokens > 1_000_000_000, "{budget:?}");
}

#[tokio::test]
async fn money_that_was_charged_too_much_is_given_back_exactly() {
    let (_dir, store) = open();
    crew(&store).await;
    for nanos in [3_000_000_001, -1_000_000_000, 7] {
        let spend = Spend { money: Usd::from_nanos(nanos), ..Spend::default() };
        store.write(move |tx| tx.budget_charge(id(1), spend)).await.unwrap();
    }
    let budget = store.read(|tx| tx.budget_get(id(1))).unwrap().unwrap();
    assert_eq!(budget.money, Usd::from_nanos(2_000_000_008));
}

#[tokio::test]
async fn what_is_held_below_an_agent_is_counted_once_and_let_go_by_an_end() {
    let (_dir, store) = open();
    crew(&store).await;
    let dollars = Usd::from_dollars;
    let reserve = |bits: u64, usd: f64, tokens: u64| {
        let reserve = store::BudgetReserve { money: Some(dollars(usd)), tokens: Some(tokens) };
        store.write(move |tx| {
            tx.budget_insert(id(bits), &BudgetCaps::default())?;
            tx.budget_reserve(id(bits), &reserve)
        })
    };
    reserve(2, 1.0, 100).await.unwrap();
    reserve(3, 1.0, 100).await.unwrap();
    reserve(4, 0.75, 300).await.unwrap();
    let held = |top: u64| store.read(|tx| tx.budget_held_below(id(top))).unwrap();
    // The fourth stands below the second, whose reservation covers its money and not its tokens.
    assert_eq!(held(1), store::HeldBudget { money: dollars(2.0), tokens: 400 });
    assert_eq!(held(2), store::HeldBudget { money: dollars(0.75), tokens: 300 });
    assert_eq!(held(5), store::HeldBudget::default(), "another tree");
    let spend = Spend { money: dollars(0.25), tokens: 50, agents: 0 };
    for bits in [1, 3] {
        store.write(move |tx| tx.budget_charge(id(bits), spend)).await.unwrap();
    }
    assert_eq!(
        held(1),
        store::HeldBudget { money: dollars(1.75), tokens: 350 },
        "it spends what it holds"
    );
    end(&store, 3, Outcome::Succeeded, NOW).await;
    assert_eq!(held(1), store::HeldBudget { money: dollars(1.0), tokens: 300 });
    // One that has ended holds nothing itself; those it left behind do.
    end(&store, 2, Outcome::Succeeded, NOW).await;
    assert_eq!(held(1), store::HeldBudget { money: dollars(0.75), tokens: 300 });
}
