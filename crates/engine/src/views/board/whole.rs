//! One task, whole: its row, its text, what stands beside it, who worked on it, and what happened.

use model::task::TaskRef;
use model::{AgentId, Column, TaskStateName, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use store::{Comment, Dispatch, Tx};

use super::TaskRow;
use super::history::{self, HistoryEntry};
use super::row::Rows;
use crate::call::cx::find_task;
use crate::core::engine::Engine;
use crate::core::error::ToolError;
use crate::crew::context::task_context;
use crate::delivery::reviews::view::PullView;
use crate::views::mail::short;

/// So many of each list are shown at once.
const MANY: u32 = 100;
/// So much of its history.
const HISTORY: u32 = 50;
/// So much of what an agent said of its work.
const SUMMARY: usize = 1000;

/// A task, whole.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WholeTask {
    /// As it stands on the board
    // Only ever written, so that flattening cannot swallow a field.
    #[serde(flatten)]
    pub row: TaskRow,
    /// What is to be done, at length
    pub description: Option<String>,
    /// Why it is where it is, where that was said
    pub reason: Option<String>,
    /// How often it has been claimed: the number of the claim that counts
    pub fence: i64,
    /// How often an agent has ended without finishing it
    pub attempts: u32,
    /// What it waits for or has waited for, the first 100
    pub waits_for: Vec<LinkView>,
    /// What waits for it, the first 100
    pub waited_for_by: Vec<LinkView>,
    /// The last 100 remarks, oldest first
    pub comments: Vec<CommentView>,
    /// The last 100 agents that worked on it, newest first
    pub dispatches: Vec<DispatchView>,
    /// How many agents are or were there for it
    pub agents: i64,
    /// What whoever has it and those below it may spend; null is no bound
    pub budget_usd: Option<f64>,
    /// The last 50 things that happened, newest first
    pub history: Vec<HistoryEntry>,
    /// Where the history goes on, if it does
    pub history_cursor: Option<i64>,
    /// The branch it is done on
    pub branch_name: Option<String>,
    /// Its pull request, where it was opened from here
    pub pull_request: Option<PullView>,
    /// Where its pull request can be seen
    pub pr_url: Option<String>,
    /// What the next agent is told of it, as Markdown
    pub context: String,
    /// When it was made
    pub created_at: Timestamp,
}

/// A task beside another.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LinkView {
    /// Its number
    pub number: i64,
    /// What is to be done
    pub title: String,
    /// Where it stands
    pub state: TaskStateName,
    /// In which column
    pub column: Column,
}

/// A remark.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommentView {
    /// Its number
    pub id: i64,
    /// Who wrote it; null is the operator
    pub agent_id: Option<AgentId>,
    /// Its writer's role
    pub role: Option<String>,
    /// What it says
    pub body: String,
    /// When it was written
    pub created_at: Timestamp,
}

/// An agent's work on a task.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DispatchView {
    /// Who
    pub agent_id: AgentId,
    /// The end of its id
    pub short: String,
    /// In which role
    pub role: String,
    /// How it ended; `running` while it goes on
    pub status: String,
    /// From when
    pub started_at: Timestamp,
    /// Until when
    pub ended_at: Option<Timestamp>,
    /// What came of it, in short
    pub summary: Option<String>,
    /// What it cost; null is unknown
    pub cost_usd: Option<f64>,
}

impl Engine {
    /// One task, whole.
    pub async fn whole_task(&self, name: TaskRef) -> Result<WholeTask, ToolError> {
        let settings = self.settings();
        self.store.scan(move |tx| whole(tx, &mut Rows::new(tx, &settings), &name)).await
    }
}

fn whole(tx: &Tx<'_>, rows: &mut Rows<'_>, name: &TaskRef) -> Result<WholeTask, ToolError> {
    let task = find_task(tx, name)?;
    let gone = || ToolError::not_found(format!("there is no task `{name}`"));
    let row = rows.row(tx.board_card(task.number)?.ok_or_else(gone)?)?;
    let history = history::page(tx, task.id, i64::MAX, HISTORY)?;
    let budget = row.agent.as_ref().map(|agent| tx.budget_get(agent.id)).transpose()?.flatten();
    let dispatches = tx.dispatch_newest(task.number, MANY)?;
    let doer = row.agent.as_ref().map(|agent| agent.id).or(task.assigned_agent);
    let pull = doer.map(|agent| tx.pull_of(agent)).transpose()?.flatten();
    // An agent may have gone on to another task; its pull request is not this one's then.
    let pull = pull.filter(|pull| task.pr_url.as_ref() == Some(&pull.url));
    let comments = tx.comment_list(task.number, MANY)?;
    Ok(WholeTask {
        waits_for: links(tx, tx.task_needs(task.number)?)?,
        waited_for_by: links(tx, tx.task_needed_by(task.number, MANY)?)?,
        comments: comments.into_iter().map(|one| comment(tx, one)).collect::<Result<_, _>>()?,
        dispatches: dispatches
            .into_iter()
            .map(|one| dispatch(tx, one))
            .collect::<Result<_, _>>()?,
        agents: tx.task_cost(task.id)?.1,
        budget_usd: budget.and_then(|budget| budget.caps.money).map(model::money::Usd::dollars),
        history: history.history,
        history_cursor: history.next_cursor,
        pull_request: pull.map(PullView::from),
        context: task_context(tx, &task)?,
        row,
        reason: task.state.reason().map(str::to_owned),
        fence: task.claim_number,
        attempts: task.attempts,
        description: task.description,
        branch_name: task.branch_name,
        pr_url: task.pr_url,
        created_at: task.created_at,
    })
}

fn links(tx: &Tx<'_>, numbers: Vec<i64>) -> Result<Vec<LinkView>, ToolError> {
    let most = usize::try_from(MANY).unwrap_or(usize::MAX);
    let mut links = Vec::new();
    for number in numbers.into_iter().take(most) {
        let Some(card) = tx.board_card(number)? else { continue };
        let (state, column) = (card.state, card.column());
        links.push(LinkView { number, title: card.title, state, column });
    }
    Ok(links)
}

fn comment(tx: &Tx<'_>, comment: Comment) -> Result<CommentView, ToolError> {
    let writer = comment.agent.map(|id| tx.agent_get(id)).transpose()?.flatten();
    Ok(CommentView {
        id: comment.number,
        agent_id: comment.agent,
        role: writer.map(|agent| agent.role),
        body: comment.body,
        created_at: comment.created_at,
    })
}

fn dispatch(tx: &Tx<'_>, dispatch: Dispatch) -> Result<DispatchView, ToolError> {
    let result = dispatch.result.as_deref().map(serde_json::from_str::<Value>);
    let result = result.and_then(Result::ok).unwrap_or_default();
    let summary = result["summary"].as_str();
    Ok(DispatchView {
        short: short(dispatch.agent),
        cost_usd: tx.agent_cost(dispatch.agent)?.map(model::money::Usd::dollars),
        agent_id: dispatch.agent,
        role: dispatch.role,
        status: dispatch.status.unwrap_or_else(|| "running".to_owned()),
        started_at: dispatch.started_at,
        ended_at: dispatch.ended_at,
        summary: summary.map(|text| text.chars().take(SUMMARY).collect()),
    })
}
