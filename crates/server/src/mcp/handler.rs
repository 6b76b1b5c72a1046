//! Our MCP server's handler.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use engine::{Failure, Output, Principal, ToolError};
use http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, ErrorCode, GetPromptRequestParams, GetPromptResponse, Implementation,
    InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::transport::streamable_http_server::session::SessionRestoreMarker;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio::time::timeout;

use crate::calls::{self, ToolRequest};
use crate::mcp::sessions::OPENER;
use crate::mcp::subscriptions::{self, Client, Listening};
use crate::mcp::visit::Visit;
use crate::mcp::{listing, prompts, resources};
use crate::shared::Shared;

type Answer<T> = Result<T, ErrorData>;
type Context = RequestContext<RoleServer>;

const INSTRUCTIONS: &str = "Adjutant's tools for a crew of agents. The list holds what you may \
    use. A failed call says in `code` and `message` what is wrong and in `suggestions` what to try. \
    Tools that wait answer after `waitSeconds` at the latest: call again to go on waiting.";

/// A client that does not take a word of progress for so long is not waited for.
const PROGRESS_TIMEOUT: Duration = Duration::from_secs(5);

/// Our MCP server, as `rmcp` wants it: one for each session, or for each request of the newer era.
pub(crate) struct McpHandler {
    shared: Arc<Shared>,
    /// Principal that opened it; every request is authenticated again
    opener: Option<Principal>,
    /// Subscription of a newer-era request, made before its answer so that it misses nothing
    early: Mutex<Option<Listening>>,
}

impl McpHandler {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        let opener = OPENER.try_with(|opener| *opener).ok();
        Self { shared: Arc::clone(shared), opener, early: Mutex::default() }
    }

    fn early(&self) -> MutexGuard<'_, Option<Listening>> {
        self.early.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session in which a request came, and where its client is told of changes.
    fn client(context: &Context, visit: &Visit) -> Answer<Client> {
        let session = context
            .extensions
            .get::<Parts>()
            .and_then(|parts| parts.headers.get("mcp-session-id"))
            .and_then(|id| id.to_str().ok())
            .ok_or_else(|| ErrorData::invalid_request("only a session can subscribe", None))?;
        let (owner, peer) = (visit.principal, context.peer.clone());
        Ok(Client { session: session.to_owned(), owner, peer })
    }
}

/// The same request for a version that we serve whole.
///
/// 2025-03-26 is the only version with JSON-RPC batches, which we do not serve. A client that asks for it
/// knows nothing newer, so it is offered the version before, which it knows as well.
fn agreeable(request: &InitializeRequestParams) -> InitializeRequestParams {
    let mut request = request.clone();
    if request.protocol_version == ProtocolVersion::V_2025_03_26 {
        request.protocol_version = ProtocolVersion::V_2024_11_05;
    }
    request
}

/// Origin of a request, as recorded by the gate and the endpoint.
fn visit(context: &Context) -> Answer<&Visit> {
    let parts = context.extensions.get::<Parts>();
    parts.and_then(|parts| parts.extensions.get::<Visit>()).ok_or_else(|| {
        tracing::error!("request reached MCP without authentication; refusing it");
        ErrorData::internal_error("the request has no caller", None)
    })
}

impl ServerHandler for McpHandler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .build();
        let server = Implementation::new("adjutant", self.shared.app.version.as_str());
        ServerConfig::new(capabilities).with_server_info(server).with_instructions(INSTRUCTIONS)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        let known = ProtocolVersion::KNOWN_VERSIONS.iter();
        known.filter(|version| **version != ProtocolVersion::V_2025_03_26).cloned().collect()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: Context,
    ) -> Answer<InitializeResult> {
        let answer = self.negotiate_initialize(&agreeable(&request))?;
        context.peer.set_peer_info(request);
        if let Some(marker) = context.extensions.get::<SessionRestoreMarker>() {
            let session = marker.id.to_string();
            let uris = self.shared.app.engine.mcp_subscriptions(&session);
            let uris = uris.map_err(|error| refused(&error))?;
            let (owner, peer) = (visit(&context)?.principal, context.peer.clone());
            subscriptions::resume(&self.shared, Client { session, owner, peer }, &uris);
        }
        Ok(answer)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Answer<ListToolsResult> {
        listing::tools(&self.shared, visit(&context)?).map_err(|error| refused(&error))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Answer<CallToolResponse> {
        let input = request.arguments.map_or(Value::Null, Value::Object);
        Ok(self.answer_call(&request.name, input, &context).await?.into())
    }

    /// `rmcp` takes a call whose `arguments` are no object for a method it does not know. It is a call,
    /// and its caller is told what is wrong with it as with any other input.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Answer<CustomResult> {
        if request.method != "tools/call" {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None));
        }
        let params = request.params.unwrap_or_default();
        let Some(name) = params["name"].as_str() else {
            let message = "`params.name` must be the name of a tool";
            return Err(ErrorData::invalid_params(message, None));
        };
        let answer = self.answer_call(name, params["arguments"].clone(), &context).await?;
        let answer =
            serde_json::to_value(answer).map_err(|error| refused(&ToolError::internal(error)))?;
        Ok(CustomResult::new(answer))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Answer<ListPromptsResult> {
        prompts::list(&self.shared, visit(&context)?).map_err(|error| refused(&error))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Answer<GetPromptResponse> {
        let prompt = prompts::get(&self.shared, visit(&context)?, request);
        Ok(prompt.map_err(|error| refused(&error))?.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Answer<ListResourcesResult> {
        resources::list(&self.shared, visit(&context)?.principal).map_err(|error| refused(&error))
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
        context: Context,
    ) -> Answer<ReadResourceResponse> {
        let principal = visit(&context)?.principal;
        let contents = resources::read(&self.shared, principal, &request.uri).await;
        Ok(contents.map_err(|error| refused(&error))?.into())
    }

    async fn subscribe(&self, request: SubscribeRequestParams, context: Context) -> Answer<()> {
        let visit = visit(&context)?;
        let client = Self::client(&context, visit)?;
        // What cannot be read cannot be listened to either.
        self.shared
            .app
            .engine
            .resource_check(visit.principal, &request.uri)
            .map_err(|error| refused(&error))?;
        let (session, uri) = (client.session.clone(), request.uri.clone());
        let engine = &self.shared.app.engine;
        engine.mcp_subscribe(session, uri).await.map_err(|error| refused(&error))?;
        subscriptions::subscribe(&self.shared, client, request.uri);
        Ok(())
    }

    async fn unsubscribe(&self, request: UnsubscribeRequestParams, context: Context) -> Answer<()> {
        let client = Self::client(&context, visit(&context)?)?;
        self.shared.subscriptions.unsubscribe(&client.session, &request.uri);
        let engine = &self.shared.app.engine;
        let done = engine.mcp_unsubscribe(client.session, request.uri).await;
        done.map_err(|error| refused(&error))
    }

    fn accepted_subscription_filter(
        &self,
        asked: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let opener = self.opener?;
        let uris = asked.resource_subscriptions.iter().flatten();
        let readable = |uri: &&String| self.shared.app.engine.resource_check(opener, uri).is_ok();
        let uris: HashSet<String> = uris.filter(readable).cloned().collect();
        let filter = SubscriptionFilter::builder().resource_subscriptions(uris.iter().cloned());
        *self.early() = Some(subscriptions::listen(&self.shared, opener, uris));
        Some(filter.build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Answer<()> {
        let listening = self.early().take();
        let listening = listening
            .ok_or_else(|| ErrorData::internal_error("the subscription has no listener", None))?;
        let tell = async {
            while let Some(uri) = listening.listener.next().await {
                if !listening.may_hear(&uri) {
                    continue;
                }
                if context.sink().notify_resource_updated(uri).await.is_err() {
                    break;
                }
            }
        };
        tokio::select! {
            () = tell => {}
            () = context.cancelled() => {}
            () = self.shared.app.shutdown.cancelled() => {}
        }
        Ok(())
    }
}

impl McpHandler {
    /// Calls a tool and answers with what came of it, or with why not.
    async fn answer_call(
        &self,
        name: &str,
        input: Value,
        context: &Context,
    ) -> Answer<CallToolResult> {
        let visit = visit(context)?;
        let settings = self.shared.app.engine.settings();
        let entry = match visit.mount.find(name, &settings) {
            Ok(entry) => entry,
            Err(error) => {
                return Ok(failed(unknown(&error, name, visit), visit.mount.toolset()));
            }
        };
        let parts = context.extensions.get::<Parts>();
        let key = parts.and_then(|parts| calls::key_of(&parts.headers));
        let tool_request =
            ToolRequest { principal: visit.principal, as_agent: None, entry, input, key };
        Ok(match self.call(tool_request, visit, context).await {
            Ok(output) => done(output),
            Err(failure) => failed(failure.body(), entry.def.toolset()),
        })
    }

    async fn call(
        &self,
        tool_request: ToolRequest,
        visit: &Visit,
        context: &Context,
    ) -> Result<Output, Failure> {
        let gone = async {
            match &visit.left {
                Some(left) => tokio::select! {
                    () = left.cancelled() => {}
                    () = context.ct.cancelled() => {}
                },
                None => context.ct.cancelled().await,
            }
        };
        let report = context.meta.get_progress_token().map(|token| {
            move |waited: Duration| {
                let message = format!("waiting, {} s", waited.as_secs());
                let waited = waited.as_secs_f64();
                let word =
                    ProgressNotificationParam::new(token.clone(), waited).with_message(message);
                async move {
                    // Who does not take it in time, or has left, misses nothing but this.
                    drop(timeout(PROGRESS_TIMEOUT, context.peer.notify_progress(word)).await);
                }
            }
        });
        calls::watch(&self.shared, tool_request, gone, report).await
    }
}

fn done(output: Output) -> CallToolResult {
    let value = output.value();
    let mut result = CallToolResult::success(vec![ContentBlock::text(output.text)]);
    result.structured_content = Some(value);
    result
}

pub(crate) fn failed(body: Value, toolset: &str) -> CallToolResult {
    let text = match body["message"].as_str() {
        Some(message) if toolset == "session" => format!("error: {message}"),
        _ => body.to_string(),
    };
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    result.structured_content = Some(body);
    result
}

fn unknown(error: &ToolError, name: &str, visit: &Visit) -> Value {
    // A toolset's seed may add fields to its errors, whichever tool was meant.
    let name: String = name.chars().take(200).collect();
    let name = match visit.mount.toolset() {
        set if set.is_empty() || name.starts_with("mcp__") => name,
        set => format!("mcp__{set}__{name}"),
    };
    error.body(&name, calls::agent_of(visit.principal))
}

/// A failure outside of tools, which have their own way to tell.
fn refused(error: &ToolError) -> ErrorData {
    let data = Some(crate::answer::body(error));
    let message = error.message.clone();
    match error.code {
        engine::Code::ResourceNotFound | engine::Code::AgentNotFound => {
            ErrorData::resource_not_found(message, data)
        }
        engine::Code::InvalidInput => ErrorData::invalid_params(message, data),
        engine::Code::InternalError => ErrorData::internal_error(message, data),
        _ => ErrorData::invalid_request(message, data),
    }
}
