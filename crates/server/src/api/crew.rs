//! The crew as people look at it: a tree that unfolds, flat lists, and the roles to start agents in.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::{CrewRequest, CrewStates, PastAgents, ToolError};
use model::{AgentId, Cursor};
use schemars::JsonSchema;
use serde::Deserialize;
use wire::crew::{Crew, CrewRows, Roles};

use super::paging::page_limit;
use crate::answer::{Answer, Params};
use crate::shared::Shared;

/// Rows refreshed at once.
const MAX_ROWS: usize = 200;
/// Lanes go back no further: a week.
const MAX_WINDOW_SECONDS: u32 = 7 * 24 * 60 * 60;
/// A longer text is not searched for.
const MAX_TEXT_CHARS: usize = 200;

/// Names of the state filters.
const STATES: [(&str, CrewStates); 5] = [
    ("all", CrewStates::Any),
    ("running", CrewStates::Running),
    ("waiting", CrewStates::Waiting),
    ("queued", CrewStates::Queued),
    ("ended", CrewStates::Ended),
];

/// Names of the treatments of past agents.
const PAST: [(&str, PastAgents); 3] =
    [("include", PastAgents::Include), ("leave", PastAgents::Leave), ("only", PastAgents::Only)];

/// Query for agents.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CrewQuery {
    /// Those that this agent started (default: those that the operator started)
    parent: Option<AgentId>,
    /// Instead of a level of the tree, a flat list of those that stand so: `all` (the default), `running`,
    /// `waiting`, `queued` in the order of the queue, or `ended`, the last one first
    state: Option<String>,
    /// Instead of a level of the tree, a flat list, newest first, of those whose role, id or task has this
    /// in it
    q: Option<String>,
    /// In the tree, what to do with those that ended more than ten minutes ago and have nobody live below
    /// them: `include` (the default), `leave`, or `only`, newest first
    past: Option<String>,
    /// Only those after this cursor
    #[serde(default)]
    after: Cursor,
    /// Page size, at most 1000
    limit: Option<u32>,
    /// Tell how each stood over so many seconds until now
    window: Option<u32>,
}

/// Agents by id.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CrewRowsQuery {
    /// Their ids, with commas between them; at most 200
    ids: String,
    /// Tell how each stood over so many seconds until now
    window: Option<u32>,
}

pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<CrewQuery>,
) -> Answer<Json<Crew>> {
    let states = chosen("state", asked.state.as_deref(), &STATES)?;
    let past = chosen("past", asked.past.as_deref(), &PAST)?;
    if asked.q.as_ref().is_some_and(|text| text.chars().count() > MAX_TEXT_CHARS) {
        let problem = format!("is longer than {MAX_TEXT_CHARS} characters");
        return Err(wrong("q", &problem).detail("limit", MAX_TEXT_CHARS).into());
    }
    let text = asked.q.filter(|text| !text.trim().is_empty());
    let is_flat = states != CrewStates::Any || text.is_some();
    if is_flat && asked.parent.is_some() {
        return Err(wrong("parent", "applies to the tree: omit `state` and `q`").into());
    }
    let request = CrewRequest {
        parent: asked.parent,
        states,
        text,
        past,
        after: asked.after.number(),
        limit: page_limit(asked.limit)?,
        window: window(asked.window)?,
    };
    Ok(Json(shared.app.engine.crew(request).await?))
}

pub(crate) async fn rows(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<CrewRowsQuery>,
) -> Answer<Json<CrewRows>> {
    let ids: Vec<&str> = asked.ids.split(',').filter(|id| !id.is_empty()).collect();
    if ids.len() > MAX_ROWS {
        let error = wrong("ids", &format!("has more than {MAX_ROWS} ids"));
        return Err(error.detail("limit", MAX_ROWS).into());
    }
    let read = |id: &str| {
        id.parse().map_err(|error| ToolError::invalid(format!("{error}")).detail("field", "ids"))
    };
    let ids = ids.into_iter().map(read).collect::<Result<Vec<AgentId>, ToolError>>()?;
    Ok(Json(shared.app.engine.crew_rows(ids, window(asked.window)?).await?))
}

pub(crate) async fn roles(State(shared): State<Arc<Shared>>) -> Json<Roles> {
    Json(shared.app.engine.roles())
}

fn wrong(field: &str, problem: &str) -> ToolError {
    ToolError::invalid(format!("`{field}` {problem}")).detail("field", field)
}

/// Length of lanes.
fn window(asked: Option<u32>) -> Result<Option<u32>, ToolError> {
    match asked {
        None | Some(1..=MAX_WINDOW_SECONDS) => Ok(asked),
        Some(_) => Err(wrong("window", &format!("must be from 1 to {MAX_WINDOW_SECONDS} seconds"))),
    }
}

/// The choice of that name, or the first where none is named.
fn chosen<T: Copy>(
    field: &str,
    name: Option<&str>,
    choices: &[(&'static str, T)],
) -> Result<T, ToolError> {
    let names = || choices.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", ");
    let found = match name {
        None => choices.first(),
        Some(name) => choices.iter().find(|(known, _)| *known == name),
    };
    let missing = || wrong(field, &format!("must be one of {}", names()));
    found.map(|(_, choice)| *choice).ok_or_else(missing)
}
