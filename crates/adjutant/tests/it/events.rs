//! `adjutant events`: what is asked for, through every restart; and many who watch a server that has
//! much to tell.

use std::process::Stdio;

use serde_json::{Value, json};
use testkit::{Http, Server, World};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStdout};
use tokio::task::JoinSet;

use crate::kill::operator;

/// A command that follows events.
struct Follower {
    _child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Follower {
    fn start(world: &World, more: &[&str]) -> Self {
        let typed = [&["events", "--follow", "--json", "--after", "0"], more].concat();
        let mut child = world.command(&typed).stderr(Stdio::inherit()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { _child: child, lines }
    }

    async fn next(&mut self) -> Value {
        let line = self.lines.next_line().await.unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Reads up to an event, and gives the numbers it came by.
    async fn until(&mut self, number: i64) -> Vec<i64> {
        let mut numbers = Vec::new();
        while numbers.last() != Some(&number) {
            numbers.push(self.next().await["number"].as_i64().unwrap());
        }
        numbers
    }
}

async fn task(http: &Http, title: &str) -> Value {
    http.call("mcp__task__create", json!({ "title": title })).await.unwrap().unwrap()
}

async fn last(http: &Http) -> i64 {
    let (_, page) = http.get("/api/events?after=now").await.unwrap();
    page["last"].as_i64().unwrap()
}

#[tokio::test]
async fn who_follows_goes_on_with_the_next_server_and_misses_nothing() {
    let world = crate::world().await;
    let mut server = world.up().await.unwrap();
    let mut follower = Follower::start(&world, &[]);
    let mut heard = Vec::new();
    for round in 0..4 {
        let http = operator(&world, &server).await;
        for n in 0..5 {
            task(&http, &format!("Task {round} {n}")).await;
        }
        let number = last(&http).await;
        heard.extend(follower.until(number).await);
        // Killed, and ended in order; what is said while nobody listens is there, too.
        if round % 2 == 0 {
            server.kill().await.unwrap();
        } else {
            assert_eq!(server.stop().await.unwrap(), Some(0));
        }
        server = world.up().await.unwrap();
    }
    let http = operator(&world, &server).await;
    task(&http, "The last one").await;
    let number = last(&http).await;
    heard.extend(follower.until(number).await);
    assert_eq!(heard, (1..=number).collect::<Vec<_>>());
}

#[tokio::test]
async fn only_what_was_asked_for_is_listed_and_followed() {
    let world = crate::world().await;
    let server = world.up().await.unwrap();
    let http = operator(&world, &server).await;
    let (one, two) =
        (world.enlist("worker", &[]).await.unwrap(), world.enlist("worker", &[]).await.unwrap());
    let made = task(&http, "Mend the parser").await;
    task(&http, "Another one").await;
    for agent in [&one, &two] {
        let letter = json!({ "toHuman": true, "subject": "s", "body": "b" });
        let sent = http.with_token(&agent.token).call("mcp__mail__send", letter).await.unwrap();
        sent.unwrap();
    }
    let slug = made["slug"].as_str().unwrap();
    for flags in [
        &["--kind", "task.*"][..],
        &["--kind", "task.created,mail.sent"],
        &["--kind", "task.created", "--kind", "mail.*"],
        &["--agent", &one.id],
        &["--agent", &one.id, "-k", "mail.*"],
        &["--task", "1"],
        &["--task", "TAS-1"],
        &["--task", slug],
    ] {
        let typed = [&["events", "--json"], flags].concat();
        let listed = world.run(&typed).await.unwrap().ok().unwrap().json().unwrap();
        let events = listed["events"].as_array().unwrap().clone();
        assert!(!events.is_empty(), "{flags:?}");
        for event in &events {
            let kind = event["kind"].as_str().unwrap();
            assert!(flags[0] != "--agent" || event["agentId"] == one.id, "{flags:?}: {event}");
            assert!(flags[0] != "--task" || event["data"]["slug"] == slug, "{flags:?}: {event}");
            assert!(flags[0] != "--kind" || !kind.starts_with("agent."), "{flags:?}: {event}");
        }
        let mut follower = Follower::start(&world, flags);
        for event in &events {
            assert_eq!(follower.next().await, *event, "{flags:?}");
        }
    }
    for (flags, code) in [
        (["--kind", "mail.snet"], 2),
        (["--kind", "mail*"], 2),
        (["--task", "no-such-task"], 4),
        (["--agent", "sp_0000000000000000"], 4),
    ] {
        let typed = [&["events", "--follow"][..], &flags].concat();
        let ran = world.run(&typed).await.unwrap();
        assert_eq!(ran.code, Some(code), "{ran:?}");
    }
}

/// How many watch.
const WATCHERS: usize = 50;
/// So many more stop at once, at the end.
const STOPPED: usize = 50;
/// How many calls are made, with a hundred events each.
const CALLS: usize = 200;
/// What the server may hold in the end, in a build for tests. Had it kept for those who stopped what they
/// did not read, it would be several times that.
const MOST_KILOBYTES: u64 = 160_000;

/// A stream of events that is open.
struct Watching {
    stream: BufReader<TcpStream>,
    /// Number of the last event before those that come
    after: i64,
}

/// Opens a stream of what is to come over a connection of its own, and reads only that it is open.
async fn watch(url: &str, token: &str) -> Watching {
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "GET /api/events?after=now HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
         Accept: text/event-stream\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut stream = BufReader::new(stream);
    loop {
        let mut line = String::new();
        assert!(stream.read_line(&mut line).await.unwrap() > 0, "it ended");
        if let Some(head) = line.strip_prefix("data: ") {
            let head: Value = serde_json::from_str(head).unwrap();
            return Watching { stream, after: head["after"].as_i64().unwrap() };
        }
    }
}

/// Reads up to an event; each must come once and in order.
async fn read_all(Watching { mut stream, after }: Watching, last: i64) {
    let (mut text, mut next) = (Vec::new(), after + 1);
    let mut piece = vec![0; 64 * 1024];
    while next <= last {
        let many = stream.read(&mut piece).await.unwrap();
        assert!(many > 0, "it ended before {next}");
        text.extend_from_slice(&piece[..many]);
        let end = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let whole: Vec<u8> = text.drain(..end).collect();
        for line in String::from_utf8(whole).unwrap().lines() {
            if let Some(data) = line.strip_prefix("data: {\"number\":") {
                assert_eq!(data.split(',').next().unwrap(), next.to_string());
                next += 1;
            }
        }
    }
}

/// Makes much happen, as fast as it goes, and gives the number of the last event.
async fn much(http: &Http) -> i64 {
    let note = json!({ "content": "As fast as it goes.", "type": "tip" });
    let input = json!({ "notes": vec![note; 100] });
    for _ in 0..CALLS {
        http.call("mcp__session__note-add", input.clone()).await.unwrap().unwrap();
    }
    last(http).await
}

fn memory(server: &Server) -> u64 {
    let pid = server.pid().unwrap();
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_load_who_stops_holds_nobody_back_and_the_server_stays_small() {
    let mut world = crate::world().await;
    world.set("ADJUTANT_MIRROR", "false");
    let server = world.up().await.unwrap();
    let token = world.operator().await.unwrap();
    let http = Http::new(&server.url, &token);
    let stopped = watch(&server.url, &token).await;
    let mut watching = Vec::new();
    for _ in 1..WATCHERS {
        watching.push(watch(&server.url, &token).await);
    }
    let until = last(&http).await + i64::try_from(CALLS * 100).unwrap();
    let mut readers: JoinSet<()> =
        watching.into_iter().map(|watching| read_all(watching, until)).collect();
    assert_eq!(much(&http).await, until);
    while let Some(read) = readers.join_next().await {
        read.unwrap();
    }
    // As much again, and many who do not read it: it is not kept for them.
    let mut more = Vec::new();
    for _ in 0..STOPPED {
        more.push(watch(&server.url, &token).await);
    }
    let until = much(&http).await;
    let held = memory(&server);
    assert!(held < MOST_KILOBYTES, "the server holds {held} kB");
    // Anyone who reads on gets all of it.
    read_all(stopped, until).await;
    for watching in more {
        read_all(watching, until).await;
    }
    let held = memory(&server);
    assert!(held < MOST_KILOBYTES, "the server holds {held} kB");
}
