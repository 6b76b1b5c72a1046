//! Events as they come: over HTTP and over a WebSocket, resumed and filtered.

use axum::body::Body;
use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use model::event::EventKind;
use model::{AgentId, TaskRef};
use serde_json::{Value, json};
use store::EventDraft;

use crate::world::{OPERATOR, World, request, whole};

/// A stream of server-sent events, with their names and ids.
pub(crate) struct Sse {
    body: Body,
    text: String,
}

/// One of them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StreamEvent {
    pub(crate) name: String,
    pub(crate) id: Option<i64>,
    pub(crate) data: Value,
}

impl Sse {
    pub(crate) fn of(response: Response<Body>) -> Self {
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["cache-control"], "no-store");
        Self { body: response.into_body(), text: String::new() }
    }

    /// The next block of lines; nothing when the stream has ended.
    async fn block(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.text.find("\n\n") {
                let block: String = self.text.drain(..end + 2).collect();
                return Some(block);
            }
            let frame = self.body.frame().await?.unwrap();
            if let Ok(data) = frame.into_data() {
                self.text.push_str(std::str::from_utf8(&data).unwrap());
            }
        }
    }

    /// The next message, heartbeats aside; nothing when the stream has ended.
    pub(crate) async fn next(&mut self) -> Option<StreamEvent> {
        loop {
            let block = self.block().await?;
            let value = |field: &str| {
                let found = block.lines().find_map(|line| line.strip_prefix(field));
                found.map(|value| value.trim().to_owned())
            };
            let Some(data) = value("data:") else { continue };
            let name = value("event:").unwrap_or_else(|| "message".to_owned());
            let id = value("id:").map(|id| id.parse().unwrap());
            return Some(StreamEvent { name, id, data: serde_json::from_str(&data).unwrap() });
        }
    }

    /// The numbers of the next events, so many, which must be plain messages with their number as id.
    async fn numbers(&mut self, many: usize) -> Vec<i64> {
        let mut numbers = Vec::new();
        while numbers.len() < many {
            let said = self.next().await.unwrap();
            assert_eq!((said.name.as_str(), said.id), ("message", said.data["number"].as_i64()));
            numbers.extend(said.id);
        }
        numbers
    }
}

pub(crate) fn ask(path: &str, last_id: Option<&str>) -> Request<Body> {
    ask_as(OPERATOR, path, last_id)
}

fn ask_as(token: &str, path: &str, last_id: Option<&str>) -> Request<Body> {
    let mut request = request(Method::GET, path, Some(token), Body::empty());
    request.headers_mut().insert("accept", "text/event-stream".parse().unwrap());
    if let Some(id) = last_id {
        request.headers_mut().insert("last-event-id", id.parse().unwrap());
    }
    request
}

/// Opens a stream, and gives what it says first.
async fn open(world: &World, path: &str, last_id: Option<&str>) -> (Sse, Value) {
    let mut stream = Sse::of(world.send(ask(path, last_id)).await);
    let head = stream.next().await.unwrap();
    assert_eq!(head.name, "head");
    assert_eq!(head.id, head.data["after"].as_i64(), "whoever breaks off now goes on from there");
    (stream, head.data)
}

/// Writes so many events of a kind.
pub(crate) async fn write(world: &World, kind: EventKind, many: usize) {
    let now = world.engine().now();
    let draft = EventDraft { agent: None, task: None, data: testkit::event_of(kind) };
    let store = &world.store;
    let op = move |tx: &mut store::Tx<'_>| {
        (0..many).try_for_each(|_| tx.event_append(now, &draft).map(drop))
    };
    store.write::<_, store::StoreError>(op).await.unwrap();
}

#[tokio::test]
async fn a_stream_says_where_the_log_stands_and_goes_on_as_things_happen() {
    let world = World::new();
    write(&world, EventKind::NoteAdded, 3).await;
    let (mut stream, head) = open(&world, "/api/events", None).await;
    let started = world.get("/api/status").await["startedAt"].clone();
    assert_eq!(head, json!({ "last": 3, "after": 0, "started": started }));
    let first = stream.next().await.unwrap();
    assert_eq!(first.data, world.get("/api/events?limit=1").await["events"][0], "the same view");
    assert_eq!(stream.numbers(2).await, [2, 3]);
    write(&world, EventKind::MailSent, 300).await;
    assert_eq!(stream.numbers(300).await, (4..=303).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_stream_is_resumed_across_a_restart_and_misses_nothing() {
    let world = World::new();
    write(&world, EventKind::NoteAdded, 5).await;
    let (mut stream, _) = open(&world, "/api/events?after=2", None).await;
    assert_eq!(stream.numbers(1).await, [3]);
    drop(stream);
    let world = world.restarted().await;
    write(&world, EventKind::NoteAdded, 2).await;
    // As a browser asks again: the same address, and what it saw last.
    let (mut stream, head) = open(&world, "/api/events?after=2", Some("3")).await;
    assert_eq!((&head["last"], &head["after"]), (&json!(7), &json!(3)), "four are to be caught up");
    assert_eq!(stream.numbers(4).await, [4, 5, 6, 7]);
}

#[tokio::test]
async fn now_is_the_end_and_a_number_of_another_record_is_too() {
    let world = World::new();
    write(&world, EventKind::NoteAdded, 9).await;
    for after in ["now", "10", "4711"] {
        let (mut stream, head) = open(&world, &format!("/api/events?after={after}"), None).await;
        let last = head["last"].as_i64().unwrap();
        assert_eq!(head["after"], last, "{after}");
        write(&world, EventKind::NoteAdded, 1).await;
        assert_eq!(stream.numbers(1).await, [last + 1], "{after}");
    }
    for after in ["now", "4711"] {
        let page = world.get(&format!("/api/events?after={after}")).await;
        assert_eq!(page, json!({ "events": [], "last": 12 }), "{after}");
    }
}

#[tokio::test]
async fn only_what_was_asked_for_is_told() {
    let world = World::new();
    let (one, two) = (world.enlist("worker").await, world.enlist("worker").await);
    let task = json!({ "title": "Mend the parser" });
    let (status, made) = world.execute(OPERATOR, "mcp__task__create", task).await;
    assert_eq!(status, StatusCode::OK, "{made}");
    let store = &world.store;
    let task = store.read(|tx| tx.task_find(&TaskRef::Number(1))).unwrap().unwrap();
    let letter = json!({ "toHuman": true, "subject": "s", "body": "b" });
    world.execute(&one.token, "mcp__mail__send", letter.clone()).await;
    world.execute(&two.token, "mcp__mail__send", letter).await;
    let all = world.get("/api/events").await["events"].as_array().unwrap().clone();
    let of = |is: &dyn Fn(&Value) -> bool| -> Vec<Value> {
        all.iter().filter(|event| is(event)).cloned().collect()
    };
    let kind = |event: &Value, begins: &str| event["kind"].as_str().unwrap().starts_with(begins);
    let (first, slug) = (json!(one.id), &task.slug);
    for (query, expected) in [
        ("kind=mail.sent".to_owned(), of(&|event| kind(event, "mail.sent"))),
        ("kind=agent.*,mail.sent".to_owned(), of(&|e| kind(e, "agent.") || kind(e, "mail.sent"))),
        (format!("agentId={}", one.id), of(&|event| event["agentId"] == first)),
        (
            format!("agentId={}&kind=mail.*", one.id),
            of(&|event| event["agentId"] == first && kind(event, "mail.")),
        ),
        (format!("taskId={}", task.id), of(&|event| event["taskId"] == json!(task.id))),
        ("taskId=1".to_owned(), of(&|event| event["taskId"] == json!(task.id))),
        ("taskId=TAS-1".to_owned(), of(&|event| event["taskId"] == json!(task.id))),
        (format!("taskId={slug}"), of(&|event| event["taskId"] == json!(task.id))),
    ] {
        assert!(!expected.is_empty() && expected.len() < all.len(), "{query} tells them apart");
        let page = world.get(&format!("/api/events?{query}")).await;
        assert_eq!(page["events"], json!(expected), "{query}");
        assert_eq!(page["last"], all.len(), "{query}: everything was looked at");
        let (mut stream, _) = open(&world, &format!("/api/events?{query}&stream=sse"), None).await;
        for event in &expected {
            assert_eq!(&stream.next().await.unwrap().data, event, "{query}");
        }
    }
}

#[tokio::test]
async fn what_nobody_can_mean_is_refused_with_advice() {
    let world = World::new();
    for (query, status, field) in [
        ("kind=mail.snet", 422, "kind"),
        ("kind=mail.sent,", 422, "kind"),
        ("kind=mail*", 422, "kind"),
        ("kind=nobody.*", 422, "kind"),
        ("after=soon", 422, "after"),
        ("agentId=x", 422, "agentId"),
        ("agentId=sp_0000000000000000", 404, "agentId"),
        ("taskId=../x", 422, "taskId"),
        ("taskId=12", 404, "taskId"),
        ("limit=10", 422, "limit"),
        ("waitSeconds=1", 422, "waitSeconds"),
        ("stream=xml", 422, ""),
        ("colour=red", 422, ""),
    ] {
        let response = world.send(ask(&format!("/api/events?{query}"), None)).await;
        let (found, _, body) = whole(response).await;
        assert_eq!(found.as_u16(), status, "{query}: {body}");
        if !field.is_empty() {
            assert_eq!(body["details"]["field"], field, "{query}: {body}");
        }
    }
    let (status, _, body) = whole(world.send(ask("/api/events", Some("x"))).await).await;
    assert_eq!(status.as_u16(), 422, "{body}");
}

#[tokio::test]
async fn a_reader_of_what_is_rare_is_told_how_far_it_was_looked() {
    let world = World::new();
    write(&world, EventKind::NoteAdded, 25_000).await;
    let (mut stream, _) = open(&world, "/api/events?kind=mail.sent", None).await;
    for number in [10_000, 20_000] {
        let seen =
            StreamEvent { name: "seen".into(), id: Some(number), data: json!({ "last": number }) };
        assert_eq!(stream.next().await.unwrap(), seen);
    }
    write(&world, EventKind::MailSent, 1).await;
    assert_eq!(stream.numbers(1).await, [25_001]);
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_shows_that_it_is_alive_and_how_far_it_was_looked() {
    let world = World::new();
    let (mut stream, _) = open(&world, "/api/events?kind=mail.sent", None).await;
    assert_eq!(stream.block().await.unwrap(), ":\n\n");
    write(&world, EventKind::NoteAdded, 3).await;
    let seen = StreamEvent { name: "seen".into(), id: Some(3), data: json!({ "last": 3 }) };
    assert_eq!(stream.next().await.unwrap(), seen);
    assert_eq!(stream.block().await.unwrap(), ":\n\n", "said once");
}

#[tokio::test]
async fn a_link_that_is_taken_back_ends_the_streams_of_who_came_by_it() {
    let world = World::new();
    let visitor = world.visitor().await;
    let mut stream = Sse::of(world.send(ask_as(&visitor, "/api/events", None)).await);
    assert_eq!(stream.next().await.unwrap().name, "head");
    write(&world, EventKind::NoteAdded, 1).await;
    assert_eq!(stream.next().await.unwrap().name, "message", "it may look");
    world.engine().link_revoke(None).await.unwrap();
    assert_eq!(stream.next().await, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answered_caller_finds_what_it_did() {
    let world = World::new();
    let decision = json!({ "title": "Go on", "body": "There is more to do." });
    for number in 1..=300 {
        let (status, _) =
            world.execute(OPERATOR, "mcp__system__log_decision", decision.clone()).await;
        assert_eq!(status, StatusCode::OK);
        let page = world.get(&format!("/api/events?after={}", number - 1)).await;
        assert_eq!(page["events"][0]["number"], number);
        assert_eq!(page["last"], number);
    }
}

#[tokio::test]
async fn a_watched_server_is_in_use_and_its_end_ends_the_stream() {
    let world = World::new();
    let (mut stream, _) = open(&world, "/api/events", None).await;
    assert_eq!(world.app.activity.idle_since(), None);
    world.app.shutdown.cancel();
    assert_eq!(stream.next().await, None);
    drop(stream);
    assert!(world.app.activity.idle_since().is_some());
}

#[tokio::test]
async fn a_client_that_accepts_json_as_well_gets_json() {
    let world = World::new();
    write(&world, EventKind::NoteAdded, 1).await;
    for (accept, streams) in [
        ("text/event-stream", true),
        ("Text/Event-Stream;q=0.9", true),
        ("application/json, text/event-stream", false),
        ("*/*", false),
    ] {
        let mut request = ask("/api/events", None);
        request.headers_mut().insert("accept", accept.parse().unwrap());
        let response = world.send(request).await;
        let found = response.headers()["content-type"].to_str().unwrap();
        let kind = if streams { "text/event-stream" } else { "application/json" };
        assert_eq!(found, kind, "{accept}");
    }
}

#[tokio::test]
async fn who_follows_and_who_is_far_behind_get_the_same() {
    let world = World::new();
    let (mut early, _) = open(&world, "/api/events", None).await;
    for kind in [EventKind::NoteAdded, EventKind::MailSent, EventKind::TaskCreated] {
        write(&world, kind, 1500).await;
        assert_eq!(early.numbers(1500).await.len(), 1500);
    }
    // Over 4,000 behind: from the store, and then from what is kept for all.
    let (mut late, _) = open(&world, "/api/events", None).await;
    assert_eq!(late.numbers(4500).await, (1..=4500).collect::<Vec<_>>());
    for after in [2400, 3400, 4499] {
        let path = format!("/api/events?after={after}&kind=task.created");
        let (mut stream, _) = open(&world, &path, None).await;
        let from = after.max(3000) + 1;
        let many = usize::try_from(4500 - from + 1).unwrap();
        assert_eq!(stream.numbers(many).await, (from..=4500).collect::<Vec<_>>());
    }
    let nobody = AgentId::from_bits(1);
    let (status, body) =
        world.ask(Method::GET, &format!("/api/events?agentId={nobody}"), OPERATOR, None).await;
    assert_eq!(status, StatusCode::NOT_FOUND, "{body}");
}
