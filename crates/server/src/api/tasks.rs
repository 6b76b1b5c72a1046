//! Tasks for people: the board, lists, single tasks and dependencies.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use engine::{BoardRequest, BoardSlice, ServerVariables, ToolError};
use model::{Column, Cursor, EpicId, TaskRef};
use schemars::JsonSchema;
use serde::Deserialize;
use wire::environment::{CheckEnvironment, CheckEnvironmentRequest};
use wire::tasks::{Board, TaskDetails, TaskGraph, TaskHistory, Tasks};

use super::paging::page_limit;
use crate::answer::{Answer, Input, Params};
use crate::shared::Shared;

/// A column has so many tasks at first unless told otherwise.
const FIRST: u32 = 25;

/// Query for the board.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BoardQuery {
    /// Only tasks of this epic
    epic: Option<EpicId>,
    /// Only those of this session
    session: Option<String>,
    /// Words in the title, the slug, the epic's title or the role of who has it; a number; or a priority, `p0` to `p4`.
    /// At most 500 tasks are found by words
    #[serde(default)]
    q: String,
    /// Page size per column, at most 1000
    limit: Option<u32>,
}

pub(crate) async fn board(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<BoardQuery>,
) -> Answer<Json<Board>> {
    let limit = page_limit(asked.limit.or(Some(FIRST)))?;
    let request = BoardRequest { epic: asked.epic, session: asked.session, words: asked.q };
    Ok(Json(shared.app.engine.board(request, limit).await?))
}

/// Query for tasks.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TasksQuery {
    /// Only of this column: `blocked`, `ready`, `inProgress`, `inReview` or `done`
    column: Option<String>,
    /// Only tasks of this epic
    epic: Option<EpicId>,
    /// Only those of this session
    session: Option<String>,
    /// Words, as for `/api/board`
    #[serde(default)]
    q: String,
    /// Only these, by number, with commas; nothing else counts then
    numbers: Option<String>,
    /// `nextCursor` of the page before
    after: Option<String>,
    /// Page size, at most 1000
    limit: Option<u32>,
}

pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<TasksQuery>,
) -> Answer<Json<Tasks>> {
    let engine = &shared.app.engine;
    if let Some(numbers) = &asked.numbers {
        return Ok(Json(engine.board_rows(numbers_of(numbers)?).await?));
    }
    let slice = BoardSlice {
        column: asked.column.as_deref().map(column_of).transpose()?,
        after: asked.after,
        limit: page_limit(asked.limit)?,
    };
    let request = BoardRequest { epic: asked.epic, session: asked.session, words: asked.q };
    Ok(Json(engine.board_page(request, slice).await?))
}

fn numbers_of(text: &str) -> Result<Vec<i64>, ToolError> {
    let number = |part: &str| {
        part.trim().parse().map_err(|_| {
            let shown: String = part.chars().take(80).collect();
            ToolError::invalid(format!("`{shown}` is not a task number"))
                .hint("pass numbers separated by commas, such as `numbers=12,13`")
                .detail("field", "numbers")
        })
    };
    text.split(',').filter(|part| !part.trim().is_empty()).map(number).collect()
}

fn column_of(name: &str) -> Result<Column, ToolError> {
    Column::parse(name).ok_or_else(|| {
        let shown: String = name.chars().take(80).collect();
        let known: Vec<&str> = Column::ALL.into_iter().map(Column::name).collect();
        ToolError::invalid(format!("there is no column `{shown}`"))
            .hint(format!("the columns are {}", known.join(", ")))
            .detail("field", "column")
    })
}

/// The task that a path names. People leave the `TAS-` out.
fn task_of(name: &str) -> Result<TaskRef, ToolError> {
    let digits = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    let parsed = if digits { format!("TAS-{name}").parse() } else { name.parse() };
    parsed.map_err(|error| {
        ToolError::invalid(format!("{error}"))
            .hint("`adjutant tasks` lists them")
            .detail("field", "ref")
    })
}

pub(crate) async fn hand_on(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    Input(asked): Input<CheckEnvironmentRequest>,
) -> Answer<Json<CheckEnvironment>> {
    let given = asked.environment.0.into_iter().collect();
    let servers =
        if asked.accept_servers { ServerVariables::Accepted } else { ServerVariables::Refused };
    let kept = shared.app.engine.hand_on_to_check(task_of(&name)?, given, servers);
    Ok(Json(kept.await?))
}

pub(crate) async fn show(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
) -> Answer<Json<TaskDetails>> {
    Ok(Json(shared.app.engine.whole_task(task_of(&name)?).await?))
}

/// Page of a history.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TaskHistoryQuery {
    /// `nextCursor` of the page before, or `historyCursor` of the task
    #[serde(default)]
    after: Cursor,
    /// Page size, at most 1000
    limit: Option<u32>,
}

pub(crate) async fn history(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    Params(asked): Params<TaskHistoryQuery>,
) -> Answer<Json<TaskHistory>> {
    let (task, limit) = (task_of(&name)?, page_limit(asked.limit)?);
    Ok(Json(shared.app.engine.task_history(task, asked.after.number(), limit).await?))
}

/// Query for the task graph.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TaskGraphQuery {
    /// Only tasks of this epic, and what stands beside them
    epic: Option<EpicId>,
    /// Only those of this session, and what stands beside them
    session: Option<String>,
    /// Words, as for `/api/board`
    #[serde(default)]
    q: String,
}

pub(crate) async fn graph(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<TaskGraphQuery>,
) -> Answer<Json<TaskGraph>> {
    let request = BoardRequest { epic: asked.epic, session: asked.session, words: asked.q };
    Ok(Json(shared.app.engine.board_graph(request).await?))
}
