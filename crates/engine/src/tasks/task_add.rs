//! Creates tasks. Every tool creates tasks through this module.

use model::task::Priority;
use model::{EpicId, TaskId};
use store::{NewTask, Task, Tx};
use wire::event::{EventData, TaskCreated};

use crate::call::cx::{WriteCx, fresh};
use crate::core::error::ToolError;
use crate::core::redact::redact;

/// Fields of a new task.
#[derive(Debug, Default)]
pub(crate) struct TaskDraft {
    /// Its slug; made from the title where absent
    pub(crate) slug: Option<String>,
    pub(crate) title: String,
    pub(crate) description: Option<String>,
    pub(crate) priority: Priority,
    /// An epic that is there: the caller has looked
    pub(crate) epic: Option<EpicId>,
}

/// Adds a task to the caller's session, and tells of it. New work opens a completed session again.
pub(crate) fn add(cx: &mut WriteCx<'_, '_>, draft: TaskDraft) -> Result<Task, ToolError> {
    let name = cx.caller.session();
    let session = cx.tx.session_ensure(name, cx.now)?;
    if session.completed_at.is_some() {
        cx.tx.session_reopen(name)?;
    }
    let id = fresh(TaskId::from_bits)?;
    let slug = match draft.slug {
        Some(slug) if cx.tx.task_slug_exists(&slug)? => {
            return Err(ToolError::conflict(format!("the slug `{slug}` is taken"))
                .detail("slug", slug)
                .hint("choose another, or omit `slug`"));
        }
        Some(slug) => slug,
        None => {
            // A slug is made of the words that everybody may read.
            let title = redact(draft.title.clone());
            free_slug(cx.tx, &model::slug::slug(&title, cx.now), id)?
        }
    };
    let new = NewTask {
        id,
        slug,
        iteration: cx.caller.iteration_of(&session),
        session: session.name,
        title: draft.title,
        description: draft.description,
        priority: draft.priority,
        epic: draft.epic,
    };
    let task = cx.tx.task_insert(&new, cx.now)?;
    let data = EventData::TaskCreated(TaskCreated {
        task_id: task.id,
        slug: task.slug.clone(),
        number: task.number,
        title: task.title.clone(),
        epic_id: task.epic,
        session: task.session.clone(),
        priority: task.priority,
    });
    cx.tell(Some(task.id), data)?;
    Ok(task)
}

/// The slug itself or, where it is taken, the first free one of `-2`, `-3`…
fn free_slug(tx: &Tx<'_>, wanted: &str, id: TaskId) -> Result<String, ToolError> {
    if !tx.task_slug_exists(wanted)? {
        return Ok(wanted.to_owned());
    }
    for count in 2..100 {
        let slug = format!("{wanted}-{count}");
        if !tx.task_slug_exists(&slug)? {
            return Ok(slug);
        }
    }
    // So many of one name in a minute: counting on would take longer with each, an id is unique.
    Ok(format!("{wanted}-{}", id.to_string().trim_start_matches(TaskId::PREFIX)))
}
