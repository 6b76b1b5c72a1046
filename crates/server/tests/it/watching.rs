//! One agent, watched over HTTP: its steps from recorded talks, page by page, live and from the end.

use std::fs;
use std::path::{Path, PathBuf};

use axum::body::Body;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::world::{OPERATOR, World, request, whole};

/// Starts an agent of a kind; its turn never comes, so that the test can speak for it.
async fn started(world: &World, kind: &str) -> String {
    let body = json!({ "role": "worker", "kind": kind, "prompt": "Do the thing" });
    let (status, answer) = world.ask(Method::POST, "/api/runs", OPERATOR, Some(body)).await;
    assert_eq!(status, StatusCode::CREATED, "{answer}");
    answer["agentId"].as_str().unwrap().to_owned()
}

fn folder(world: &World, id: &str, attempt: u32) -> PathBuf {
    let folder = world.project().join(".adjutant/runs").join(id).join(attempt.to_string());
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Lines as a supervisor keeps them.
fn kept<'a>(lines: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let line = |(number, (stream, text)): (i64, (&str, &str))| {
        format!("{}\n", json!({ "at": 1_000 + number, "s": stream, "l": text }))
    };
    (0..).zip(lines).map(line).collect()
}

fn say(folder: &Path, lines: &[(&str, &str)]) {
    let kept = kept(lines.iter().copied());
    let path = folder.join("output.jsonl");
    let before = fs::read_to_string(&path).unwrap_or_default();
    fs::write(path, before + &kept).unwrap();
}

#[tokio::test]
async fn a_viewer_reads_no_secret_in_output_in_steps_or_in_rows_of_older_versions() {
    let world = World::new();
    let id = started(&world, "command").await;
    let key = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    let token = "adjag_0123456789abcdef0123456789abcdef";
    let lines = [
        ("out", token),
        ("out", "-----BEGIN PRIVATE KEY-----"),
        ("out", key),
        ("out", key),
        ("err", "-----END PRIVATE KEY-----"),
        ("out", "https://me:hunter2-s3cret@host.example/"),
    ];
    say(&folder(&world, &id, 1), &lines);
    // An older version kept what it did not recognise.
    let now = world.engine().now();
    let old = format!("note {token}");
    world
        .store
        .write(move |tx| {
            let mut row = store::AuditDraft {
                at: now,
                agent: None,
                by_operator: true,
                tool: "mcp__task__create".to_owned(),
                input: json!({ "title": old }).to_string(),
                code: None,
                output: "{}".to_owned(),
                duration_micros: 1,
                git_commit: None,
            };
            row.output = row.input.clone();
            tx.audit_append(&row)
        })
        .await
        .unwrap();
    let viewer = world.visitor().await;
    // Line by line, so that the key begins before what is asked for.
    let mut routes = vec![format!("/api/agents/{id}/stream")];
    let mut offset = 0;
    for _ in lines {
        let route = format!("/api/agents/{id}/output?bytes=1&offset={offset}");
        offset = world.get(&route).await["next"]["offset"].as_u64().unwrap();
        routes.push(route);
    }
    routes.extend(["/api/audit", "/api/record", "/api/record/2"].map(str::to_owned));
    for route in routes {
        let (status, body) = world.ask(Method::GET, &route, &viewer, None).await;
        assert_eq!(status, StatusCode::OK, "{route}: {body}");
        for secret in [key, token, "hunter2"] {
            assert!(!body.to_string().contains(secret), "{route}: {body}");
        }
    }
    // The operator verifies the chain, whose hashes cover every byte.
    let chain = world.get("/api/audit").await;
    assert!(chain.to_string().contains(token), "{chain}");
}

/// A recorded talk, as it was kept.
fn recorded(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/tests/transcripts").join(name);
    let text = fs::read_to_string(path).unwrap();
    let line = |line: &'_ str| {
        let (sign, text) = line.split_once(' ')?;
        let stream = match sign {
            "<" => "out",
            ">" if text != "(closed)" => "in",
            _ => return None,
        };
        Some((stream.to_owned(), text.to_owned()))
    };
    let lines: Vec<(String, String)> = text.lines().filter_map(line).collect();
    kept(lines.iter().map(|(stream, text)| (stream.as_str(), text.as_str())))
}

/// Each step as its kind and what is most telling of it.
fn shown(items: &[Value]) -> Vec<String> {
    let one = |item: &Value| {
        let telling = item["tool"].as_str().or(item["text"].as_str()).unwrap_or_default();
        let telling: String = telling.chars().take(30).collect();
        format!("{} {telling}", item["kind"].as_str().unwrap())
    };
    items.iter().map(one).collect()
}

/// Every step, asked for in small parts; parts of one text are joined as a reader joins them.
async fn all(world: &World, id: &str, bytes: usize) -> Vec<Value> {
    let mut items: Vec<Value> = Vec::new();
    let mut place = json!({ "segment": 0, "offset": 0 });
    loop {
        let (segment, offset) = (&place["segment"], &place["offset"]);
        let query = format!("segment={segment}&offset={offset}&bytes={bytes}");
        let page = world.get(&format!("/api/agents/{id}/stream?{query}")).await;
        for item in page["items"].as_array().unwrap() {
            let last = items.last_mut().filter(|last| {
                last["part"] == true
                    && item["part"] == true
                    && ["kind", "id", "err"].iter().all(|key| last[key] == item[key])
            });
            match last {
                Some(last) => {
                    let both = [&last["text"], &item["text"]].map(|text| text.as_str().unwrap());
                    last["text"] = both.concat().into();
                }
                None => items.push(item.clone()),
            }
        }
        if page["next"] == place {
            return items;
        }
        place = page["next"].clone();
    }
}

#[tokio::test]
async fn recorded_talks_are_read_as_steps_whole_or_in_parts() {
    let world = World::new();
    for (kind, talk, wanted) in [
        (
            "claude",
            "claude/turn.txt",
            &[
                "told Look at your mail.",
                "system begins with claude-sonnet-4-5",
                "message I look at my mail.",
                "call mcp__mail__list_inbox",
                "output {\"count\":0,\"mails\":[],\"unreadC",
                "thought Now a file",
                "message Now a file.",
                "call Bash",
                "output (Bash completed with no output",
            ][..],
        ),
        (
            "codex",
            "codex/0.166.0-exec.txt",
            &[
                "system Model metadata for `fake-model",
                "message I will call the harness.",
                "call mcp__h__whoami",
                "output whoami:",
                "thought now echo",
                "message Next.",
                "call mcp__h__echo",
                "output echo:hi",
            ][..],
        ),
        (
            "acp",
            "acp/claude-agent-acp-0.99.1-ask-allow.txt",
            &[
                "told Do the thing",
                "message I will call the harness.",
                "call mcp__h__echo",
                "call mcp__h__echo",
                "output echo:one",
                "message Shell.",
            ][..],
        ),
    ] {
        let id = started(&world, kind).await;
        fs::write(folder(&world, &id, 1).join("output.jsonl"), recorded(talk)).unwrap();
        let whole = all(&world, &id, 4_000_000).await;
        assert_eq!(shown(&whole)[..wanted.len()], *wanted, "{kind}");
        assert_eq!(all(&world, &id, 1).await, whole, "{kind}: a line at a time");
        let calls = whole.iter().filter(|item| item["kind"] == "call");
        let ids: Vec<&Value> = calls.map(|item| &item["id"]).collect();
        let came = whole.iter().filter(|item| item["kind"] == "output");
        assert!(came.clone().count() > 0 && came.clone().all(|item| ids.contains(&&item["id"])));
    }
}

#[tokio::test]
async fn a_programs_lines_keep_their_colours_and_its_reports_are_steps() {
    let world = World::new();
    let id = started(&world, "command").await;
    let tool = r#"{"adjutant":{"tool":{"id":"1","name":"grep","input":{"q":"x"}}}}"#;
    let done = r#"{"adjutant":{"tool":{"id":"1","done":true,"output":"two"}}}"#;
    say(
        &folder(&world, &id, 1),
        &[
            ("out", "\u{1b}[32mPASS\u{1b}[0m one"),
            ("out", "[work 1a2b3c4] Mend it"),
            ("err", "careful"),
            ("out", tool),
            ("out", done),
        ],
    );
    let page = world.get(&format!("/api/agents/{id}/stream")).await;
    let item = |kind: &str, more: Value| {
        let mut item = json!({
            "kind": kind, "id": null, "tool": null, "text": "", "input": null, "ok": null,
            "durationMs": null, "commit": null, "part": false, "err": false, "cut": 0,
        });
        item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        item
    };
    let text = "\u{1b}[32mPASS\u{1b}[0m one\n[work 1a2b3c4] Mend it\n";
    let first = json!({ "at": "1970-01-01T00:00:01.000Z", "text": text, "part": true, "commit": "1a2b3c4" });
    let call = json!({ "at": "1970-01-01T00:00:01.003Z", "id": "1", "tool": "grep", "input": { "q": "x" } });
    let wanted = json!([
        item("output", first),
        item(
            "output",
            json!({ "at": "1970-01-01T00:00:01.002Z", "text": "careful\n", "part": true, "err": true })
        ),
        item("call", call),
        item(
            "output",
            json!({ "at": "1970-01-01T00:00:01.004Z", "id": "1", "text": "two", "ok": true })
        ),
    ]);
    assert_eq!(page["items"], wanted);
    assert_eq!((&page["attempt"], &page["complete"]), (&json!(1), &json!(false)));
}

#[tokio::test]
async fn who_waits_hears_what_comes_and_not_what_is_for_programs() {
    let world = World::new();
    let id = started(&world, "claude").await;
    let folder = folder(&world, &id, 1);
    let path = format!("/api/agents/{id}/stream?waitSeconds=60");
    let speak = async {
        say(&folder, &[("out", r#"{"type":"keep_alive"}"#)]);
        tokio::task::yield_now().await;
        let message = json!({ "type": "assistant", "message": { "content": [{ "type": "text", "text": "Hello." }] } });
        say(&folder, &[("out", &message.to_string())]);
    };
    let (page, ()) = tokio::join!(world.get(&path), speak);
    assert_eq!(shown(page["items"].as_array().unwrap()), ["message Hello."]);
    let none =
        world.get(&format!("/api/agents/{id}/stream?offset={}", page["next"]["offset"])).await;
    assert_eq!((&none["items"], &none["next"]), (&json!([]), &page["next"]));
    let later = format!("{path}&offset={}", page["next"]["offset"]);
    let end = async { world.app.shutdown.cancel() };
    let (page, ()) = tokio::join!(world.get(&later), end);
    assert_eq!(page["items"], json!([]), "waiting ends with the server");
}

#[tokio::test]
async fn attempts_have_streams_of_their_own() {
    let world = World::new();
    let id = started(&world, "command").await;
    say(&folder(&world, &id, 1), &[("out", "first")]);
    say(&folder(&world, &id, 2), &[("out", "second")]);
    let (agent, now) = (id.parse().unwrap(), world.engine().now());
    let begin = move |tx: &mut store::Tx<'_>| tx.agent_begin(agent, 2, "hash", now);
    world.store.write(begin).await.unwrap();
    let of = async |query: &str| world.get(&format!("/api/agents/{id}/stream?{query}")).await;
    assert_eq!(of("").await["items"][0]["text"], "second\n");
    let first = of("attempt=1").await;
    assert_eq!((&first["items"][0]["text"], &first["attempt"]), (&json!("first\n"), &json!(1)));
    let rest = of(&format!("attempt=1&offset={}&waitSeconds=60", first["next"]["offset"])).await;
    assert_eq!(rest["complete"], true, "nothing more will come of it");
    for wrong in
        ["attempt=3", "attempt=0", "tail=0", "tail=5001", "bytes=0", "waitSeconds=61", "tial=1"]
    {
        let path = format!("/api/agents/{id}/stream?{wrong}");
        let (status, error) = world.ask(Method::GET, &path, OPERATOR, None).await;
        assert_eq!((status.as_u16(), &error["code"]), (422, &json!("INVALID_INPUT")), "{wrong}");
    }
}

#[tokio::test]
async fn reading_begins_near_the_end_and_goes_back() {
    let world = World::new();
    let id = started(&world, "script").await;
    let lines: Vec<String> = (0..100).map(|number| format!("line {number}")).collect();
    let said: Vec<(&str, &str)> = lines.iter().map(|line| ("out", line.as_str())).collect();
    say(&folder(&world, &id, 1), &said);
    let of = async |query: &str| world.get(&format!("/api/agents/{id}/stream?{query}")).await;
    let texts = |page: &Value| -> Vec<String> {
        let items = page["items"].as_array().unwrap();
        items.iter().map(|item| item["text"].as_str().unwrap().to_owned()).collect()
    };
    let last = of("tail=3").await;
    assert_eq!(texts(&last), ["line 97", "line 98", "line 99"]);
    let before = |page: &Value| {
        let from = &page["from"];
        format!("tail=2&segment={}&offset={}", from["segment"], from["offset"])
    };
    let earlier = of(&before(&last)).await;
    assert_eq!(texts(&earlier), ["line 95", "line 96"]);
    let first = of("tail=5000").await;
    assert_eq!((texts(&first).len(), &first["from"]), (100, &json!({ "segment": 0, "offset": 0 })));
    assert_eq!(texts(&of(&before(&first)).await).len(), 0, "there is nothing before the beginning");
    let next = &last["next"];
    say(&folder(&world, &id, 1), &[("out", "line 100")]);
    let more = of(&format!("segment={}&offset={}", next["segment"], next["offset"])).await;
    assert_eq!(texts(&more), ["line 100"]);
}

#[tokio::test]
async fn what_is_long_is_cut_and_comes_whole_when_asked_for() {
    let world = World::new();
    let id = started(&world, "claude").await;
    let long = "x".repeat(300_000);
    let came = json!({ "type": "user", "message": { "content": [
        { "type": "tool_result", "tool_use_id": "t", "content": long }] } });
    say(&folder(&world, &id, 1), &[("out", &came.to_string())]);
    let page = world.get(&format!("/api/agents/{id}/stream")).await;
    let item = &page["items"][0];
    let kept = item["text"].as_str().unwrap().len();
    assert_eq!((kept, &item["cut"]), (65_536, &json!(300_000 - 65_536)));
    let from = &page["from"];
    let query = format!("segment={}&offset={}&whole=true", from["segment"], from["offset"]);
    let page = world.get(&format!("/api/agents/{id}/stream?{query}")).await;
    assert_eq!(
        (page["items"][0]["text"].as_str().unwrap(), &page["items"][0]["cut"]),
        (long.as_str(), &json!(0))
    );
}

#[tokio::test]
async fn a_visitor_may_watch_and_nobody_is_nobody() {
    let world = World::new();
    let id = started(&world, "command").await;
    say(&folder(&world, &id, 1), &[("out", "hello")]);
    fs::write(folder(&world, &id, 1).join("prompt.md"), "Be good.\n\nDo the thing").unwrap();
    let payload = Some(json!({ "readOnly": true }));
    let (_, link) = world.ask(Method::POST, "/api/links", OPERATOR, payload).await;
    let code = link["url"].as_str().unwrap().split_once("#login=").unwrap().1.to_owned();
    let body = Body::from(json!({ "code": code }).to_string());
    let (_, _, tab) =
        whole(world.send(request(Method::POST, "/api/login", None, body)).await).await;
    let token = tab["token"].as_str().unwrap();
    for (part, field) in [("stream", "items"), ("diff", "why"), ("story", "row")] {
        let path = format!("/api/agents/{id}/{part}");
        let (status, answer) = world.ask(Method::GET, &path, token, None).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        assert!(!answer[field].is_null(), "{part}: {answer}");
        for (name, code) in
            [("sp_0000000000000000", "AGENT_NOT_FOUND"), ("nobody", "INVALID_INPUT")]
        {
            let path = format!("/api/agents/{name}/{part}");
            let (_, error) = world.ask(Method::GET, &path, token, None).await;
            assert_eq!(error["code"], code, "{part}");
        }
    }
    let end = id.get(13..).unwrap();
    let story = world.get(&format!("/api/agents/{end}/story")).await;
    assert_eq!(story["context"], "Be good.\n\nDo the thing");
    assert_eq!(story["row"]["id"], id);
    let agent = world.enlist("worker").await;
    let path = format!("/api/agents/{}/stream", agent.id);
    let (status, error) = world.ask(Method::GET, &path, OPERATOR, None).await;
    assert_eq!(
        (status.as_u16(), &error["code"]),
        (409, &json!("INVALID_AGENT_STATE")),
        "somebody else runs it"
    );
}
