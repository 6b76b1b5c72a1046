//! Mails for people to look through: those to the human and those between agents, and their threads. Reading one,
//! answering and sending are tools.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use engine::ToolError;
use engine::views::MailListRequest;
use model::{AgentId, Cursor, MailId};
use schemars::JsonSchema;
use serde::Deserialize;
use wire::mail::{MailFolder, MailList, Thread};

use super::paging::page_limit;
use crate::answer::{Answer, Params};
use crate::shared::Shared;

/// No search is for longer words.
const MAX_SEARCH_CHARS: usize = 200;

/// Query for mails.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct MailQuery {
    /// `me`: for the human; `asks`: those of them that wait for an answer; `agents`: for agents; `alerts`: for the human,
    /// about failures; `sent`: from the human. Absent is `me`, or all where `agent` is given
    #[serde(rename = "box")]
    of: Option<MailFolder>,
    /// Only those to or from this agent
    agent: Option<AgentId>,
    /// Only those whose subject or text has these words; of a long text only the two ends are looked at
    #[schemars(length(max = 200))]
    q: Option<String>,
    /// `nextCursor` of the page before
    after: Option<Cursor>,
    /// Page size, at most 1000
    limit: Option<u32>,
}

pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<MailQuery>,
) -> Answer<Json<MailList>> {
    let limit = page_limit(asked.limit)?;
    let text = asked.q.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    if text.as_ref().is_some_and(|text| text.chars().count() > MAX_SEARCH_CHARS) {
        let message = format!("`q` is longer than {MAX_SEARCH_CHARS} characters");
        return Err(ToolError::invalid(message).detail("field", "q").into());
    }
    let engine = &shared.app.engine;
    if let Some(agent) = asked.agent {
        engine.check_agent(agent)?;
    }
    let of = asked.of.or(if asked.agent.is_none() { Some(MailFolder::Me) } else { None });
    let request = MailListRequest {
        of,
        agent: asked.agent,
        text,
        before: asked.after.map(Cursor::number),
        limit,
    };
    Ok(Json(engine.letters(request).await?))
}

pub(crate) async fn thread(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
) -> Answer<Json<Thread>> {
    let id: MailId = id.parse().map_err(|error| {
        ToolError::invalid(format!("{error}"))
            .hint("`GET /api/mail` lists mail")
            .detail("field", "id")
    })?;
    Ok(Json(shared.app.engine.thread(id).await?))
}
