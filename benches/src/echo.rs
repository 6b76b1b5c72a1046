//! What could at most be had: a bare axum and a bare rmcp that send back what they get.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use clap::ValueEnum;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, object,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;
use tokio::net::TcpListener;

use crate::program::{self, Running};

/// A baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Echo {
    /// HTTP and nothing more
    Axum,
    /// MCP and nothing more
    Rmcp,
}

impl Echo {
    /// Its name for people.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Axum => "axum echo",
            Self::Rmcp => "rmcp echo",
        }
    }

    /// Is this server, until somebody ends it.
    pub(crate) async fn serve(self) -> Result<()> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("no port")?;
        crate::report::say(&listener.local_addr().context("no address")?.to_string());
        let router = match self {
            Self::Axum => Router::new().route("/mcp", post(|body: Bytes| async { body })),
            Self::Rmcp => Router::new().nest_service("/mcp", service()),
        };
        axum::serve(listener, router).await.context("the echo ended")
    }

    /// Starts this server as a process of its own.
    pub(crate) fn start(self) -> Result<(Running, SocketAddr)> {
        let name = match self {
            Self::Axum => "axum",
            Self::Rmcp => "rmcp",
        };
        let mut running = program::again(&["--echo", name])?;
        let address = running.first_line()?.parse().context("no address")?;
        Ok((running, address))
    }
}

fn service() -> StreamableHttpService<Handler, LocalSessionManager> {
    let mut config = StreamableHttpServerConfig::default();
    config.json_response = true;
    config.legacy_session_mode = false;
    StreamableHttpService::new(|| Ok(Handler), Arc::default(), config)
}

#[derive(Debug, Clone)]
struct Handler;

fn echo() -> Tool {
    let input = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
    Tool::new("echo", "Send the text back", object(input))
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![echo()]))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        (name == "echo").then(echo)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = request.arguments.as_ref().and_then(|all| all.get("text")?.as_str());
        Ok(CallToolResult::success(vec![ContentBlock::text(text.unwrap_or_default())]).into())
    }
}
