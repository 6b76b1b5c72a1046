//! For tests only: a world for the real binary, foreign programs that check our MCP server, and the reader of the book.

pub mod book;
pub mod conformance;
mod events;
pub mod github;
pub mod llm;
pub mod network;
pub mod newcomer;
pub mod packages;
pub mod pgbouncer;
pub mod postgres;
mod programs;
pub mod projects;
mod proxy;
mod receiver;
pub mod slack;
pub mod tls;
mod world;

pub use events::event_of;
pub use programs::{Client, node, python, run_client};
pub use proxy::Proxy;
pub use receiver::{Reaction, ReceivedMessage, Receiver};
pub use world::{Agent, CommandOutput, Http, Server, World};
