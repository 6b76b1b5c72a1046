//! `POST /mcp/execute`: a tool by its canonical name, in the office's shapes.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::{Request, State};
use axum::response::Response;
use engine::{Failure, Principal, ToolError};
use http::StatusCode;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use wire::tools::ExecuteRequest;

use crate::answer::{Refusal, add_headers, body, json_response, read_json, status_of};
use crate::calls::{self, ToolRequest};
use crate::registry::Mount;
use crate::shared::Shared;

pub(crate) async fn execute(
    State(shared): State<Arc<Shared>>,
    Extension(principal): Extension<Principal>,
    request: Request,
) -> Response {
    let key = calls::key_of(request.headers());
    let tool_request = match read_json(request.into_body()).await {
        Ok(value) => understand(&shared, principal, &value)
            .map(|tool_request| ToolRequest { key, ..tool_request }),
        Err(refusal) => Err(refused(refusal)),
    };
    let tool_request = match tool_request {
        Ok(tool_request) => tool_request,
        Err(refused) => return refused.answer(&shared),
    };
    // A caller that leaves ends the waiting, but what was begun is finished and recorded.
    let left = CancellationToken::new();
    let leaving = left.clone().drop_guard();
    let task = {
        let shared = Arc::clone(&shared);
        async move {
            let gone = left.cancelled();
            calls::watch(
                &shared,
                tool_request,
                gone,
                None::<fn(Duration) -> std::future::Ready<()>>,
            )
            .await
        }
    };
    let answer = shared.tasks.spawn(task).await;
    drop(leaving);
    match answer {
        Ok(Ok(output)) => {
            let (data, now) = (output.text, shared.app.engine.now());
            let text = format!(r#"{{"success":true,"data":{data},"timestamp":"{now}"}}"#);
            json_response(StatusCode::OK, text)
        }
        Ok(Err(failure)) => Refused::from(failure).answer(&shared),
        Err(broken) => Refused::from(ToolError::internal(broken)).answer(&shared),
    }
}

/// A call that was refused or failed.
struct Refused {
    status: StatusCode,
    code: engine::Code,
    body: Value,
}

impl From<ToolError> for Refused {
    fn from(error: ToolError) -> Self {
        Self { status: status_of(error.code), code: error.code, body: body(&error) }
    }
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        let code = failure.error.code;
        Self { status: status_of(code), code, body: failure.body() }
    }
}

fn refused(refusal: Refusal) -> Refused {
    let (status, error) = refusal.into_parts();
    Refused { status, ..error.into() }
}

impl Refused {
    fn answer(self, shared: &Shared) -> Response {
        let now = shared.app.engine.now();
        let text = json!({ "success": false, "error": self.body, "timestamp": now }).to_string();
        let mut response = json_response(self.status, text);
        add_headers(&mut response, self.code);
        response
    }
}

/// Reads a request: first who calls, then which tool.
fn understand(
    shared: &Shared,
    principal: Principal,
    value: &Value,
) -> Result<ToolRequest, Refused> {
    let ExecuteRequest { agent_id: as_agent, tool_name, input } = engine::parse_input(value)?;
    match Mount::ALL.find(&tool_name, &shared.app.engine.settings()) {
        Ok(entry) => Ok(ToolRequest { principal, as_agent, entry, input, key: None }),
        Err(unknown) => {
            let caller = shared.app.engine.caller(principal, as_agent)?;
            let name: String = tool_name.chars().take(200).collect();
            let body = unknown.body(&name, caller.id());
            Err(Refused { status: status_of(unknown.code), code: unknown.code, body })
        }
    }
}
