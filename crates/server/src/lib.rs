//! The interfaces for programs: MCP, `POST /mcp/execute` and `/api`, behind one gate.
//!
//! Every request passes the same checks (`Host`, `Origin`, size, token) before any face sees it, and
//! every call of a tool leaves through `calls`, which knows the engine's door and nothing deeper.
//!
//! See ARCHITECTURE.md, “server”.

mod activity;
mod answer;
mod api;
mod app;
mod auth;
mod calls;
mod connections;
mod counters;
mod execute;
mod files;
mod gateway;
mod guard;
mod mcp;
mod metrics;
mod page;
mod paths;
mod proof;
mod registry;
mod server;
mod shared;
mod tail;

pub use activity::Activity;
pub use api::openapi::document as openapi_document;
pub use app::{App, OwnedSharedHome, Reload, ReloadScope, SharedHomeProbe};
pub use connections::ConnectionLimits;
pub use files::{FileChange, Files};
pub use gateway::homes::{HomeWay, HomesGateway, HomesGatewayOptions, HomesProbe};
pub use gateway::{Gateway, GatewayOptions, GatewayProbe, HomeRole};
pub use page::{PageFile, built_page};
pub use server::{Drain, Server, router};
