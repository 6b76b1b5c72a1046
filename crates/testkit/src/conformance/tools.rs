//! What a fixture tool is, and the list of them all.

use std::pin::Pin;

use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject,
    ListToolsResult, Tool, object,
};
use serde_json::{Value, json};

use super::{Answer, Context, Fixtures, changes, content, dialogue, rounds};

type Reply = Pin<Box<dyn Future<Output = Answer<CallToolResponse>> + Send>>;

/// One tool of the suite: its entry in `tools/list` and what it does.
pub(super) struct Fixture {
    name: &'static str,
    description: &'static str,
    input: fn() -> Value,
    run: fn(Call) -> Reply,
}

/// One call of a fixture tool.
pub(super) struct Call {
    pub(super) fixtures: Fixtures,
    pub(super) request: CallToolRequestParams,
    pub(super) context: Context,
}

impl Fixture {
    /// A tool without arguments.
    pub(super) const fn new(
        name: &'static str,
        description: &'static str,
        run: fn(Call) -> Reply,
    ) -> Self {
        Self { name, description, input: || json!({ "type": "object", "properties": {} }), run }
    }

    /// The same tool, with this schema for its arguments.
    pub(super) const fn taking(self, input: fn() -> Value) -> Self {
        Self { input, ..self }
    }

    /// Its entry in `tools/list`.
    pub(super) fn describe(&self) -> Tool {
        Tool::new(self.name, self.description, object((self.input)()))
    }
}

impl Call {
    /// The argument of this name, where it is a string.
    pub(super) fn text(&self, argument: &str) -> Option<&str> {
        self.request.arguments.as_ref().and_then(|all: &JsonObject| all.get(argument)?.as_str())
    }
}

/// A finished answer with this one text.
pub(super) fn say(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

/// A failed answer with this one text.
pub(super) fn fail(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::error(vec![ContentBlock::text(text)]).into()
}

fn all() -> impl Iterator<Item = &'static Fixture> {
    [content::TOOLS, dialogue::TOOLS, rounds::TOOLS, changes::TOOLS].into_iter().flatten()
}

pub(super) fn list() -> ListToolsResult {
    ListToolsResult::with_all_items(all().map(Fixture::describe).collect())
        .with_ttl_ms(1_000)
        .with_cache_scope(CacheScope::Private)
}

pub(super) fn find(name: &str) -> Option<&'static Fixture> {
    all().find(|tool| tool.name == name)
}

pub(super) async fn call(
    fixtures: Fixtures,
    request: CallToolRequestParams,
    context: Context,
) -> Answer<CallToolResponse> {
    let tool = find(&request.name).ok_or_else(|| {
        ErrorData::invalid_params(format!("there is no tool `{}`", request.name), None)
    })?;
    (tool.run)(Call { fixtures, request, context }).await
}
