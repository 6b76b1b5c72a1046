//! For tests only: foreign programs that check our MCP server, and what they need around it.

pub mod conformance;
mod programs;
mod proxy;

pub use programs::{Client, node, python, run_client};
pub use proxy::Proxy;
