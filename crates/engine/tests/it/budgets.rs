//! Budgets of enlisted agents and of children without a cap.

use engine::settings::{Budget, ChildReserve, Limits, Role, Settings};
use engine::{CrewService, Principal, ToolError};
use model::AgentId;
use model::agent::{AgentState, AgentStateName};
use model::money::Usd;
use serde_json::{Value, json};
use store::{Agent, BudgetCaps, NewAgent, Spend, Tokens, Tx};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::support::World;

const DRAFT: &str = "mcp__harness__draft_agent";
const DAY: i64 = 24 * 3600;

/// A world with a role `lead`, which may start others, and a role `hand`. Nobody's turn comes in it.
fn world(lead: Budget, change: impl FnOnce(&mut Settings)) -> World {
    let root_budget = Budget { usd: Some(10.0), seconds: Some(3600), ..Budget::default() };
    let limits = Limits { running: 0, ..Limits::default() };
    let mut settings = Settings { root_budget, limits, ..Settings::default() };
    let kind = Some("script".to_owned());
    for (name, category, budget) in
        [("lead", "conversational", lead), ("hand", "worker", Budget::default())]
    {
        let (name, category) = (String::from(name), String::from(category));
        let role =
            Role { name: name.clone(), category, kind: kind.clone(), budget, ..Role::default() };
        settings.roles.insert(name, role);
    }
    change(&mut settings);
    World::with(settings)
}

async fn draft(world: &World, who: AgentId, role: &str) -> AgentId {
    let drafted = world.ok(who, DRAFT, json!({ "role": role, "prompt": "work" })).await;
    drafted["agentId"].as_str().unwrap().parse().unwrap()
}

async fn refused(world: &World, who: AgentId) -> Value {
    let input = json!({ "role": "hand", "prompt": "work" });
    world.refused(who, DRAFT, input, "BUDGET_EXCEEDED").await.body
}

fn agent(world: &World, id: AgentId) -> Agent {
    world.store.read(|tx| tx.agent_get(id)).unwrap().unwrap()
}

fn budget(world: &World, id: AgentId) -> store::Budget {
    world.store.read(|tx| tx.budget_get(id)).unwrap().unwrap()
}

/// Lets the crew's loop run until an agent is in a state.
async fn keep_until(world: &World, id: AgentId, state: AgentStateName) {
    let (tasks, shutdown) = (TaskTracker::new(), CancellationToken::new());
    let mut last = world.store.last_event();
    let keeping = CrewService::new(&world.engine, tasks.clone(), shutdown.clone());
    tasks.spawn(keeping.run());
    while agent(world, id).state.name() != state {
        last.changed().await.unwrap();
    }
    shutdown.cancel();
    tasks.close();
    tasks.wait().await;
}

#[tokio::test]
async fn an_enlisted_agent_has_its_roles_budget_and_else_the_default() {
    let caps = Budget { usd: Some(0.5), agents: Some(1), ..Budget::default() };
    let world = world(caps, |_| {});
    let lead = world.enlist("lead").await;
    let given = budget(&world, lead).caps;
    assert_eq!((given.money, given.agents), (Some(Usd::from_dollars(0.5)), Some(1)));
    assert_eq!(given.seconds, Some(3600), "what the role does not say is the default");
    let hand = world.enlist("hand").await;
    assert_eq!(budget(&world, hand).caps.money, Some(Usd::from_dollars(10.0)));

    draft(&world, lead, "hand").await;
    let body = refused(&world, lead).await;
    assert!(body["message"].as_str().unwrap().contains("1 agents"), "{body}");
}

#[tokio::test]
async fn what_is_spent_below_an_enlisted_agent_counts_against_its_budget() {
    let world = world(Budget { usd: Some(0.5), ..Budget::default() }, |_| {});
    let lead = world.enlist("lead").await;
    draft(&world, lead, "hand").await;
    let money = Usd::from_dollars(0.5);
    let spend = Spend { money, ..Spend::default() };
    world.store.write(move |tx| tx.budget_charge(lead, spend)).await.unwrap();
    refused(&world, lead).await;
}

#[tokio::test]
async fn an_enlisted_agent_ends_with_all_below_it_when_its_time_is_up() {
    let world = world(Budget { seconds: Some(60), ..Budget::default() }, |_| {});
    let lead = world.enlist_with_token("lead").await;
    let below = world.enlist_under("hand", lead.agent).await;
    let hand = draft(&world, lead.agent, "hand").await;
    world.clock.advance_seconds(59);
    let other = world.enlist("lead").await;
    world.clock.advance_seconds(1);
    keep_until(&world, lead.agent, AgentStateName::OverBudget).await;
    for id in [below, hand] {
        assert_eq!(agent(&world, id).state.name(), AgentStateName::OverBudget);
    }
    assert_eq!(agent(&world, other).state.name(), AgentStateName::Running, "it has a minute yet");
    let AgentState::Ended { reason, .. } = agent(&world, lead.agent).state else {
        panic!("it ended")
    };
    assert_eq!(reason, "its budget of time is used up");
    assert_eq!(
        world.engine.authenticate(&lead.token).unwrap(),
        None::<Principal>,
        "its token is void"
    );
}

#[tokio::test]
async fn a_child_without_a_cap_reserves_a_tenth_of_the_nearest_cap_above() {
    let world = world(Budget { usd: Some(1.0), ..Budget::default() }, |settings| {
        settings.roles.insert(
            "helper".into(),
            Role { category: "conversational".into(), ..settings.roles["hand"].clone() },
        );
    });
    let lead = world.enlist("lead").await;
    let mut drafted = Vec::new();
    for _ in 0..9 {
        drafted.push(draft(&world, lead, "hand").await);
    }
    let helper = world.enlist_under("helper", lead).await;
    assert_eq!(budget(&world, helper).reserve.money, Some(Usd::from_dollars(0.1)));
    let body = refused(&world, lead).await;
    let message = body["message"].as_str().unwrap();
    assert!(
        message.contains("reserves $0.1000") && message.contains("$0.0000 of your"),
        "{message}"
    );
    // What stands below the helper is covered by what the helper has reserved itself.
    draft(&world, helper, "hand").await;
    let body = refused(&world, helper).await;
    assert!(body["message"].as_str().unwrap().contains(&lead.to_string()), "{body}");

    let killed = json!({ "agentId": drafted[0] });
    world.ok(lead, "mcp__harness__kill_agent", killed).await;
    draft(&world, lead, "hand").await;
    assert_eq!(budget(&world, lead).money, Usd::ZERO, "who never began has used nothing");
}

#[tokio::test]
async fn the_configuration_says_how_much_a_child_reserves() {
    let caps = Budget { usd: Some(1.0), tokens: Some(1000), ..Budget::default() };
    let world = world(caps, |settings| {
        settings.child_reserve = ChildReserve { usd: Some(0.4), tokens: None };
    });
    let lead = world.enlist("lead").await;
    let hand = draft(&world, lead, "hand").await;
    let reserve = budget(&world, hand).reserve;
    assert_eq!((reserve.money, reserve.tokens), (Some(Usd::from_dollars(0.4)), Some(100)));
    draft(&world, lead, "hand").await;
    refused(&world, lead).await;
}

#[tokio::test]
async fn tokens_are_reserved_as_money_is() {
    let world = world(Budget { tokens: Some(1005), ..Budget::default() }, |settings| {
        settings.root_budget = Budget::default();
    });
    let lead = world.enlist("lead").await;
    for _ in 0..10 {
        draft(&world, lead, "hand").await;
    }
    let body = refused(&world, lead).await;
    let message = body["message"].as_str().unwrap();
    assert!(
        message.contains("reserves 100 tokens") && message.contains("5 tokens of"),
        "{message}"
    );
}

#[tokio::test]
async fn a_child_that_never_says_what_it_used_is_charged_what_it_reserved() {
    let caps = Budget { usd: Some(1.0), tokens: Some(1000), ..Budget::default() };
    let world = world(caps, |_| {});
    let lead = world.enlist("lead").await;
    let [silent, thrifty, never] = [
        draft(&world, lead, "hand").await,
        draft(&world, lead, "hand").await,
        draft(&world, lead, "hand").await,
    ];
    let now = world.engine.now();
    let begin = move |tx: &mut Tx<'_>| {
        tx.run_begin(silent, None, None, now)?;
        tx.run_begin(thrifty, None, None, now)?;
        let used = Tokens { output: 7, ..Tokens::default() };
        tx.run_use(thrifty, used, Some(Usd::from_dollars(0.01)))?;
        Ok::<_, ToolError>(())
    };
    world.store.write(begin).await.unwrap();
    for id in [silent, thrifty, never] {
        world.ok(lead, "mcp__harness__kill_agent", json!({ "agentId": id })).await;
    }
    // The thrifty one was charged as it went, which is not told here.
    let spent = budget(&world, lead);
    assert_eq!((spent.money, spent.tokens), (Usd::from_dollars(0.1), 100));
}

#[tokio::test]
async fn an_agent_whose_limit_lasts_too_long_goes_on_when_its_longest_wait_is_over() {
    let world = world(Budget::default(), |_| {});
    let id = AgentId::from_bits(77);
    let until = world.engine.now().after_seconds(8000 * 365 * DAY);
    let new = NewAgent {
        id,
        role: "hand".into(),
        category: "worker".into(),
        kind: "script".into(),
        parent: None,
        depth: 0,
        task: None,
        epic: None,
        session: None,
        iteration: None,
        state: AgentState::Limited { until },
        cwd: None,
        token_hash: None,
    };
    let now = world.engine.now();
    let insert = move |tx: &mut Tx<'_>| {
        tx.agent_insert(&new, now)?;
        tx.agent_advance(id, &new.state, now)?;
        tx.budget_insert(id, &BudgetCaps::default())
    };
    world.store.write(insert).await.unwrap();
    world.clock.advance_seconds(7 * DAY);
    keep_until(&world, id, AgentStateName::Queued).await;
}
