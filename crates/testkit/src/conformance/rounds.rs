//! Tools that need something from the client before they can answer: it comes back with a second call.

#![expect(deprecated, reason = "the suite still asks for sampling and roots")]

use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, CreateMessageRequest, CreateMessageRequestParams, ElicitRequest,
    ElicitRequestParams, InputRequest, InputRequests, InputRequiredResult, InputResponses,
    ListRootsRequest, SamplingMessage,
};
use serde_json::{Value, json};

use super::Answer;
use super::dialogue::form;
use super::tools::{Call, Fixture, say};

pub(super) static TOOLS: &[Fixture] = &[
    Fixture::new("test_input_required_result_elicitation", "Need the user's name", |call| {
        Box::pin(async move {
            match given(call.request.input_responses.as_ref(), "user_name", "/content/name") {
                Some(name) => Ok(say(format!("Hello, {name}!"))),
                None => Ok(need([("user_name", ask_name()?)])),
            }
        })
    }),
    Fixture::new("test_input_required_result_sampling", "Need a word from the model", |call| {
        Box::pin(async move {
            let given =
                given(call.request.input_responses.as_ref(), "capital_question", "/content/text");
            match given {
                Some(text) => Ok(say(format!("The model says: {text}"))),
                None => Ok(need([("capital_question", prompt("What is the capital of France?"))])),
            }
        })
    }),
    Fixture::new("test_input_required_result_list_roots", "Need the client's roots", |call| {
        Box::pin(async move {
            match given(call.request.input_responses.as_ref(), "client_roots", "/roots") {
                Some(roots) => Ok(say(format!("The roots are {roots}"))),
                None => Ok(need([("client_roots", roots())])),
            }
        })
    }),
    Fixture::new("test_input_required_result_request_state", "Need a confirmation", |call| {
        Box::pin(async move { confirm(&call) })
    }),
    Fixture::new("test_input_required_result_tampered_state", "Refuse a forged state", |call| {
        Box::pin(async move { confirm(&call) })
    }),
    Fixture::new("test_input_required_result_multiple_inputs", "Need three things", |call| {
        Box::pin(async move { three_things(&call) })
    }),
    Fixture::new("test_input_required_result_multi_round", "Need two rounds", |call| {
        Box::pin(async move { two_rounds(&call) })
    }),
    Fixture::new(
        "test_input_required_result_capabilities",
        "Need what the client offers",
        |call| Box::pin(async move { what_is_offered(&call) }),
    ),
    Fixture::new("test_streaming_elicitation", "Need a value", |_| {
        Box::pin(async { Ok(need([("value", ask("Which value?", "value", "string")?)])) })
    }),
];

fn confirm(call: &Call) -> Answer<CallToolResponse> {
    if round(call)?.is_some() {
        return Ok(say("state-ok"));
    }
    need_and_remember(call, 1, [("confirm", ask("Please confirm", "ok", "boolean")?)])
}

fn three_things(call: &Call) -> Answer<CallToolResponse> {
    let needed = [
        ("user_name", ask_name()?),
        ("greeting", prompt("Generate a greeting")),
        ("client_roots", roots()),
    ];
    let responses = call.request.input_responses.as_ref();
    let complete = needed.iter().all(|(key, _)| given(responses, key, "").is_some());
    if round(call)?.is_some() && complete {
        return Ok(say("All three are here."));
    }
    need_and_remember(call, 1, needed)
}

fn two_rounds(call: &Call) -> Answer<CallToolResponse> {
    match round(call)? {
        None => {
            let name = ask("Step 1: What is your name?", "name", "string")?;
            need_and_remember(call, 1, [("step1", name)])
        }
        Some(1) => {
            let color = ask("Step 2: What is your favorite color?", "color", "string")?;
            need_and_remember(call, 2, [("step2", color)])
        }
        Some(_) => Ok(say("Both rounds are done.")),
    }
}

fn what_is_offered(call: &Call) -> Answer<CallToolResponse> {
    let offered = call.context.client_capabilities().unwrap_or_default();
    let mut needed = Vec::new();
    if offered.elicitation.is_some() {
        needed.push(("user_name", ask_name()?));
    }
    if offered.sampling.is_some() {
        needed.push(("greeting", prompt("Generate a greeting")));
    }
    if offered.roots.is_some() {
        needed.push(("client_roots", roots()));
    }
    if needed.is_empty() || call.request.input_responses.is_some() {
        return Ok(say("There is nothing more to ask."));
    }
    Ok(need(needed))
}

/// Returns the round that this call continues, from the signed state that it brings back.
fn round(call: &Call) -> Answer<Option<u64>> {
    let Some(sealed) = &call.request.request_state else { return Ok(None) };
    let round = call.fixtures.0.seal.open_json(sealed);
    round.map(Some).map_err(|_| ErrorData::invalid_params("the request state was changed", None))
}

/// Asks for these, and has the client bring back the number of the round.
fn need_and_remember(
    call: &Call,
    round: u64,
    requests: impl IntoIterator<Item = (&'static str, InputRequest)>,
) -> Answer<CallToolResponse> {
    let state = call.fixtures.0.seal.seal_json(&round);
    let state = state.map_err(|problem| ErrorData::internal_error(problem.to_string(), None))?;
    Ok(InputRequiredResult::new(Some(keyed(requests)), Some(state)).into())
}

/// Asks for these before the request can be answered.
pub(super) fn need<T: From<InputRequiredResult>>(
    requests: impl IntoIterator<Item = (&'static str, InputRequest)>,
) -> T {
    InputRequiredResult::from_input_requests(keyed(requests)).into()
}

fn keyed(requests: impl IntoIterator<Item = (&'static str, InputRequest)>) -> InputRequests {
    requests.into_iter().map(|(key, request)| (key.to_owned(), request)).collect()
}

/// Returns what the client answered under `key`, at `pointer`; a string without its quotes.
pub(super) fn given(
    responses: Option<&InputResponses>,
    key: &str,
    pointer: &str,
) -> Option<String> {
    let value = responses?.get(key)?.pointer(pointer)?;
    Some(value.as_str().map_or_else(|| value.to_string(), String::from))
}

/// A question to the user for one field.
pub(super) fn ask(message: &str, field: &str, kind: &str) -> Answer<InputRequest> {
    let schema: Value = json!({
        "type": "object",
        "properties": { field: { "type": kind } },
        "required": [field],
    });
    Ok(InputRequest::Elicitation(ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.to_owned(),
        requested_schema: form(schema)?,
    })))
}

fn ask_name() -> Answer<InputRequest> {
    ask("What is your name?", "name", "string")
}

fn prompt(text: &str) -> InputRequest {
    let messages = vec![SamplingMessage::user_text(text)];
    InputRequest::CreateMessage(CreateMessageRequest::new(CreateMessageRequestParams::new(
        messages, 100,
    )))
}

fn roots() -> InputRequest {
    InputRequest::ListRoots(ListRootsRequest::default())
}
