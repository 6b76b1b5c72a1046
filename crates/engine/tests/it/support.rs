//! A world for one test: an engine over a real database, a clock that a test moves, agents.
#![expect(clippy::panic, reason = "a helper that fails is a test that fails")]

pub(crate) mod repository;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use engine::settings::{Budget, Limits, Role, Settings};
use engine::{Call, Engine, Enlisted, Options, Principal, Progress, Recruit, by_name};
use host::clock::Clock;
use model::agent::AgentState;
use model::event::EventKind;
use model::{AgentId, EpicId, TaskRef, Timestamp};
use serde_json::Value;
use store::{Event, EventFilter, NewAgent, Store};
use tempfile::TempDir;

/// How long the store waits for somebody else to let go.
const PATIENCE: Duration = Duration::from_millis(50);
/// How long a call waits before it is tried again.
pub(crate) const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Who calls a tool in a test.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Who {
    /// The human
    Operator,
    /// An agent
    Agent(AgentId),
    /// The human in an agent's name
    As(AgentId),
}

impl From<AgentId> for Who {
    fn from(id: AgentId) -> Self {
        Self::Agent(id)
    }
}

/// A failure as its caller reads it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    /// The whole body
    pub(crate) body: Value,
}

impl Refusal {
    /// The code.
    pub(crate) fn code(&self) -> &str {
        self.body["code"].as_str().unwrap()
    }

    /// The message.
    pub(crate) fn message(&self) -> &str {
        self.body["message"].as_str().unwrap()
    }
}

fn recruit(role: &str) -> Recruit {
    Recruit { role: role.into(), task: None, epic: None, cwd: None, parent: None }
}

/// An engine with everything it needs. Gone with its folder when the test ends.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) engine: Engine,
    /// The record that the engine works on
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    next_agent: AtomicU64,
    folder: TempDir,
}

impl World {
    /// A new world at a fixed time, with a role of every built-in category by the same name.
    pub(crate) fn new() -> Self {
        Self::with_limit(Limits::default().calls_per_minute)
    }

    /// The same, in which an agent may make so many calls in a minute.
    pub(crate) fn with_limit(calls_per_minute: u32) -> Self {
        let limits = Limits { calls_per_minute, ..Limits::default() };
        Self::with(Settings { limits, ..Self::settings() })
    }

    /// Settings with a role of every built-in category by the same name.
    pub(crate) fn settings() -> Settings {
        let mut settings = Settings::default();
        for name in model::policy::BUILT_IN_CATEGORIES {
            let role = Role { name: name.into(), category: name.into(), ..Role::default() };
            settings.roles.insert(name.into(), role);
        }
        settings
    }

    /// The same, in which roles have budgets in dollars.
    pub(crate) fn with_budgets(budgets: &[(&str, f64)]) -> Self {
        let mut settings = Settings::default();
        for (name, usd) in budgets {
            let budget = Budget { usd: Some(*usd), ..Budget::default() };
            let (name, category) = (String::from(*name), String::from(*name));
            let role = Role { name: name.clone(), category, budget, ..Role::default() };
            settings.roles.insert(name, role);
        }
        Self::with(settings)
    }

    /// A new world with these settings.
    pub(crate) fn with(settings: Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_with_timeout(&folder.path().join("state.db"), PATIENCE).unwrap();
        let clock = Clock::manual(Timestamp::from_millis(1_763_208_309_042));
        let options = Options {
            clock: clock.clone(),
            progress_every: Duration::from_millis(20),
            retry_after: RETRY_AFTER,
            ..Options::new(folder.path().to_owned(), "nobody's".into())
        };
        let engine = Engine::new(store.clone(), settings, options);
        Self { engine, store, clock, next_agent: AtomicU64::new(1), folder }
    }

    /// Ends the engine and opens another one over the same record.
    pub(crate) async fn restarted(self, settings: Settings) -> Self {
        self.store.close().await;
        let Self { engine, store, clock, next_agent, folder } = self;
        drop((engine, store));
        let store = Store::open_with_timeout(&folder.path().join("state.db"), PATIENCE).unwrap();
        let options = Options {
            clock: clock.clone(),
            ..Options::new(folder.path().to_owned(), "nobody's".into())
        };
        let engine = Engine::new(store.clone(), settings.clone(), options);
        engine.adopt_settings(settings).await.unwrap();
        Self { engine, store, clock, next_agent, folder }
    }

    /// Enlists an agent, outside any loop.
    pub(crate) async fn enlist(&self, role: &str) -> AgentId {
        self.enlist_with_token(role).await.agent
    }

    /// Enlists an agent, and gives its token too.
    pub(crate) async fn enlist_with_token(&self, role: &str) -> Enlisted {
        self.engine.enlist(recruit(role)).await.unwrap()
    }

    /// Enlists an agent under another.
    pub(crate) async fn enlist_under(&self, role: &str, parent: AgentId) -> AgentId {
        let recruit = Recruit { parent: Some(parent), ..recruit(role) };
        self.engine.enlist(recruit).await.unwrap().agent
    }

    /// Enlists an agent in an epic.
    pub(crate) async fn enlist_in(&self, role: &str, epic: EpicId) -> AgentId {
        let recruit = Recruit { epic: Some(epic), ..recruit(role) };
        self.engine.enlist(recruit).await.unwrap().agent
    }

    /// Enlists an agent for a task.
    pub(crate) async fn enlist_for(&self, role: &str, task: TaskRef) -> AgentId {
        let recruit = Recruit { task: Some(task), ..recruit(role) };
        self.engine.enlist(recruit).await.unwrap().agent
    }

    /// An agent of a loop: one that was started by a session.
    pub(crate) async fn in_loop(&self, role: &str, session: &str) -> AgentId {
        let id = AgentId::from_bits(self.next_agent.fetch_add(1, Ordering::Relaxed));
        let new = NewAgent {
            id,
            role: role.into(),
            category: role.into(),
            kind: "script".into(),
            parent: None,
            depth: 0,
            task: None,
            epic: None,
            session: Some(session.into()),
            iteration: None,
            state: AgentState::Running,
            cwd: None,
            token_hash: None,
        };
        let now = self.engine.now();
        self.store.write(move |tx| tx.agent_insert(&new, now)).await.unwrap();
        id
    }

    /// The project's root.
    pub(crate) fn project(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// Where the record is.
    pub(crate) fn database(&self) -> PathBuf {
        self.folder.path().join("state.db")
    }

    /// Ends an agent.
    pub(crate) async fn discharge(&self, id: AgentId) {
        self.engine.discharge(id, "done".into()).await.unwrap();
    }

    /// Calls a tool by its canonical name.
    pub(crate) async fn ask(
        &self,
        who: impl Into<Who>,
        tool: &str,
        input: Value,
    ) -> Result<Value, Refusal> {
        let (principal, as_agent) = match who.into() {
            Who::Operator => (Principal::Operator, None),
            Who::Agent(id) => (Principal::Agent(id), None),
            Who::As(id) => (Principal::Operator, Some(id)),
        };
        let tool = by_name(tool).unwrap_or_else(|| panic!("there is no tool `{tool}`"));
        let call = Call { principal, as_agent, tool, input, key: None };
        match self.engine.call(call, &Progress::default()).await {
            Ok(output) => Ok(output.value()),
            Err(failure) => Err(Refusal { body: failure.body() }),
        }
    }

    /// Calls a tool that must answer.
    pub(crate) async fn ok(&self, who: impl Into<Who>, tool: &str, input: Value) -> Value {
        match self.ask(who, tool, input).await {
            Ok(value) => value,
            Err(refusal) => panic!("`{tool}` refused: {}", refusal.body),
        }
    }

    /// Calls a tool that must refuse with a code.
    pub(crate) async fn refused(
        &self,
        who: impl Into<Who>,
        tool: &str,
        input: Value,
        code: &str,
    ) -> Refusal {
        match self.ask(who, tool, input).await {
            Ok(value) => panic!("`{tool}` did not refuse: {value}"),
            Err(refusal) => {
                assert_eq!(refusal.code(), code, "{}", refusal.body);
                refusal
            }
        }
    }

    /// Everything that was told of.
    pub(crate) fn events(&self) -> Vec<Event> {
        let all = EventFilter::default();
        self.store.read(|tx| tx.event_list(&all, u32::MAX)).unwrap()
    }

    /// What was told of one kind of thing.
    pub(crate) fn told(&self, kind: EventKind) -> Vec<Event> {
        self.events().into_iter().filter(|event| event.kind == kind).collect()
    }
}
