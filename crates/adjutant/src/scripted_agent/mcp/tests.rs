//! Tests of retries and answers, against a scripted server.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::*;

/// Reaction of the server to one request.
enum Turn {
    HangUp,
    Say(StatusCode, &'static str, String),
}

fn json_turn(body: &Value) -> Turn {
    Turn::Say(StatusCode::OK, "application/json", body.to_string())
}

/// Reads one request: its head, in small letters, and its body.
async fn request(stream: &mut TcpStream) -> Option<(String, Value)> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n")
            && let Ok(body) = serde_json::from_str(body)
        {
            return Some((head.to_lowercase(), body));
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

/// Serves the turns, a connection each, and returns what it was asked.
async fn serve(listener: TcpListener, turns: Vec<Turn>) -> Vec<(String, Value)> {
    let mut asked = Vec::new();
    for turn in turns {
        let (mut stream, _) = listener.accept().await.unwrap();
        asked.push(request(&mut stream).await.unwrap());
        if let Turn::Say(status, kind, body) = turn {
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    }
    asked
}

async fn mcp() -> (Mcp, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let client = Client::new(&url, Some("secret")).unwrap();
    (Mcp::new(client, "sp_1", 2), listener)
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

const MANNER: CallOptions =
    CallOptions { patience: Duration::from_secs(60), progress: Progress::Wanted };

#[tokio::test]
async fn a_lost_answer_is_asked_for_again_under_the_same_key() {
    let (mcp, listener) = mcp().await;
    let done = |id: u64| json!({ "jsonrpc": "2.0", "id": id, "result": { "structuredContent": { "n": id } } });
    let progress = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": {} });
    let busy = json!({ "code": "TRANSIENT_ERROR", "message": "busy" }).to_string();
    let turns = vec![
        Turn::HangUp,
        Turn::Say(StatusCode::SERVICE_UNAVAILABLE, "application/json", busy),
        Turn::Say(StatusCode::OK, "text/event-stream", format!("data: {progress}\n\n")),
        Turn::Say(
            StatusCode::OK,
            "text/event-stream",
            format!(": hello\n\ndata: {progress}\n\ndata: {}\n\n", done(1)),
        ),
        json_turn(&done(2)),
    ];
    let calls = async {
        let arguments = Map::from_iter([("to".to_owned(), "x".into())]);
        let first = mcp.call("mail_send", arguments, MANNER).await.unwrap();
        let needless = CallOptions { progress: Progress::Needless, ..MANNER };
        (first, mcp.call("mail_read", Map::new(), needless).await.unwrap())
    };
    let ((first, second), asked) = tokio::join!(calls, serve(listener, turns));
    assert_eq!((first, second), (Ok(json!({ "n": 1 })), Ok(json!({ "n": 2 }))));
    let keys: Vec<_> =
        asked.iter().map(|(head, _)| header(head, "idempotency-key").unwrap()).collect();
    assert_eq!(keys, ["sp_1-2-1", "sp_1-2-1", "sp_1-2-1", "sp_1-2-1", "sp_1-2-2"]);
    let (head, body) = &asked[0];
    assert_eq!(header(head, "authorization"), Some("bearer secret"));
    assert_eq!(header(head, "mcp-protocol-version"), Some(VERSION));
    assert_eq!(header(head, "mcp-method"), Some("tools/call"));
    assert_eq!(header(head, "mcp-name"), Some("mail_send"));
    assert_eq!(body["params"]["arguments"], json!({ "to": "x" }));
    assert_eq!(body["params"]["_meta"]["progressToken"], 1);
    assert_eq!(asked[4].1["params"]["_meta"].get("progressToken"), None);
    assert!(asked[..4].iter().all(|(_, again)| again == body));
}

#[tokio::test]
async fn refusals_of_every_layer_are_answers() {
    let (mcp, listener) = mcp().await;
    let tool = json!({ "code": "CONFLICT", "message": "no" });
    let of_tool = json!({ "jsonrpc": "2.0", "id": 1, "result": { "isError": true, "structuredContent": tool } });
    let of_protocol =
        json!({ "jsonrpc": "2.0", "id": 2, "error": { "code": -32602, "message": "what?" } });
    let with_data = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32603, "message": "x", "data": tool } });
    let of_gate = json!({ "code": "UNAUTHENTICATED", "message": "who?" });
    let turns = vec![
        json_turn(&of_tool),
        json_turn(&of_protocol),
        Turn::Say(StatusCode::BAD_REQUEST, "application/json", with_data.to_string()),
        Turn::Say(StatusCode::UNAUTHORIZED, "application/json", of_gate.to_string()),
    ];
    let calls = async {
        let mut answers = Vec::new();
        for _ in 0..4 {
            answers.push(mcp.call("x", Map::new(), MANNER).await.unwrap().unwrap_err());
        }
        answers
    };
    let (answers, _) = tokio::join!(calls, serve(listener, turns));
    let protocol = json!({ "code": -32602, "message": "what?" });
    assert_eq!(answers, [tool.clone(), protocol, tool, of_gate]);
}

#[tokio::test]
async fn every_page_of_the_list_is_read() {
    let (mcp, listener) = mcp().await;
    let page = |id: u64, name: &str, cursor: Option<&str>| {
        json_turn(&json!({ "jsonrpc": "2.0", "id": id,
            "result": { "tools": [{ "name": name }], "nextCursor": cursor } }))
    };
    let turns = vec![page(1, "a", Some("2")), page(2, "b", None)];
    let (names, asked) = tokio::join!(mcp.tools(MANNER.patience), serve(listener, turns));
    assert_eq!(names.unwrap().unwrap(), ["a", "b"]);
    assert_eq!(asked[1].1["params"]["cursor"], "2");
    assert_eq!(header(&asked[1].0, "mcp-name"), None);
}

#[tokio::test]
async fn patience_ends_with_the_last_reason() {
    let (mcp, listener) = mcp().await;
    drop(listener);
    let manner = CallOptions { patience: Duration::from_millis(15), ..MANNER };
    let error = mcp.call("x", Map::new(), manner).await.unwrap_err();
    assert_eq!(error.to_string(), "the server was gone for 0.015 s");
    assert!(matches!(error, CallError::Gone { source: ClientError::NoServer { .. }, .. }));
}
