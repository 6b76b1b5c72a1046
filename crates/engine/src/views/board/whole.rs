//! One task, whole: its row, its text, what stands beside it, who worked on it, and what happened.

use model::task::TaskRef;
use store::{Comment, Dispatch, Tx};
use wire::tasks::{TaskComment, TaskDetails, TaskDispatch, TaskLink};

use super::history;
use super::row::Rows;
use crate::call::cx::find_task;
use crate::core::error::ToolError;
use crate::core::names::short;
use crate::crew::context::task_context;
use crate::crew::result::AgentResult;
use crate::delivery::reviews::view::pull_request_view;
use crate::views::service::Views;

/// Entries shown per list.
const MAX_ENTRIES: u32 = 100;
/// History entries shown.
const HISTORY: u32 = 50;
/// Characters of an agent's summary shown.
const SUMMARY: usize = 1000;

impl Views {
    /// One task, whole.
    pub async fn whole_task(&self, name: TaskRef) -> Result<TaskDetails, ToolError> {
        let settings = self.settings();
        self.store.scan(move |tx| whole(tx, &mut Rows::new(tx, &settings), &name)).await
    }
}

fn whole(tx: &Tx<'_>, rows: &mut Rows<'_>, name: &TaskRef) -> Result<TaskDetails, ToolError> {
    let task = find_task(tx, name)?;
    let gone = || ToolError::not_found(format!("there is no task `{name}`"));
    let row = rows.row(tx.board_card(task.number)?.ok_or_else(gone)?)?;
    let history = history::page(tx, task.id, i64::MAX, HISTORY)?;
    let budget = row.agent.as_ref().map(|agent| tx.budget_get(agent.id)).transpose()?.flatten();
    let dispatches = tx.dispatch_newest(task.number, MAX_ENTRIES)?;
    let doer = row.agent.as_ref().map(|agent| agent.id).or(task.assigned_agent);
    let pull = doer.map(|agent| tx.pull_of(agent)).transpose()?.flatten();
    // An agent may have gone on to another task; its pull request is not this one's then.
    let pull = pull.filter(|pull| task.pr_url.as_ref() == Some(&pull.url));
    let comments = tx.comment_list(task.number, MAX_ENTRIES)?;
    Ok(TaskDetails {
        waits_for: links(tx, tx.task_needs(task.number)?)?,
        waited_for_by: links(tx, tx.task_needed_by(task.number, MAX_ENTRIES)?)?,
        comments: comments.into_iter().map(|one| comment(tx, one)).collect::<Result<_, _>>()?,
        dispatches: dispatches
            .into_iter()
            .map(|one| dispatch(tx, one))
            .collect::<Result<_, _>>()?,
        agents: tx.task_cost(task.id)?.1,
        budget_usd: budget.and_then(|budget| budget.caps.money).map(model::money::Usd::dollars),
        history: history.history,
        history_cursor: history.next_cursor,
        pull_request: pull.map(pull_request_view),
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

fn links(tx: &Tx<'_>, numbers: Vec<i64>) -> Result<Vec<TaskLink>, ToolError> {
    let most = usize::try_from(MAX_ENTRIES).unwrap_or(usize::MAX);
    let mut links = Vec::new();
    for number in numbers.into_iter().take(most) {
        let Some(card) = tx.board_card(number)? else { continue };
        let (state, column) = (card.state, card.column());
        links.push(TaskLink { number, title: card.title, state, column });
    }
    Ok(links)
}

fn comment(tx: &Tx<'_>, comment: Comment) -> Result<TaskComment, ToolError> {
    let writer = comment.agent.map(|id| tx.agent_get(id)).transpose()?.flatten();
    Ok(TaskComment {
        id: comment.number,
        agent_id: comment.agent,
        role: writer.map(|agent| agent.role),
        body: comment.body,
        created_at: comment.created_at,
    })
}

fn dispatch(tx: &Tx<'_>, dispatch: Dispatch) -> Result<TaskDispatch, ToolError> {
    let result = AgentResult::of_work(dispatch.result.as_deref());
    Ok(TaskDispatch {
        short: short(dispatch.agent),
        cost_usd: tx.agent_cost(dispatch.agent)?.map(model::money::Usd::dollars),
        agent_id: dispatch.agent,
        role: dispatch.role,
        status: dispatch.status.unwrap_or_else(|| "running".to_owned()),
        started_at: dispatch.started_at,
        ended_at: dispatch.ended_at,
        summary: result.map(|result| result.summary.chars().take(SUMMARY).collect()),
    })
}
