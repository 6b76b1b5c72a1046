//! The crew as people look at it: a tree that unfolds, flat lists, what each is told to do.

use engine::{CrewRequest, CrewStates, PastAgents, ToolError};
use model::agent::{AgentState, AgentStateName, Outcome};
use model::event::EventKind;
use model::{AgentId, TaskId, Timestamp};
use serde_json::json;
use store::{EventDraft, NewAgent, NewTask, Tx};
use wire::crew::{Crew, CrewRow};

use crate::support::World;

const MINUTE: i64 = 60 * 1000;

fn request() -> CrewRequest {
    CrewRequest {
        parent: None,
        states: CrewStates::Any,
        text: None,
        past: PastAgents::Leave,
        after: 0,
        limit: 100,
        window: None,
    }
}

fn member(bits: u64, parent: Option<u64>, depth: u32) -> NewAgent {
    NewAgent {
        id: AgentId::from_bits(bits),
        role: "worker".into(),
        category: "worker".into(),
        kind: "script".into(),
        parent: parent.map(AgentId::from_bits),
        depth,
        task: None,
        epic: None,
        session: None,
        iteration: None,
        state: AgentState::Running,
        cwd: None,
        token_hash: None,
    }
}

/// Says that the crew has changed, as whatever changes it does.
fn tell(tx: &mut Tx<'_>, now: Timestamp) -> Result<(), ToolError> {
    let data = testkit::event_of(EventKind::AgentStateChanged);
    tx.event_append(now, &EventDraft { agent: None, task: None, data })?;
    Ok(())
}

async fn add(world: &World, new: NewAgent) {
    let now = world.engine.now();
    let added = world.store.write(move |tx| {
        tx.agent_insert(&new, now)?;
        tell(tx, now)
    });
    added.await.unwrap();
}

async fn become_(world: &World, bits: u64, state: AgentState) {
    let now = world.engine.now();
    let moved = world.store.write(move |tx| {
        tx.agent_advance(AgentId::from_bits(bits), &state, now)?;
        tell(tx, now)
    });
    moved.await.unwrap();
}

fn over(outcome: Outcome, at: Timestamp) -> AgentState {
    AgentState::Ended { outcome, reason: "enough".into(), at }
}

fn bits(rows: &[CrewRow]) -> Vec<AgentId> {
    rows.iter().map(|row| row.id).collect()
}

fn ids(bits: impl IntoIterator<Item = u64>) -> Vec<AgentId> {
    bits.into_iter().map(AgentId::from_bits).collect()
}

async fn list(world: &World, request: CrewRequest) -> Crew {
    world.engine.crew(request).await.unwrap()
}

/// All pages of a list, and that none is longer than it may be.
async fn pages(world: &World, request: CrewRequest) -> Vec<AgentId> {
    let (mut found, mut after) = (Vec::new(), 0);
    loop {
        let page = list(world, CrewRequest { after, ..request.clone() }).await;
        assert!(page.rows.len() <= usize::try_from(request.limit).unwrap());
        found.extend(bits(&page.rows));
        match page.next_cursor {
            Some(next) => after = next,
            None => return found,
        }
    }
}

/// A root with a live and many ended children, ended roots, and roots that are live: 10,000 in all.
async fn large(world: &World) {
    let now = world.engine.now();
    let old = Timestamp::from_millis(now.as_millis() - 60 * MINUTE);
    let filled = world.store.write(move |tx| {
        for bits in 1..=10_000_u64 {
            let parent = (1001..=9000).contains(&bits).then_some(1);
            tx.agent_insert(&member(bits, parent, u32::from(parent.is_some())), old)?;
            // All but the first, the last two thousand and one of the children are over.
            if bits != 1 && bits != 5000 && bits <= 8000 {
                let at = Timestamp::from_millis(old.as_millis() + i64::try_from(bits).unwrap());
                tx.agent_advance(AgentId::from_bits(bits), &over(Outcome::Succeeded, at), old)?;
            }
        }
        tell(tx, now)
    });
    filled.await.unwrap();
}

#[tokio::test]
async fn of_ten_thousand_a_page_gives_its_limit_and_pages_join() {
    let world = World::new();
    large(&world).await;
    let limited = |limit| CrewRequest { limit, ..request() };
    let first = list(&world, limited(50)).await;
    assert_eq!(first.rows.len(), 50);
    assert_eq!(first.past, 999, "the ended roots are counted and not shown");
    let root = &first.rows[0];
    assert_eq!((root.children, root.live_below, root.ended_below), (8000, 1001, 6999));
    let live_roots: Vec<u64> = [1].into_iter().chain(9001..=10_000).collect();
    assert_eq!(pages(&world, limited(300)).await, ids(live_roots), "all that are not past");
    let past = CrewRequest { past: PastAgents::Only, ..limited(400) };
    assert_eq!(pages(&world, past).await, ids((2..=1000).rev()), "the past, newest first");

    let below = CrewRequest { parent: Some(AgentId::from_bits(1)), ..limited(100) };
    let children = list(&world, below.clone()).await;
    assert_eq!(children.past, 6999);
    let live: Vec<u64> = [5000].into_iter().chain(8001..=9000).collect();
    assert_eq!(pages(&world, below.clone()).await, ids(live));
    let all = CrewRequest { past: PastAgents::Include, limit: 1000, ..below };
    assert_eq!(pages(&world, all).await, ids(1001..=9000));
}

#[tokio::test]
async fn live_agents_come_first_and_then_the_newest_that_ended() {
    let world = World::new();
    for (number, parent) in [(1, None), (2, None), (3, None), (4, Some(3)), (5, None), (6, None)] {
        add(&world, member(number, parent, u32::from(parent.is_some()))).await;
    }
    let now = world.engine.now();
    // The third has ended too, and has a live one below it.
    for ended in [1, 3, 5] {
        become_(&world, ended, over(Outcome::Succeeded, now)).await;
    }
    for limit in [1, 2, 100] {
        let order = pages(&world, CrewRequest { limit, ..request() }).await;
        assert_eq!(order, ids([2, 3, 6, 5, 1]), "{limit} at once");
    }
}

#[tokio::test]
async fn of_ten_thousand_flat_lists_are_cut_too() {
    let world = World::new();
    large(&world).await;
    let flat = |standing| CrewRequest { states: standing, limit: 900, ..request() };
    let ended = pages(&world, flat(CrewStates::Ended)).await;
    let expected: Vec<u64> = (2..=8000).filter(|bits| *bits != 5000).rev().collect();
    assert_eq!(ended, ids(expected), "who ended last comes first");
    let running: Vec<u64> = [1, 5000].into_iter().chain(8001..=10_000).collect();
    assert_eq!(pages(&world, flat(CrewStates::Running)).await, ids(running));
    assert_eq!(pages(&world, flat(CrewStates::Queued)).await, []);
    let found =
        list(&world, CrewRequest { text: Some("0000000000000007".into()), ..request() }).await;
    assert_eq!(bits(&found.rows), ids([7]), "found by its id among all");
}

#[tokio::test]
async fn what_has_ended_lately_or_leads_somebody_live_is_not_past() {
    let world = World::new();
    for (number, parent, depth) in [(1, None, 0), (2, Some(1), 1), (3, Some(2), 2), (4, None, 0)] {
        add(&world, member(number, parent, depth)).await;
    }
    let now = world.engine.now();
    for ended in [1, 2, 4] {
        become_(&world, ended, over(Outcome::Failed, now)).await;
    }
    let shown = list(&world, request()).await;
    assert_eq!((bits(&shown.rows), shown.past), (ids([1, 4]), 0), "both ended just now");
    world.clock.advance_seconds(11 * 60);
    let later = list(&world, request()).await;
    assert_eq!((bits(&later.rows), later.past), (ids([1]), 1), "one leads somebody live");
    assert_eq!(later.rows[0].live_below, 1, "below an ended one that is below it");
    assert_eq!(later.rows[0].state, AgentStateName::Failed);
    assert_eq!(later.rows[0].reason.as_deref(), Some("enough"));
    let below =
        list(&world, CrewRequest { parent: Some(AgentId::from_bits(1)), ..request() }).await;
    assert_eq!((bits(&below.rows), below.past), (ids([2]), 0));
}

#[tokio::test]
async fn states_make_flat_lists_and_the_queue_has_its_order() {
    let world = World::new();
    let until = world.engine.now().after_seconds(600);
    let states = [
        AgentState::Queued,
        AgentState::Queued,
        AgentState::Starting,
        AgentState::Running,
        AgentState::WaitingReview,
        AgentState::WaitingInput,
        AgentState::Limited { until },
    ];
    for (bits, state) in (1..).zip(states) {
        let depth = u32::from(bits == 2);
        add(&world, member(bits, None, depth)).await;
        become_(&world, bits, state).await;
    }
    let flat =
        async |standing| list(&world, CrewRequest { states: standing, ..request() }).await.rows;
    let queue = flat(CrewStates::Queued).await;
    assert_eq!(bits(&queue), ids([2, 1]), "the deepest first");
    assert_eq!([queue[0].queue_place, queue[1].queue_place], [Some(1), Some(2)]);
    let one = CrewRequest { states: CrewStates::Queued, limit: 1, ..request() };
    assert_eq!(pages(&world, one).await, ids([2, 1]));
    assert_eq!(bits(&flat(CrewStates::Running).await), ids([3, 4]));
    let waiting = flat(CrewStates::Waiting).await;
    assert_eq!(bits(&waiting), ids([5, 6, 7]));
    assert_eq!(waiting[2].limited_until, Some(until));
}

#[tokio::test]
async fn an_agent_is_found_by_role_and_by_its_task() {
    let world = World::new();
    let now = world.engine.now();
    let task = NewTask {
        id: TaskId::from_bits(1),
        slug: "fence-100%-claims".into(),
        session: "default".into(),
        title: "Fence stale claims".into(),
        description: None,
        priority: model::Priority::default(),
        epic: None,
        iteration: 0,
    };
    let kept = task.clone();
    world.store.write(move |tx| tx.task_insert(&kept, now)).await.unwrap();
    add(&world, NewAgent { task: Some(task.id), ..member(1, None, 0) }).await;
    add(&world, NewAgent { role: "reviewer".into(), ..member(2, None, 0) }).await;
    let find = async |text: &str, standing| {
        let request = CrewRequest { text: Some(text.into()), states: standing, ..request() };
        bits(&list(&world, request).await.rows)
    };
    let any = CrewStates::Any;
    for (text, expected) in [
        ("REVIEW", ids([2])),
        ("stale", ids([1])),
        ("100%-c", ids([1])),
        ("100_-c", ids([])),
        ("TAS-1", ids([1])),
        ("1", ids([1])),
        ("2", ids([2])),
        ("work", ids([1])),
    ] {
        assert_eq!(find(text, any).await, expected, "{text}");
    }
    assert_eq!(find("stale", CrewStates::Ended).await, []);
    assert_eq!(find("  ", any).await, ids([1, 2]), "nothing to look for is the tree");
    let row = &list(&world, request()).await.rows[0];
    let told = row.task.as_ref().unwrap();
    assert_eq!((told.number, told.title.as_str()), (1, "Fence stale claims"));
}

#[tokio::test]
async fn what_an_agent_calls_is_what_it_does_now() {
    let world = World::new();
    let agent = world.enlist("worker").await;
    let row = async || {
        let view = world.engine.crew_rows(vec![agent], Some(3600)).await.unwrap();
        view.rows.into_iter().next().unwrap()
    };
    assert!(row().await.doing.is_none(), "nothing is known of it yet");
    let letter = json!({ "toHuman": true, "subject": "Locks", "body": "b" });
    world.ok(agent, "mcp__mail__send", letter).await;
    let doing = row().await.doing.unwrap();
    assert_eq!((doing.tool.as_deref(), doing.text.as_str()), (Some("send"), "Locks"));
    assert_eq!(row().await.calls.map(|calls| calls.len()), Some(1), "a notch on its lane");
    let segments = row().await.segments.unwrap();
    assert_eq!(serde_json::to_value(segments[0].state).unwrap(), json!("running"));
    world.clock.advance_seconds(60);
    world.discharge(agent).await;
    let ended = row().await;
    assert_eq!(ended.doing.unwrap().text, "done", "of one that is over, what came of it");
    assert_eq!(ended.segments.unwrap()[0].to, ended.finished_at);
}

#[tokio::test]
async fn rows_come_as_they_are_asked_for_and_unknown_ones_are_left_out() {
    let world = World::new();
    let (one, other) = (world.enlist("worker").await, world.enlist("review").await);
    let asked = vec![other, AgentId::from_bits(404), one];
    let view = world.engine.crew_rows(asked, None).await.unwrap();
    assert_eq!(bits(&view.rows), [other, one]);
    assert!(view.rows[0].segments.is_none(), "lanes only where they are asked for");
    let unknown = CrewRequest { parent: Some(AgentId::from_bits(404)), ..request() };
    let error = world.engine.crew(unknown).await.unwrap_err();
    assert_eq!(error.code.name(), "AGENT_NOT_FOUND");
}
