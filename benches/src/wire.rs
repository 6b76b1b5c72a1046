//! Requests as they go over the wire: MCP of 2026-07-28, and `POST /mcp/execute`.

use anyhow::{Context as _, Result};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, header};
use http_body_util::Full;
use hyper::body::Bytes;
use serde_json::{Value, json};

const PROTOCOL: &str = "2026-07-28";

/// Which face is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// `/mcp`
    Mcp,
    /// `/mcp/execute`
    Execute,
}

impl Endpoint {
    /// Its path.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Mcp => "/mcp",
            Self::Execute => "/mcp/execute",
        }
    }
}

/// A tool and what it is called with.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// The name where all toolsets are together
    pub(crate) joined: &'static str,
    /// The canonical name
    pub(crate) canonical: &'static str,
    /// What goes in
    pub(crate) input: Value,
    /// Whether it is to be told of progress, where that can be asked for
    pub(crate) progress: bool,
}

/// A request that can be sent again and again.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    method: Method,
    path: String,
    headers: HeaderMap,
    body: Bytes,
}

impl Template {
    /// The call on that face, with that token.
    pub(crate) fn new(face: Endpoint, call: &Call, token: &str) -> Result<Self> {
        let mut headers = headers(token)?;
        let mut put = |name: HeaderName, value: &str| put(&mut headers, name, value);
        put(header::CONTENT_TYPE, "application/json")?;
        put(header::ACCEPT, "application/json, text/event-stream")?;
        let body = match face {
            Endpoint::Execute => json!({ "toolName": call.canonical, "input": call.input }),
            Endpoint::Mcp => {
                put(HeaderName::from_static("mcp-protocol-version"), PROTOCOL)?;
                put(HeaderName::from_static("mcp-method"), "tools/call")?;
                put(HeaderName::from_static("mcp-name"), call.joined)?;
                let params = json!({ "name": call.joined, "arguments": call.input });
                let mut body = request("tools/call", &params);
                if call.progress {
                    body["params"]["_meta"]["progressToken"] = json!(1);
                }
                body
            }
        };
        let (method, path) = (Method::POST, face.path().to_owned());
        Ok(Self { method, path, headers, body: body.to_string().into() })
    }

    /// A request for a document, with that token.
    pub(crate) fn get(path: &str, token: &str) -> Result<Self> {
        let (method, path) = (Method::GET, path.to_owned());
        Ok(Self { method, path, headers: headers(token)?, body: Bytes::new() })
    }

    /// The request, once more.
    pub(crate) fn request(&self) -> Result<Request<Full<Bytes>>> {
        let mut request = Request::new(Full::new(self.body.clone()));
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.path.parse().context("a path")?;
        *request.headers_mut() = self.headers.clone();
        Ok(request)
    }
}

/// What every request has.
fn headers(token: &str) -> Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    put(&mut headers, header::HOST, "127.0.0.1")?;
    put(&mut headers, header::AUTHORIZATION, &format!("Bearer {token}"))?;
    Ok(headers)
}

fn put(headers: &mut HeaderMap, name: HeaderName, value: &str) -> Result<()> {
    headers.insert(name, HeaderValue::from_str(value).context("a header")?);
    Ok(())
}

/// A JSON-RPC request of the newer era.
pub(crate) fn request(method: &str, params: &Value) -> Value {
    let mut params = params.clone();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": PROTOCOL,
        "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}
