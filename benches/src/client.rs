//! A client that makes one call after the other, on a connection of its own.

use std::net::SocketAddr;

use anyhow::{Context as _, Result, ensure};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::wire::{Call, Endpoint, Template};

/// Connects, and leaves the connection's own work to `connections`.
pub(crate) async fn connect(
    address: SocketAddr,
    connections: &mut JoinSet<Result<(), hyper::Error>>,
) -> Result<SendRequest<Full<Bytes>>> {
    let stream = TcpStream::connect(address).await.context("no server")?;
    stream.set_nodelay(true).context("nodelay")?;
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.context("no HTTP")?;
    connections.spawn(connection);
    Ok(sender)
}

/// Sends a request and gives the text of its answer, which must be a good one.
pub(crate) async fn send(
    sender: &mut SendRequest<Full<Bytes>>,
    template: &Template,
) -> Result<Bytes> {
    sender.ready().await.context("the server hung up")?;
    let response = sender.send_request(template.request()?).await.context("no answer")?;
    let status = response.status();
    let body = response.into_body().collect().await.context("half an answer")?.to_bytes();
    ensure!(status.is_success(), "refused with {status}: {}", String::from_utf8_lossy(&body));
    Ok(body)
}

/// Somebody with a token and a connection.
#[derive(Debug)]
pub(crate) struct Client {
    sender: SendRequest<Full<Bytes>>,
    token: String,
    /// Held, so that the connection lives as long as its client
    _connections: JoinSet<Result<(), hyper::Error>>,
}

impl Client {
    /// Connects.
    pub(crate) async fn new(address: SocketAddr, token: &str) -> Result<Self> {
        let mut connections = JoinSet::new();
        let sender = connect(address, &mut connections).await?;
        Ok(Self { sender, token: token.to_owned(), _connections: connections })
    }

    /// Calls a tool and gives what it answers.
    pub(crate) async fn call(&mut self, call: &Call) -> Result<Value> {
        let template = Template::new(Endpoint::Execute, call, &self.token)?;
        let mut answer = json(&send(&mut self.sender, &template).await?)?;
        ensure!(answer["success"] == true, "{} failed: {answer}", call.canonical);
        Ok(answer["data"].take())
    }

    /// Asks for a document.
    pub(crate) async fn get(&mut self, path: &str) -> Result<Value> {
        json(&send(&mut self.sender, &Template::get(path, &self.token)?).await?)
    }
}

fn json(body: &Bytes) -> Result<Value> {
    serde_json::from_slice(body).context("an answer that is no JSON")
}
