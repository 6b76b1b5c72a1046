//! temporary
#![allow(warnings)]
use std::sync::Arc;
use std::time::{Duration, Instant};
use axum::{Router, body::Body};
use http::Request;
use tower::ServiceExt;
use rmcp::{ServerHandler, model::*, service::*, RoleServer, ErrorData};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use serde_json::json;
#[derive(Clone)] struct Echo;
impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig { ServerConfig::new(ServerCapabilities::builder().enable_tools().build()) }
    async fn call_tool(&self, r: CallToolRequestParams, _: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::structured(json!({"echo": r.arguments})).into())
    }
}
fn req(path: &str, name: &str, args: &serde_json::Value) -> Request<Body> {
    let params = json!({"name": name, "arguments": args, "_meta": {"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}});
    let m = json!({"jsonrpc":"2.0","id":1,"method":"tools/call","params":params});
    Request::builder().method("POST").uri(path).header("host","127.0.0.1:1").header("content-type","application/json").header("accept","application/json, text/event-stream")
      .header("authorization","Bearer adjop_test").header("mcp-protocol-version","2026-07-28").header("mcp-method","tools/call").header("mcp-name",name).body(Body::from(m.to_string())).unwrap()
}
async fn run(label: &str, router: Router, path: &'static str, name: &'static str, args: serde_json::Value) {
    for clients in [1, 16] {
        let n = 20000 / clients;
        let began = Instant::now();
        let mut set = tokio::task::JoinSet::new();
        for _ in 0..clients {
            let (router, args) = (router.clone(), args.clone());
            set.spawn(async move { for _ in 0..n {
                let r = router.clone().oneshot(req(path, name, &args)).await.unwrap();
                assert_eq!(r.status(), 200);
                let b = http_body_util::BodyExt::collect(r.into_body()).await.unwrap().to_bytes();
                assert!(b.len() > 20);
            }});
        }
        while let Some(x) = set.join_next().await { x.unwrap(); }
        println!("{label} {clients}: {:.0}/s", (n * clients) as f64 / began.elapsed().as_secs_f64());
    }
}
#[tokio::main]
async fn main() {
    let dir = tempfile::tempdir().unwrap();
    let store = engine::store::Store::open(&dir.path().join("s.db")).unwrap();
    let engine = engine::Engine::new(store, Default::default(), engine::Options::new(dir.path().to_owned(), engine::hash_token("adjop_test")));
    let app = server::App { engine: engine.clone(), home: String::new(), url: "http://127.0.0.1:1".into(), version: "1".into(), started_at: engine.now(), hosts: vec![],
        reload: Arc::new(|| Ok(Default::default())), shutdown: Default::default(), activity: Default::default() };
    let ours = server::Server::new(app).mount("/echo", || Echo).into_router();
    let bare = Router::new().route_service("/mcp", StreamableHttpService::new(|| Ok(Echo), Arc::new(LocalSessionManager::default()), StreamableHttpServerConfig::default().with_json_response(true)));
    for _ in 0..2 {
    run("bare echo", bare.clone(), "/mcp", "x", json!({"a":"hello"})).await;
    run("echo behind the gate", ours.clone(), "/echo", "x", json!({"a":"hello"})).await;
    run("list_agents", ours.clone(), "/mcp", "list_agents", json!({})).await;
    run("list_inbox(wait)", ours.clone(), "/mcp/mail", "list_inbox", json!({})).await;
    run("log_decision", ours.clone(), "/mcp/system", "log_decision", json!({"title":"t","body":"b"})).await;
    }
}
