//! Tools that talk to the client while they run: progress, log lines, and questions of the older era.

#![expect(deprecated, reason = "the suite still asks for logging and sampling")]

use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, ClientCapabilities, CreateMessageRequestParams, ElicitRequestParams,
    ElicitationSchema, LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam,
    SamplingMessage,
};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::Answer;
use super::tools::{Call, Fixture, fail, say};

/// How long the suite wants to see between two notifications.
const STEP_DELAY: Duration = Duration::from_millis(50);

pub(super) static TOOLS: &[Fixture] = &[
    Fixture::new("test_tool_with_progress", "Report progress", |call| Box::pin(progress(call))),
    Fixture::new("test_tool_with_logging", "Write three log lines", |call| Box::pin(log(call))),
    Fixture::new("test_logging_tool", "Write a log line if the request asks for it", |call| {
        Box::pin(log_on_request(call))
    }),
    Fixture::new("test_reconnection", "Answer after a while", |_| {
        Box::pin(async {
            sleep(STEP_DELAY * 2).await;
            Ok(say("The connection was kept or resumed."))
        })
    }),
    Fixture::new("test_sampling", "Ask the client's model", |call| Box::pin(sample(call)))
        .taking(|| one_string("prompt")),
    Fixture::new("test_elicitation", "Ask the client's user", |call| {
        Box::pin(async move {
            let message = call.text("message").unwrap_or("Who are you?").to_owned();
            elicit(&call, message, person()).await
        })
    })
    .taking(|| one_string("message")),
    Fixture::new("test_elicitation_sep1034_defaults", "Ask with defaults", |call| {
        Box::pin(async move { elicit(&call, "Is this right?".to_owned(), defaults()).await })
    }),
    Fixture::new("test_elicitation_sep1330_enums", "Ask with choices", |call| {
        Box::pin(async move { elicit(&call, "Please choose.".to_owned(), choices()).await })
    }),
    Fixture::new("test_missing_capability", "Need a client that offers sampling", |call| {
        Box::pin(async move {
            let offered = call.context.client_capabilities().unwrap_or_default();
            if offered.sampling.is_some() {
                return Ok(say("The client offers sampling."));
            }
            let needed = ClientCapabilities::builder().enable_sampling().build();
            Err(ErrorData::missing_required_client_capability(needed))
        })
    }),
];

async fn progress(call: Call) -> Answer<CallToolResponse> {
    for percent in [0.0, 50.0, 100.0] {
        if let Some(token) = call.context.meta.get_progress_token() {
            let report = ProgressNotificationParam::new(token, percent).with_total(100.0);
            call.context.peer.notify_progress(report).await.map_err(lost)?;
        }
        sleep(STEP_DELAY).await;
    }
    Ok(say("Progress was reported."))
}

async fn log(call: Call) -> Answer<CallToolResponse> {
    for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        let line = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(line));
        call.context.peer.notify_logging_message(line).await.map_err(lost)?;
        sleep(STEP_DELAY).await;
    }
    Ok(say("Three lines were logged."))
}

async fn log_on_request(call: Call) -> Answer<CallToolResponse> {
    if let Some(level) = call.context.meta.log_level() {
        let line = LoggingMessageNotificationParam::new(level, json!("as you wish"));
        call.context.peer.notify_logging_message(line).await.map_err(lost)?;
    }
    Ok(say("Logged if asked."))
}

async fn sample(call: Call) -> Answer<CallToolResponse> {
    let prompt = SamplingMessage::user_text(call.text("prompt").unwrap_or("Hello"));
    let request = CreateMessageRequestParams::new(vec![prompt], 100);
    Ok(match call.context.peer.create_message(request).await {
        Ok(reply) => {
            let text = reply.message.content.first().and_then(|part| part.as_text());
            say(format!("LLM response: {}", text.map_or("", |text| &text.text)))
        }
        Err(problem) => fail(format!("the client did not sample: {problem}")),
    })
}

async fn elicit(call: &Call, message: String, schema: Value) -> Answer<CallToolResponse> {
    let request = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: form(schema)?,
    };
    Ok(match call.context.peer.create_elicitation(request).await {
        Ok(reply) => {
            let content = reply.content.unwrap_or_default();
            say(format!("User response: action={:?}, content={content}", reply.action))
        }
        Err(problem) => fail(format!("the client did not ask: {problem}")),
    })
}

/// Returns the form with this schema.
pub(super) fn form(schema: Value) -> Answer<ElicitationSchema> {
    serde_json::from_value(schema)
        .map_err(|problem| ErrorData::internal_error(problem.to_string(), None))
}

fn lost(problem: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(problem.to_string(), None)
}

fn one_string(name: &str) -> Value {
    json!({ "type": "object", "properties": { name: { "type": "string" } }, "required": [name] })
}

fn person() -> Value {
    json!({
        "type": "object",
        "properties": {
            "username": { "type": "string", "description": "User's response" },
            "email": { "type": "string", "description": "User's email address" },
        },
        "required": ["username", "email"],
    })
}

fn defaults() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "default": "John Doe" },
            "age": { "type": "integer", "default": 30 },
            "score": { "type": "number", "default": 95.5 },
            "status": {
                "type": "string",
                "enum": ["active", "inactive", "pending"],
                "default": "active",
            },
            "verified": { "type": "boolean", "default": true },
        },
    })
}

fn choices() -> Value {
    let plain = json!(["option1", "option2", "option3"]);
    let titled = json!([
        { "const": "value1", "title": "First" },
        { "const": "value2", "title": "Second" },
        { "const": "value3", "title": "Third" },
    ]);
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "enum": plain },
            "titledSingle": { "type": "string", "oneOf": titled },
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": { "type": "array", "items": { "type": "string", "enum": plain } },
            "titledMulti": { "type": "array", "items": { "anyOf": titled } },
        },
    })
}
