//! Loops: sessions that Adjutant runs, and messages for their next agent.

use model::money::Usd;
use model::session::{LoopRequest, LoopState, Phase};
use model::{AgentId, Timestamp};
use rusqlite::{Row, params};

use crate::core::error::StoreError;
use crate::core::exact::Field;
use crate::core::page::Page;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// A loop: what it was asked with, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loop {
    /// Its place among all loops
    pub number: i64,
    /// Its name, which is its session's
    pub session: String,
    /// Current state
    pub state: LoopState,
    /// Current phase
    pub phase: Phase,
    /// Index of the next hook of that phase
    pub step: u32,
    /// The run of that hook which was begun, if one was
    pub hook_run: Option<u32>,
    /// Number of hook runs so far
    pub hook_runs: u32,
    /// Pending request of a person
    pub request: Option<LoopRequest>,
    /// Why it waits or ended
    pub why: Option<String>,
    /// The iteration it is in, or had last
    pub iteration: u32,
    /// The iteration that is made next
    pub next: u32,
    /// The agent of the iteration
    pub agent: Option<AgentId>,
    /// The last iteration it may have
    pub last: Option<u32>,
    /// Failed iterations in a row
    pub failures: u32,
    /// With how many it gives up
    pub most_failures: u32,
    /// Options it was started with
    pub order: LoopOrder,
    /// Completed tasks were looked for in every event up to this number
    pub seen: i64,
    /// Failure report for the next agent, as JSON
    pub recovery: Option<String>,
    /// When it was begun
    pub created_at: Timestamp,
    /// When it last changed
    pub updated_at: Timestamp,
    /// When it was over
    pub ended_at: Option<Timestamp>,
}

impl Loop {
    /// The iteration that its hooks are about: the one that comes, before it is made, and else the one it is in.
    pub fn iteration_about(&self) -> u32 {
        if self.phase == Phase::Before { self.next } else { self.iteration }
    }

    /// True while it has something to do.
    pub fn is_live(&self) -> bool {
        self.state == LoopState::Running || self.phase == Phase::Closing
    }
}

/// Options a loop was started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopOrder {
    /// The role of its agents
    pub role: String,
    /// The chosen kind of their agents, if any
    pub kind: Option<String>,
    /// Where they work
    pub cwd: Option<String>,
    /// Text added to the prompt of each iteration
    pub extra: Option<String>,
    /// Where the specification was read
    pub spec_path: Option<String>,
    /// The specification
    pub spec: String,
    /// The text of their prompt; the one built in where absent
    pub template: Option<String>,
    /// True if each iteration's changes are committed
    pub commits: bool,
    /// Budget for the whole loop
    pub cap: Option<Usd>,
    /// Names of the variables that the server had for its hooks when a person last started it, as a JSON array
    pub environment: String,
}

/// Words for a loop's next agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopMessage {
    /// Its place among all of them
    pub number: i64,
    /// `operator`, or the moment of the hook that wrote it
    pub source: String,
    /// Decoded body
    pub body: String,
    /// When it was left
    pub created_at: Timestamp,
    /// The iteration whose agent was told
    pub iteration: Option<u32>,
    /// When that was
    pub delivered_at: Option<Timestamp>,
}

const COLUMNS: &str = "number, session, state, phase, step, hook_run, hook_runs, wish, why, iteration, next, agent_id, \
     last, failures, most_failures, role, kind, cwd, extra, spec_path, spec, template, commits, cap_nanos, seen, \
     recovery, created_at, updated_at, ended_at, environment";

fn read(row: &Row<'_>) -> Result<Loop, StoreError> {
    let mut cells = RowReader::of(row);
    let mut one = Loop {
        number: cells.get()?,
        session: cells.get()?,
        state: cells.named(LoopState::parse)?,
        phase: cells.named(Phase::parse)?,
        step: cells.count()?,
        hook_run: cells.get()?,
        hook_runs: cells.count()?,
        request: cells.named_opt(LoopRequest::parse)?,
        why: cells.get()?,
        iteration: cells.count()?,
        next: cells.count()?,
        agent: cells.parse_opt()?,
        last: cells.get()?,
        failures: cells.count()?,
        most_failures: cells.count()?,
        order: LoopOrder {
            role: cells.get()?,
            kind: cells.get()?,
            cwd: cells.get()?,
            extra: cells.get()?,
            spec_path: cells.get()?,
            spec: cells.get()?,
            template: cells.get()?,
            commits: cells.get::<i64>()? != 0,
            cap: cells.get::<Option<i64>>()?.map(Usd::from_nanos),
            environment: String::new(),
        },
        seen: cells.get()?,
        recovery: cells.get()?,
        created_at: cells.time()?,
        updated_at: cells.time()?,
        ended_at: cells.time_opt()?,
    };
    one.order.environment = cells.get()?;
    Ok(one)
}

fn read_message(row: &Row<'_>) -> Result<LoopMessage, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(LoopMessage {
        number: cells.get()?,
        source: cells.get()?,
        body: cells.get()?,
        created_at: cells.time()?,
        iteration: cells.get()?,
        delivered_at: cells.time_opt()?,
    })
}

impl Tx<'_> {
    /// Makes a loop of that name. It does nothing until it is saved as one that runs.
    pub fn loop_insert(
        &mut self,
        session: &str,
        order: &LoopOrder,
        now: Timestamp,
    ) -> Result<Loop, StoreError> {
        let number = self.number("SELECT COALESCE(MAX(number), 0) + 1 FROM loop", [])?;
        self.execute(
            "INSERT INTO loop (number, session, state, phase, step, hook_runs, iteration, next, failures,
                most_failures, role, spec, commits, seen, created_at, updated_at)
             VALUES ($1, $2, $3, $4, 0, 0, 0, 0, 0, 1, $5, $6, 0, $7, $8, $8)",
            params![
                number,
                session,
                LoopState::Paused.name(),
                Phase::Over.name(),
                order.role,
                order.spec,
                self.event_last()?,
                now.as_millis()
            ],
        )?;
        let made = self.loop_get(session)?;
        made.ok_or_else(|| StoreError::Corrupt(format!("the loop `{session}` is gone")))
    }

    /// The loop of that name.
    pub fn loop_get(&self, session: &str) -> Result<Option<Loop>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM loop WHERE session = $1");
        self.one(&sql, params![session], read)
    }

    /// Writes down how a loop stands, and what it was asked with.
    pub fn loop_save(&mut self, one: &Loop, now: Timestamp) -> Result<(), StoreError> {
        let order = &one.order;
        self.execute(
            "UPDATE loop SET state = $2, phase = $3, step = $4, hook_run = $5, hook_runs = $6, wish = $7,
                why = $8, iteration = $9, next = $10, agent_id = $11, last = $12, failures = $13,
                most_failures = $14, role = $15, kind = $16, cwd = $17, extra = $18, spec_path = $19,
                spec = $20, template = $21, commits = $22, cap_nanos = $23, seen = $24, recovery = $25,
                updated_at = $26, ended_at = $27, environment = $28
             WHERE session = $1",
            params![
                one.session,
                one.state.name(),
                one.phase.name(),
                one.step,
                one.hook_run,
                one.hook_runs,
                one.request.map(LoopRequest::name),
                one.why,
                one.iteration,
                one.next,
                one.agent.map(|id| id.to_string()),
                one.last,
                one.failures,
                one.most_failures,
                order.role,
                order.kind,
                order.cwd,
                order.extra,
                order.spec_path,
                order.spec,
                order.template,
                i64::from(order.commits),
                order.cap.map(Usd::nanos),
                one.seen,
                one.recovery,
                now.as_millis(),
                one.ended_at.map(Timestamp::as_millis),
                order.environment
            ],
        )?;
        Ok(())
    }

    /// The loops that have something to do, oldest first. There are never many.
    pub fn loops_live(&self) -> Result<Vec<Loop>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM loop WHERE state = 'running' OR phase = 'closing' ORDER BY number"
        );
        self.all(&sql, [], read)
    }

    /// Lists loops, newest first.
    pub fn loop_page(&self, before: i64, limit: u32) -> Result<Page<Loop>, StoreError> {
        let sql =
            format!("SELECT {COLUMNS} FROM loop WHERE number < $1 ORDER BY number DESC LIMIT $2");
        let rows = self.all(&sql, params![before, i64::from(limit) + 1], read)?;
        Ok(Page::cut(rows, limit, |one| one.number))
    }

    /// Names of the newest loops, for hints.
    pub fn loop_names(&self, limit: u32) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT session FROM loop ORDER BY number DESC LIMIT $1";
        self.all(sql, params![limit], |row| RowReader::of(row).get())
    }

    /// Leaves word for a loop's next agent.
    pub fn loop_message_insert(
        &mut self,
        session: &str,
        source: &str,
        body: &str,
        now: Timestamp,
    ) -> Result<LoopMessage, StoreError> {
        let number = self.number("SELECT COALESCE(MAX(number), 0) + 1 FROM loop_message", [])?;
        let body = self.keep_exact(&format!("loop:{number}"), Field::Body, body, now)?;
        self.execute(
            "INSERT INTO loop_message (number, session, source, body, created_at)
             VALUES ($1, $2, $3, $4, $5)",
            params![number, session, source, body, now.as_millis()],
        )?;
        Ok(LoopMessage {
            number,
            source: source.to_owned(),
            body: body.into_owned(),
            created_at: now,
            iteration: None,
            delivered_at: None,
        })
    }

    /// Lists undelivered messages to a loop's next agent, oldest first, up to a limit.
    pub fn loop_messages_waiting(
        &self,
        session: &str,
        limit: u32,
    ) -> Result<Vec<LoopMessage>, StoreError> {
        let mut waiting = self.all(
            "SELECT number, source, body, created_at, iteration, delivered_at FROM loop_message
             WHERE session = $1 AND delivered_at IS NULL ORDER BY number LIMIT $2",
            params![session, limit],
            read_message,
        )?;
        for message in &mut waiting {
            let body = std::mem::take(&mut message.body);
            message.body = self.loop_message_exact(message.number, body)?;
        }
        Ok(waiting)
    }

    /// Counts a person's undelivered messages to a loop.
    pub fn loop_messages_waiting_count(&self, session: &str) -> Result<i64, StoreError> {
        self.number(
            "SELECT COUNT(*) FROM loop_message
             WHERE session = $1 AND delivered_at IS NULL AND source = 'operator'",
            params![session],
        )
    }

    /// Notes that the agent of an iteration was told.
    pub fn loop_message_delivered(
        &mut self,
        number: i64,
        iteration: u32,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.execute(
            "UPDATE loop_message SET iteration = $2, delivered_at = $3
             WHERE number = $1 AND delivered_at IS NULL",
            params![number, iteration, now.as_millis()],
        )?;
        self.exact_forget(&format!("loop:{number}"))
    }

    /// The last messages of a loop, oldest of them first.
    pub fn loop_messages_newest(
        &self,
        session: &str,
        limit: u32,
    ) -> Result<Vec<LoopMessage>, StoreError> {
        let mut newest_first = self.all(
            "SELECT number, source, body, created_at, iteration, delivered_at FROM loop_message
             WHERE session = $1 ORDER BY number DESC LIMIT $2",
            params![session, limit],
            read_message,
        )?;
        newest_first.reverse();
        Ok(newest_first)
    }
}
