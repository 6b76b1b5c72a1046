//! Look-ups in the record with errors that name what is missing, and new ids.

use model::task::TaskRef;
use model::{AgentId, TaskId};
use store::{Agent, StoreError, Task, Tx};

use crate::core::error::{Code, ToolError};

/// A new id, from random bits.
pub(crate) fn fresh<I>(from_bits: fn(u64) -> I) -> Result<I, ToolError> {
    host::random::bits().map(from_bits).map_err(ToolError::internal)
}

/// The task of that name, or an error that names the nearest.
pub(crate) fn find_task(tx: &Tx<'_>, name: &TaskRef) -> Result<Task, ToolError> {
    if let Some(task) = tx.task_find(name)? {
        return Ok(task);
    }
    let error = ToolError::not_found(format!("there is no task `{name}`"));
    let TaskRef::Slug(slug) = name else { return Err(error) };
    let recent = tx.task_recent_slugs(500)?;
    Err(match model::nearest::nearest(slug, recent.iter().map(String::as_str)) {
        Some(near) => error.hint(format!("did you mean `{near}`?")).detail("nearest", near),
        None => error.hint("`list_tasks` lists them"),
    })
}

/// The task of that id, if there is one: what an agent has to do, say.
pub(crate) fn task_of(tx: &Tx<'_>, id: Option<TaskId>) -> Result<Option<Task>, StoreError> {
    Ok(id.map(|id| tx.task_find(&TaskRef::Id(id))).transpose()?.flatten())
}

/// The agent of that id, or an error that says how to list them.
pub(crate) fn find_agent(tx: &Tx<'_>, id: AgentId) -> Result<Agent, ToolError> {
    tx.agent_get(id)?.ok_or_else(|| {
        ToolError::new(Code::AgentNotFound, format!("there is no agent `{id}`"))
            .hint("`list_agents` lists live agents ended")
    })
}
