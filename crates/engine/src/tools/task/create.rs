//! `mcp__task__create`.

use model::task::{Priority, TaskRef};
use model::{EpicId, Line, Text};
use schemars::JsonSchema;
use serde::Deserialize;
use wire::tasks::TaskView;

use crate::call::cx::WriteCx;
use crate::call::tool::{Tool, Write};
use crate::core::error::ToolError;
use crate::tasks::epic::find_epic;
use crate::tasks::task_add::{self, TaskDraft};
use crate::tasks::task_needs;
use crate::tasks::view::task_view;
use crate::tools::items::Items;

/// Create a task
///
/// A new task has no agent: `assign` gives it to one, `task-next` with `claim` takes it. Titles may
/// repeat; ids, slugs and numbers are unique.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// Title, one line
    title: Line<300>,
    /// Description
    description: Option<Text<100_000>>,
    /// The epic it belongs to
    epic_id: Option<EpicId>,
    /// Priority: 0 is the most urgent, 4 the least (default 2)
    priority: Option<Priority>,
    /// Tasks that it depends on: ids, slugs or numbers (`TAS-12`)
    depends_on: Option<Items<TaskRef, 0, 100>>,
    /// Its slug: lower case, digits and hyphens (made from the title by default)
    slug: Option<Line<80>>,
}

pub(crate) struct Create;

impl Tool for Create {
    const NAME: &'static str = "mcp__task__create";
    type Args = Args;
    type Answer = TaskView;
}

impl Write for Create {
    fn write(cx: &mut WriteCx<'_, '_>, args: Args) -> Result<TaskView, ToolError> {
        if let Some(epic) = args.epic_id {
            find_epic(cx.tx, epic)?;
        }
        let draft = TaskDraft {
            slug: args.slug.map(|slug| chosen(&slug)).transpose()?,
            title: args.title.into_inner(),
            description: args.description.map(Text::into_inner),
            priority: args.priority.unwrap_or_default(),
            epic: args.epic_id,
        };
        let mut task = task_add::add(cx, draft)?;
        let needs = args.depends_on.map(Items::into_inner).unwrap_or_default();
        task_needs::add(cx, &mut task, &needs)?;
        task_view(cx.tx, task)
    }
}

/// Given slug. One that reads as an id or a number would never be found again.
fn chosen(slug: &str) -> Result<String, ToolError> {
    match slug.parse() {
        Ok(TaskRef::Slug(slug)) => Ok(slug),
        _ => Err(ToolError::invalid(format!(
            "`slug`: `{slug}` is not a slug (expected lower case, digits and inner hyphens, and not \
             the form of an id or a number)"
        ))
        .detail("field", "slug")),
    }
}
