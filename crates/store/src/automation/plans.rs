//! Plans: the document, its steps and its coordinators.

use model::money::Usd;
use model::{AgentId, PlanState, TaskId, Timestamp};
use rusqlite::{Row, params};

use crate::core::amount::sum;
use crate::core::error::StoreError;
use crate::core::exact::{Field, clean};
use crate::core::page::Page;
use crate::core::row::RowReader;
use crate::core::tx::Tx;
use crate::crew::agent::{self, Agent};
use crate::mail::message::{self, Mail};

/// A plan to be run.
#[derive(Debug, Clone)]
pub struct NewPlan {
    /// Name
    pub name: String,
    /// Title
    pub title: String,
    /// Where its file was
    pub path: String,
    /// Text of the plan, verbatim
    pub text: String,
    /// The hash of that
    pub hash: String,
    /// In which role it is run
    pub role: String,
    /// The chosen kind, if any
    pub kind: Option<String>,
    /// Task of the agent that runs it
    pub task: TaskId,
    /// Agent that coordinates it
    pub coordinator: AgentId,
    /// Number of steps that were already closed
    pub closed: u32,
    /// Budget for the whole plan
    pub cap: Option<Usd>,
}

/// A plan that is run, or was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Its place among all plans
    pub number: i64,
    /// Name
    pub name: String,
    /// Title
    pub title: String,
    /// Where its file was
    pub path: String,
    /// Current state
    pub state: PlanState,
    /// Why it is over
    pub why: Option<String>,
    /// In which role it is run
    pub role: String,
    /// The chosen kind, if any
    pub kind: Option<String>,
    /// Task of the agent that runs it
    pub task: TaskId,
    /// Current or last coordinator
    pub coordinator: AgentId,
    /// Coordinators in a row under whom no step was closed
    pub tries: u32,
    /// Number of closed steps when the current coordinator started
    pub closed: u32,
    /// Budget for the whole plan
    pub cap: Option<Usd>,
    /// When it was first begun
    pub created_at: Timestamp,
    /// When it last changed
    pub updated_at: Timestamp,
    /// When it ended
    pub ended_at: Option<Timestamp>,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanStep {
    /// Step number in the plan
    pub number: u32,
    /// Its task
    pub task: TaskId,
    /// In which role it is to be done, where the plan says so
    pub role: Option<String>,
    /// Budget of the step, if the plan sets one
    pub cap: Option<Usd>,
}

/// The next coordinator of a plan.
#[derive(Debug, Clone, Copy)]
pub struct PlanTurn {
    /// Coordinating agent
    pub coordinator: AgentId,
    /// The how manieth in a row under whom no step was closed
    pub tries: u32,
    /// Number of closed steps
    pub closed: u32,
    /// Budget for the whole plan
    pub cap: Option<Usd>,
}

/// Number of recent mails to the human that are searched.
const MAX_MAILS_SEARCHED: u32 = 1000;

const COLUMNS: &str = "number, name, title, path, state, why, role, kind, task_id, \
     coordinator_id, tries, closed, cap_nanos, created_at, updated_at, ended_at";

fn read(row: &Row<'_>) -> Result<Plan, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(Plan {
        number: cells.get()?,
        name: cells.get()?,
        title: cells.get()?,
        path: cells.get()?,
        state: cells.named(PlanState::parse)?,
        why: cells.get()?,
        role: cells.get()?,
        kind: cells.get()?,
        task: cells.parse()?,
        coordinator: cells.parse()?,
        tries: cells.count()?,
        closed: cells.count()?,
        cap: cells.get::<Option<i64>>()?.map(Usd::from_nanos),
        created_at: cells.time()?,
        updated_at: cells.time()?,
        ended_at: cells.time_opt()?,
    })
}

fn read_step(row: &Row<'_>) -> Result<PlanStep, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(PlanStep {
        number: cells.count()?,
        task: cells.parse()?,
        role: cells.get()?,
        cap: cells.get::<Option<i64>>()?.map(Usd::from_nanos),
    })
}

impl Tx<'_> {
    /// Records a plan that is begun, and gives its number.
    pub fn plan_insert(&mut self, new: &NewPlan, now: Timestamp) -> Result<i64, StoreError> {
        let number = self.number("SELECT COALESCE(MAX(number), 0) + 1 FROM plan", [])?;
        let text = self.keep_exact(&format!("plan:{number}"), Field::Text, &new.text, now)?;
        self.execute(
            "INSERT INTO plan (number, name, title, path, text, hash, state, role, kind, task_id,
                coordinator_id, tries, closed, cap_nanos, created_at, updated_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 1, $12, $13, $14, $14)",
            params![
                number,
                new.name,
                clean(&new.title),
                new.path,
                text,
                new.hash,
                PlanState::Running.name(),
                new.role,
                new.kind,
                new.task.to_string(),
                new.coordinator.to_string(),
                new.closed,
                new.cap.map(Usd::nanos),
                now.as_millis()
            ],
        )?;
        self.plan_coordinator_insert(number, new.coordinator, now)?;
        Ok(number)
    }

    /// Records a step of a plan.
    pub fn plan_step_insert(&mut self, plan: i64, step: &PlanStep) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO plan_step (plan_number, number, task_id, role, cap_nanos)
             VALUES ($1, $2, $3, $4, $5)",
            params![plan, step.number, step.task.to_string(), step.role, step.cap.map(Usd::nanos)],
        )?;
        Ok(())
    }

    fn plan_coordinator_insert(
        &mut self,
        plan: i64,
        agent: AgentId,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO plan_coordinator (agent_id, plan_number, begun_at) VALUES ($1, $2, $3)",
            params![agent.to_string(), plan, now.as_millis()],
        )?;
        Ok(())
    }

    /// Hands a plan to the next coordinator, who is to await what the one before started and what still runs.
    pub fn plan_hand_over(
        &mut self,
        plan: &Plan,
        turn: PlanTurn,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.execute(
            "UPDATE plan SET state = $2, why = NULL, ended_at = NULL, coordinator_id = $3, tries = $4,
                closed = $5, cap_nanos = $6, updated_at = $7
             WHERE number = $1",
            params![
                plan.number,
                PlanState::Running.name(),
                turn.coordinator.to_string(),
                turn.tries,
                turn.closed,
                turn.cap.map(Usd::nanos),
                now.as_millis()
            ],
        )?;
        self.execute(
            "UPDATE agent SET parent_id = $2 WHERE parent_id = $1 AND ended_at IS NULL",
            params![plan.coordinator.to_string(), turn.coordinator.to_string()],
        )?;
        self.plan_coordinator_insert(plan.number, turn.coordinator, now)
    }

    /// Notes how a plan ended, and why.
    pub fn plan_end(
        &mut self,
        plan: i64,
        state: PlanState,
        why: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.execute(
            "UPDATE plan SET state = $2, why = $3, ended_at = $4, updated_at = $4 WHERE number = $1",
            params![plan, state.name(), why, now.as_millis()],
        )?;
        Ok(())
    }

    /// The plan of that name.
    pub fn plan_get(&self, name: &str) -> Result<Option<Plan>, StoreError> {
        self.one(&format!("SELECT {COLUMNS} FROM plan WHERE name = $1"), params![name], read)
    }

    /// Exact text of a plan, for its coordinator.
    pub fn plan_text(&self, number: i64) -> Result<String, StoreError> {
        let text = self.one("SELECT text FROM plan WHERE number = $1", params![number], |row| {
            RowReader::of(row).get()
        })?;
        let text = text.ok_or_else(|| StoreError::Corrupt(format!("plan {number} is gone")))?;
        self.plan_text_exact(number, text)
    }

    /// The plan that an agent runs, or ran.
    pub fn plan_of_coordinator(&self, agent: AgentId) -> Result<Option<Plan>, StoreError> {
        self.one(
            &format!(
                "SELECT {COLUMNS} FROM plan WHERE number =
                    (SELECT plan_number FROM plan_coordinator WHERE agent_id = $1)"
            ),
            params![agent.to_string()],
            read,
        )
    }

    /// The plans that are being run. Their number is that of the started ones.
    pub fn plans_live(&self) -> Result<Vec<Plan>, StoreError> {
        self.all(
            &format!("SELECT {COLUMNS} FROM plan WHERE ended_at IS NULL ORDER BY number"),
            [],
            read,
        )
    }

    /// The last plan with the same text.
    pub fn plan_by_hash(&self, hash: &str) -> Result<Option<Plan>, StoreError> {
        self.one(
            &format!("SELECT {COLUMNS} FROM plan WHERE hash = $1 ORDER BY number DESC LIMIT 1"),
            params![hash],
            read,
        )
    }

    /// Lists plans before a number, newest first.
    pub fn plan_page(&self, before: i64, limit: u32) -> Result<Page<Plan>, StoreError> {
        let rows = self.all(
            &format!("SELECT {COLUMNS} FROM plan WHERE number < $1 ORDER BY number DESC LIMIT $2"),
            params![before, i64::from(limit) + 1],
            read,
        )?;
        Ok(Page::cut(rows, limit, |plan| plan.number))
    }

    /// The steps of a plan, in their order.
    pub fn plan_steps(&self, plan: i64) -> Result<Vec<PlanStep>, StoreError> {
        self.all(
            "SELECT number, task_id, role, cap_nanos FROM plan_step WHERE plan_number = $1
             ORDER BY number",
            params![plan],
            read_step,
        )
    }

    /// The step that a task is, if it is one.
    pub fn plan_step_of(&self, task: TaskId) -> Result<Option<PlanStep>, StoreError> {
        self.one(
            "SELECT number, task_id, role, cap_nanos FROM plan_step WHERE task_id = $1 LIMIT 1",
            params![task.to_string()],
            read_step,
        )
    }

    /// Everybody who ran a plan, the first one first.
    pub fn plan_coordinators(&self, plan: i64) -> Result<Vec<Agent>, StoreError> {
        self.all(
            &format!(
                "SELECT {COLUMNS} FROM plan_coordinator JOIN agent ON id = agent_id
                 WHERE plan_number = $1 ORDER BY begun_at, number",
                COLUMNS = agent::COLUMNS
            ),
            params![plan],
            agent::read,
        )
    }

    /// The mails to the human of those who run a plan and all below them, answered or not, oldest first.
    pub fn plan_mails(&self, plan: i64) -> Result<Vec<Mail>, StoreError> {
        self.all(
            &format!(
                "WITH RECURSIVE crew (id) AS (
                    SELECT agent_id FROM plan_coordinator WHERE plan_number = $1
                    UNION
                    SELECT a.id FROM agent AS a JOIN crew AS c ON a.parent_id = c.id)
                 SELECT {COLUMNS} FROM (
                    SELECT * FROM mail WHERE recipient = 'human' ORDER BY number DESC LIMIT $2
                 ) AS m
                 WHERE from_agent_id IN (SELECT id FROM crew)
                 ORDER BY number",
                COLUMNS = message::COLUMNS
            ),
            params![plan, MAX_MAILS_SEARCHED],
            message::read,
        )
    }

    /// Cost of a plan: its coordinators and all their descendants.
    pub fn plan_spent(&self, plan: i64) -> Result<Usd, StoreError> {
        let nanos = self.number(
            &format!(
                "SELECT COALESCE({}, 0) FROM plan_coordinator AS c
                 JOIN budget AS b ON b.agent_id = c.agent_id WHERE c.plan_number = $1",
                sum("b.spent_nanos"),
            ),
            params![plan],
        )?;
        Ok(Usd::from_nanos(nanos))
    }
}
