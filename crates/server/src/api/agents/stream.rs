//! Live transcript of an agent.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use engine::{Beginning, StreamRequest, ToolError};
use model::Cursor;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::Instant;
use wire::agents::{AgentStream, OutputPlace};

use crate::answer::{Answer, Params};
use crate::api::runs::{
    BYTES, FIRST_POLL_INTERVAL, MAX_OUTPUT_BYTES, MAX_POLL_INTERVAL, MAX_WAIT_SECONDS, wrong,
};
use crate::shared::Shared;

/// Nobody wants to begin further before the end.
const MAX_TAIL: usize = 5000;

/// Query for an agent's steps.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct StreamQuery {
    /// Of which attempt (default: the present one)
    attempt: Option<u32>,
    /// First file, from `next` of an earlier answer
    segment: Option<u32>,
    /// Position in it, from `next` of an earlier answer
    offset: Option<Cursor>,
    /// About how many bytes of output, at most 4194304 (default 262144)
    bytes: Option<usize>,
    /// Seconds to wait if there is nothing new, at most 60
    #[serde(default)]
    wait_seconds: u64,
    /// Begin about so many lines before the end, at most 5000; with `segment` and `offset`, before that place
    tail: Option<usize>,
    /// Cut nothing, however long it is
    #[serde(default)]
    whole: bool,
}

impl StreamQuery {
    fn request(&self) -> Result<StreamRequest, ToolError> {
        if self.wait_seconds > MAX_WAIT_SECONDS {
            let error = wrong("waitSeconds", &format!("must be at most {MAX_WAIT_SECONDS}"));
            return Err(error.detail("limit", MAX_WAIT_SECONDS));
        }
        let bytes = self.bytes.unwrap_or(BYTES);
        if !(1..=MAX_OUTPUT_BYTES).contains(&bytes) {
            return Err(wrong("bytes", &format!("must be from 1 to {MAX_OUTPUT_BYTES}")));
        }
        let place =
            |segment| OutputPlace { segment, offset: self.offset.unwrap_or_default().offset() };
        let from = match self.tail {
            None => Beginning::At(place(self.segment.unwrap_or_default())),
            Some(lines @ 1..=MAX_TAIL) => Beginning::Tail(lines, self.segment.map(place)),
            Some(_) => return Err(wrong("tail", &format!("must be from 1 to {MAX_TAIL}"))),
        };
        Ok(StreamRequest { attempt: self.attempt, from, bytes, whole: self.whole })
    }
}

pub(crate) async fn stream(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    Params(asked): Params<StreamQuery>,
) -> Answer<Json<AgentStream>> {
    let mut request = asked.request()?;
    let engine = &shared.app.engine;
    let agent = engine.run_agent(engine.agent_named(name).await?)?;
    if asked.attempt.is_some_and(|attempt| !(1..=agent.attempt).contains(&attempt)) {
        let error = wrong("attempt", &format!("must be from 1 to {}", agent.attempt));
        return Err(error.into());
    }
    let deadline = Instant::now() + Duration::from_secs(asked.wait_seconds);
    let mut pause = FIRST_POLL_INTERVAL;
    let mut began = None;
    loop {
        let mut page = engine.agent_stream(agent.id, request).await?;
        page.from = *began.get_or_insert(page.from);
        let is_earlier = matches!(request.from, Beginning::Tail(_, Some(_)));
        let over = !page.items.is_empty() || page.complete || is_earlier;
        if over || Instant::now() >= deadline || shared.app.shutdown.is_cancelled() {
            return Ok(Json(page));
        }
        // What comes after another attempt began is another output.
        request.attempt = Some(page.attempt);
        request.from = Beginning::At(page.next);
        if page.heard {
            // Much of the output is for programs: there may be more.
            continue;
        }
        tokio::select! {
            () = tokio::time::sleep_until(deadline.min(Instant::now() + pause)) => {}
            () = shared.app.shutdown.cancelled() => {}
        }
        pause = (pause * 2).min(MAX_POLL_INTERVAL);
    }
}
