//! `mcp__session__session-complete`.

use model::task::{SessionStatus, TaskRef, TaskStateName};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use store::TaskFilter;
use wire::event::{EventData, SessionCompleted};
use wire::session::CompletedSession;

use crate::call::cx::WriteCx;
use crate::call::tool::{Tool, Write};
use crate::core::error::ToolError;

/// Open tasks listed in a refusal.
const NAMED: u32 = 20;

/// Mark the session as complete
///
/// Refused while tasks are remaining or in progress. Adding a task reopens it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {}

pub(crate) struct SessionComplete;

impl Tool for SessionComplete {
    const NAME: &'static str = "mcp__session__session-complete";
    const IDEMPOTENT: bool = true;
    type Args = Args;
    type Answer = CompletedSession;
}

impl Write for SessionComplete {
    fn write(cx: &mut WriteCx<'_, '_>, Args {}: Args) -> Result<CompletedSession, ToolError> {
        let session = cx.tx.session_ensure(cx.caller.session(), cx.now)?;
        refuse_open(cx, &session.name)?;
        if session.completed_at.is_none() {
            cx.tx.session_complete(&session.name, cx.now)?;
            let iteration = cx.caller.iteration_of(&session);
            let data = SessionCompleted { session: session.name.clone(), iteration };
            cx.tell(None, EventData::SessionCompleted(data))?;
        }
        Ok(CompletedSession { session: session.name, complete: true })
    }
}

fn refuse_open(cx: &WriteCx<'_, '_>, session: &str) -> Result<(), ToolError> {
    let open = [SessionStatus::Remaining, SessionStatus::InProgress];
    let filter = TaskFilter {
        states: open.into_iter().flat_map(SessionStatus::stored).collect::<Vec<TaskStateName>>(),
        epic: None,
        session: Some(session.to_owned()),
    };
    let page = cx.tx.task_page(&filter, 0, NAMED)?;
    if page.items.is_empty() {
        return Ok(());
    }
    let mut names: Vec<String> =
        page.items.iter().map(|task| TaskRef::Number(task.number).to_string()).collect();
    let tasks: Vec<Value> = page
        .items
        .into_iter()
        .map(|task| {
            json!({
                "id": TaskRef::Number(task.number), "content": task.title,
                "status": task.state.name().session(),
            })
        })
        .collect();
    if page.next.is_some() {
        names.push("and more".to_owned());
    }
    Err(ToolError::conflict(format!("session `{session}` has open tasks: {}", names.join(", ")))
        .detail("tasks", tasks)
        .hint("complete, block or cancel them first"))
}
