//! The MCP conformance suite: the server it wants to meet, and how to run it.
//!
//! The suite calls tools, resources and prompts by fixed names. [`handler`] has them all, so that it can be
//! mounted on the production router and the suite judges our transport, sessions and checks.

#![expect(deprecated, reason = "the older era still has logging and resource subscriptions")]

mod changes;
mod content;
mod dialogue;
mod prompts;
mod resources;
mod rounds;
mod suite;
mod tools;

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CompletionInfo,
    GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, RequestStateCodec, ServerCapabilities,
    ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::sync::broadcast;

use changes::Change;
pub use suite::{Report, SpecVersion, run};

type Answer<T> = Result<T, ErrorData>;
type Context = RequestContext<RoleServer>;

/// Returns the server that the suite wants to meet.
pub fn handler() -> Fixtures {
    Fixtures(Arc::new(State {
        changes: broadcast::Sender::new(16),
        seal: RequestStateCodec::new_unchecked(*b"a key of 32 bytes, for tests only"),
    }))
}

/// Returns the same server behind `rmcp`'s own HTTP transport, with sessions in memory.
pub fn service(
    config: StreamableHttpServerConfig,
) -> StreamableHttpService<Fixtures, LocalSessionManager> {
    let fixtures = handler();
    StreamableHttpService::new(move || Ok(fixtures.clone()), Arc::default(), config)
}

/// A server with every tool, resource and prompt that the suite asks for.
#[derive(Clone)]
pub struct Fixtures(Arc<State>);

struct State {
    /// What `subscriptions/listen` passes on.
    changes: broadcast::Sender<Change>,
    /// Signs the `requestState` that clients bring back.
    seal: RequestStateCodec,
}

impl std::fmt::Debug for Fixtures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Fixtures")
    }
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_logging()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("adjutant-conformance", "1"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Answer<ListToolsResult> {
        Ok(tools::list())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::find(name).map(tools::Fixture::describe)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Answer<CallToolResponse> {
        tools::call(self.clone(), request, context).await
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Answer<ListResourcesResult> {
        Ok(resources::list())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Answer<ListResourceTemplatesResult> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Context,
    ) -> Answer<ReadResourceResponse> {
        resources::read(&request.uri).map(Into::into)
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: Context) -> Answer<()> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: Context) -> Answer<()> {
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Answer<()> {
        changes::follow(&context, self.0.changes.subscribe()).await;
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Answer<ListPromptsResult> {
        Ok(prompts::list())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: Context,
    ) -> Answer<GetPromptResponse> {
        prompts::get(&request)
    }

    async fn complete(&self, _: CompleteRequestParams, _: Context) -> Answer<CompleteResult> {
        let values = ["paris", "park", "party"].map(String::from).to_vec();
        let completion = CompletionInfo::with_all_values(values)
            .map_err(|problem| ErrorData::internal_error(problem, None))?;
        Ok(CompleteResult::new(completion))
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: Context) -> Answer<()> {
        Ok(())
    }
}
