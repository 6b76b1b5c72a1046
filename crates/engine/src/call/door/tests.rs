//! Effects on the outside and narrow waits, with tools made for the purpose.

use std::sync::atomic::{AtomicU32, Ordering};

use model::event::EventKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{AuditFilter, EventFilter, Store, StoreError};
use tempfile::TempDir;
use testkit::event_of;
use tokio::task::JoinSet;

use super::*;
use crate::call::tool::{Ask, Look, Tool, Wait};
use crate::core::options::Options;
use crate::core::settings::Role;
use crate::core::topics::Topic;
use crate::crew::enlist::Recruit;
use crate::engine::Engine;

/// Ask somebody to leave
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Args {
    /// Target agent
    agent_id: AgentId,
}

/// Outcome of the call.
#[derive(Debug, Serialize, JsonSchema)]
struct Answer {
    gone: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct Ticket {
    whom: AgentId,
}

fn gone(cx: &ReadCx<'_>, id: AgentId) -> Result<Look<Answer>, ToolError> {
    let gone = find_agent(cx.tx, id)?.ended_at().is_some();
    Ok(if gone { Look::Settled(Answer { gone }) } else { Look::NotYet(Answer { gone }) })
}

/// Says that somebody should leave, and waits until they have. Somebody else makes them.
struct Farewell;

impl Tool for Farewell {
    const NAME: &'static str = "mcp__mail__farewell";
    type Args = Args;
    type Answer = Answer;
}

impl Ask for Farewell {
    type Ticket = Ticket;

    fn begin(cx: &mut WriteCx<'_, '_>, args: &Args) -> Result<Ticket, ToolError> {
        let whom = find_agent(cx.tx, args.agent_id)?;
        if whom.ended_at().is_some() {
            return Err(ToolError::wrong_state("it has left already"));
        }
        cx.tell(None, event_of(EventKind::DecisionLogged))?;
        Ok(Ticket { whom: whom.id })
    }

    fn wait_seconds(_: &Args) -> u32 {
        240
    }

    fn topics(ticket: &Ticket) -> Vec<Topic> {
        vec![Topic::Agent(ticket.whom)]
    }

    fn look(cx: &ReadCx<'_>, _: &Args, ticket: &Ticket) -> Result<Look<Answer>, ToolError> {
        gone(cx, ticket.whom)
    }
}

static FAREWELL: ToolDef = ToolDef::ask::<Farewell>();

/// The same, but everything fails at first because somebody is busy.
struct Stumble;

static BEGINNINGS: AtomicU32 = AtomicU32::new(0);
static LOOKS: AtomicU32 = AtomicU32::new(0);

fn busy_at_first(count: &AtomicU32) -> Result<(), ToolError> {
    match count.fetch_add(1, Ordering::Relaxed) {
        0 => Err(ToolError::new(Code::TransientError, "busy")),
        _ => Ok(()),
    }
}

impl Tool for Stumble {
    const NAME: &'static str = "mcp__mail__stumble";
    type Args = Args;
    type Answer = Answer;
}

impl Ask for Stumble {
    type Ticket = Ticket;

    fn begin(cx: &mut WriteCx<'_, '_>, args: &Args) -> Result<Ticket, ToolError> {
        let ticket = Farewell::begin(cx, args)?;
        busy_at_first(&BEGINNINGS)?;
        Ok(ticket)
    }

    fn wait_seconds(_: &Args) -> u32 {
        0
    }

    fn topics(ticket: &Ticket) -> Vec<Topic> {
        Farewell::topics(ticket)
    }

    fn look(cx: &ReadCx<'_>, args: &Args, ticket: &Ticket) -> Result<Look<Answer>, ToolError> {
        busy_at_first(&LOOKS)?;
        Farewell::look(cx, args, ticket)
    }
}

static STUMBLE: ToolDef = ToolDef::ask::<Stumble>();

/// Waits until somebody has left, and counts how often it looks.
struct Watch;

static GLANCES: AtomicU32 = AtomicU32::new(0);

impl Tool for Watch {
    const NAME: &'static str = "mcp__mail__watch";
    type Args = Args;
    type Answer = Answer;
}

impl Wait for Watch {
    fn wait_seconds(_: &Args) -> u32 {
        240
    }

    fn topics(_: &ReadCx<'_>, args: &Args) -> Vec<Topic> {
        vec![Topic::Agent(args.agent_id)]
    }

    fn look(cx: &ReadCx<'_>, args: &Args) -> Result<Look<Answer>, ToolError> {
        GLANCES.fetch_add(1, Ordering::Relaxed);
        gone(cx, args.agent_id)
    }
}

static WATCH: ToolDef = ToolDef::wait::<Watch>();

struct World {
    engine: Engine,
    _folder: TempDir,
}

impl World {
    fn new() -> Self {
        Self::retrying_after(Duration::from_millis(1))
    }

    fn retrying_after(retry_after: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("state.db")).unwrap();
        let mut settings = Settings::default();
        let role = Role { name: "worker".into(), category: "worker".into(), ..Role::default() };
        settings.roles.insert("worker".into(), role);
        let clock = host::clock::Clock::manual(Timestamp::from_millis(1_763_208_309_042));
        let options = Options {
            clock,
            retry_after,
            ..Options::new(folder.path().to_owned(), "nobody's".into())
        };
        Self { engine: Engine::new(store, settings, options), _folder: folder }
    }

    async fn enlist(&self) -> AgentId {
        let role = "worker".into();
        let recruit = Recruit { role, task: None, epic: None, cwd: None, parent: None };
        self.engine.enlist(recruit).await.unwrap().agent
    }

    async fn discharge(&self, agent: AgentId) {
        self.engine.discharge(agent, "done".into()).await.unwrap();
    }

    async fn ask(&self, call: Call) -> Result<Value, Value> {
        let answer = self.engine.call(call, &Progress::default()).await;
        answer.map(|output| output.value()).map_err(|failure| failure.body())
    }

    /// Waits until so many effects have begun.
    async fn begun(&self, times: usize) {
        let mut events = self.engine.store.last_event();
        while self.beginnings() < times {
            tokio::time::timeout(Duration::from_secs(30), events.changed()).await.unwrap().unwrap();
        }
    }

    fn beginnings(&self) -> usize {
        let filter = EventFilter { after: 0, kind: Some(EventKind::DecisionLogged) };
        self.engine.store.read(|tx| tx.event_list(&filter, 500)).unwrap().len()
    }

    /// Code and output of each recorded row of a tool.
    async fn rows(&self, tool: &ToolDef) -> Vec<(Value, Value)> {
        // An operation is answered when all that came before it is on disk.
        self.engine.store.write(|_| Ok::<_, StoreError>(())).await.unwrap();
        let filter = AuditFilter { tool: Some(tool.name.into()), ..AuditFilter::default() };
        let page = self.engine.store.read(|tx| tx.audit_page(&filter, 500)).unwrap();
        let body = |row: &store::AuditRow| serde_json::from_str::<Value>(&row.body).unwrap();
        let rows = page.items.iter().map(body);
        rows.map(|row| (row["code"].clone(), row["output"].clone())).collect()
    }

    fn calls_counted(&self, agent: AgentId) -> Vec<(String, u64, u64)> {
        let used = self.engine.store.read(|tx| tx.tool_use_by_agent(agent)).unwrap();
        used.into_iter().map(|used| (used.tool, used.calls, used.errors)).collect()
    }
}

fn call(who: Principal, tool: &'static ToolDef, about: AgentId) -> Call {
    let input = json!({ "agentId": about });
    Call { principal: who, as_agent: None, tool, input, key: None }
}

/// No test waits longer than this for what it waits for.
async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), what).await.unwrap()
}

const BEFORE: (Value, fn() -> Value) = (Value::Null, || json!({ "begun": true }));

#[tokio::test]
async fn an_effect_is_recorded_before_and_after_and_counted_once() {
    let world = World::new();
    let (one, other) = (world.enlist().await, world.enlist().await);
    let asked = world.ask(call(Principal::Agent(one), &FAREWELL, other));
    let (answer, ()) = soon(async {
        tokio::join!(asked, async {
            world.begun(1).await;
            assert_eq!(world.rows(&FAREWELL).await, [(BEFORE.0, BEFORE.1())]);
            world.discharge(other).await;
        })
    })
    .await;
    assert_eq!(answer.unwrap(), json!({ "gone": true }));
    let after = (Value::Null, json!({ "gone": true }));
    assert_eq!(world.rows(&FAREWELL).await, [(BEFORE.0, BEFORE.1()), after]);
    assert_eq!(world.calls_counted(one), [(FAREWELL.name.to_owned(), 1, 0)]);
    assert_eq!(FAREWELL.effect(), Effect::Outside);
    assert!(FAREWELL.waits());
}

#[tokio::test]
async fn an_effect_that_cannot_begin_leaves_one_row_and_nothing_else() {
    let world = World::new();
    let (one, other) = (world.enlist().await, world.enlist().await);
    world.discharge(other).await;
    let refused = world.ask(call(Principal::Agent(one), &FAREWELL, other)).await;
    assert_eq!(refused.unwrap_err()["code"], "INVALID_AGENT_STATE");
    let rows = world.rows(&FAREWELL).await;
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].0, "INVALID_AGENT_STATE");
    assert_eq!(world.beginnings(), 0);
    assert_eq!(world.calls_counted(one), [(FAREWELL.name.to_owned(), 1, 1)]);
}

#[tokio::test]
async fn who_leaves_ends_the_waiting_and_not_what_was_begun() {
    let world = World::new();
    let other = world.enlist().await;
    let progress = Progress::default();
    let call = call(Principal::Operator, &FAREWELL, other);
    let (answer, ()) = soon(async {
        tokio::join!(world.engine.call(call, &progress), async {
            world.begun(1).await;
            progress.gone.cancel();
        })
    })
    .await;
    assert_eq!(answer.unwrap().value(), json!({ "gone": false }));
    let after = (Value::Null, json!({ "gone": false }));
    assert_eq!(world.rows(&FAREWELL).await, [(BEFORE.0, BEFORE.1()), after]);
    assert_eq!(world.beginnings(), 1, "the wish stays on record");
}

#[tokio::test]
async fn a_call_that_meets_the_end_of_the_server_is_answered_at_once() {
    let world = World::retrying_after(Duration::from_secs(3_600));
    let agent = world.enlist().await;
    world.engine.store.close().await;
    let refused = soon(world.ask(call(Principal::Operator, &FAREWELL, agent))).await.unwrap_err();
    assert_eq!(refused["code"], "TRANSIENT_ERROR", "{refused}");
    assert_eq!(refused["details"]["outcome"], "unknown", "{refused}");
}

#[tokio::test]
async fn an_agent_that_ends_itself_hears_that_it_has() {
    let world = World::new();
    let agent = world.enlist().await;
    let asked = world.ask(call(Principal::Agent(agent), &FAREWELL, agent));
    let (answer, ()) = soon(async {
        tokio::join!(asked, async {
            world.begun(1).await;
            assert!(!world.engine.waits.is_waiting(agent), "it waits for nobody else");
            world.discharge(agent).await;
        })
    })
    .await;
    assert_eq!(answer.unwrap(), json!({ "gone": true }));
    let again = world.ask(call(Principal::Agent(agent), &FAREWELL, agent)).await;
    assert_eq!(again.unwrap_err()["code"], "UNAUTHENTICATED");
}

#[tokio::test]
async fn the_same_call_with_the_same_key_waits_for_the_same_thing() {
    let world = World::new();
    let (one, other) = (world.enlist().await, world.enlist().await);
    let keyed =
        |about| Call { key: Some("k".into()), ..call(Principal::Agent(one), &FAREWELL, about) };
    let left = Progress::default();
    left.gone.cancel();
    let first = world.engine.call(keyed(other), &left).await;
    assert_eq!(first.unwrap().value(), json!({ "gone": false }));

    let refused = world.ask(keyed(one)).await.unwrap_err();
    assert_eq!(refused["code"], "CONFLICT", "{refused}");
    let mut waits = world.engine.waits.changed();
    let (answer, ()) = soon(async {
        tokio::join!(world.ask(keyed(other)), async {
            waits.changed().await.unwrap();
            world.discharge(other).await;
        })
    })
    .await;
    assert_eq!(answer.unwrap(), json!({ "gone": true }));
    // To begin it now would be refused; to hear of it is not.
    assert_eq!(world.ask(keyed(other)).await.unwrap(), json!({ "gone": true }));
    assert_eq!(world.beginnings(), 1);
    let begun = world.rows(&FAREWELL).await.into_iter().filter(|row| row.1 == BEFORE.1());
    assert_eq!(begun.count(), 1);
}

#[tokio::test]
async fn what_has_begun_is_not_begun_again_when_looking_fails() {
    let world = World::new();
    let other = world.enlist().await;
    let answer = world.ask(call(Principal::Operator, &STUMBLE, other)).await;
    assert_eq!(answer.unwrap(), json!({ "gone": false }));
    assert_eq!(BEGINNINGS.load(Ordering::Relaxed), 2, "what failed to begin was tried again");
    assert_eq!(LOOKS.load(Ordering::Relaxed), 2);
    assert_eq!(world.beginnings(), 1);
    let after = (Value::Null, json!({ "gone": false }));
    assert_eq!(world.rows(&STUMBLE).await, [(BEFORE.0, BEFORE.1()), after]);
}

/// Each looks before it waits, once more when its bell hangs, and when what it waits for has come.
#[tokio::test]
async fn thousands_wait_and_look_only_at_what_concerns_them() {
    let world = World::new();
    let mut agents = Vec::new();
    for _ in 0..250 {
        agents.push(world.enlist().await);
    }
    let bystander = world.enlist().await;
    let (watching, looked) = (1000_u32, || GLANCES.load(Ordering::Relaxed));
    let mut waiting = JoinSet::new();
    for agent in (0..4).flat_map(|_| &agents) {
        let (engine, call) = (world.engine.clone(), call(Principal::Operator, &WATCH, *agent));
        waiting.spawn(async move { engine.call(call, &Progress::default()).await });
    }
    let happening = async {
        // Waiting calls run until they wait before this does.
        while looked() < 2 * watching {
            tokio::task::yield_now().await;
        }
        for _ in 0..300 {
            let (agent, data) = (Some(bystander), event_of(EventKind::AgentStateChanged));
            let event = store::EventDraft { agent, task: None, data };
            let now = world.engine.now();
            world.engine.store.write(move |tx| tx.event_append(now, &event)).await.unwrap();
        }
        assert_eq!(looked(), 2 * watching, "what does not concern them wakes nobody");
        for agent in &agents {
            world.discharge(*agent).await;
        }
    };
    soon(happening).await;
    for answer in soon(waiting.join_all()).await {
        assert_eq!(answer.unwrap().value(), json!({ "gone": true }));
    }
    assert_eq!(looked(), 3 * watching);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_waiter_that_begins_as_it_happens_misses_nothing() {
    let world = World::new();
    for nth in 1..=100 {
        let agent = world.enlist().await;
        let (engine, call) = (world.engine.clone(), call(Principal::Operator, &FAREWELL, agent));
        let mut waiting = JoinSet::new();
        waiting.spawn(async move { engine.call(call, &Progress::default()).await });
        world.begun(nth).await;
        // By now it looks, or hangs up its bell, or waits.
        world.discharge(agent).await;
        let answer = soon(waiting.join_next()).await.unwrap().unwrap();
        assert_eq!(answer.unwrap().value(), json!({ "gone": true }));
    }
}

#[tokio::test]
async fn the_end_of_the_record_ends_the_waiting() {
    let world = World::new();
    let agent = world.enlist().await;
    let waiting = world.ask(call(Principal::Operator, &FAREWELL, agent));
    let closing = async {
        world.begun(1).await;
        world.engine.store.close().await;
    };
    let (answer, ()) = soon(async { tokio::join!(waiting, closing) }).await;
    // The waiting is over; its row may come too late to be kept.
    match answer {
        Ok(answer) => assert_eq!(answer["gone"], false),
        Err(error) => assert_eq!(error["code"], "TRANSIENT_ERROR"),
    }
}

#[tokio::test]
async fn a_call_takes_little_room_while_it_waits() {
    let world = World::new();
    let about = world.enlist().await;
    let (progress, call) = (Progress::default(), call(Principal::Operator, &WATCH, about));
    let passage = Arc::new(CallRun {
        engine: Calls::clone(&world.engine),
        settings: world.engine.settings(),
        recorded: Recorded::of(&call.input),
        call: call.clone(),
        loaded: OnceLock::new(),
        began: Instant::now(),
    });
    let Shape::Wait(look) = WATCH.shape else { panic!("it waits") };
    let waits = size_of_val(&passage.run_wait(look, &progress));
    let calls = size_of_val(&world.engine.call(call, &progress));
    assert!(waits < 4096 && calls < 2048, "{calls} and {waits} bytes");
}
