//! A server's life: one per home, found by its file, ended with care.

use testkit::{Http, World};

use crate::{BINARY, world};

#[tokio::test]
async fn a_second_up_finds_the_first() {
    let world = world().await;
    let server = world.up().await.unwrap();
    let file = world.server_file().unwrap().unwrap();
    let keys: Vec<&str> = file.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["pid", "startedAt", "url", "version"]);
    assert_eq!((&file["url"], &file["pid"]), (&server.url.as_str().into(), &server.pid().into()));
    for second in [&["up", "--json"][..], &["up", "--detach", "--json"]] {
        let ran = world.run(second).await.unwrap().ok().unwrap();
        assert_eq!(ran.json().unwrap(), file, "{second:?}");
    }
    assert_eq!(server.stop().await.unwrap(), Some(0));
    assert_eq!(world.server_file().unwrap(), None, "it takes its file along");
}

#[tokio::test]
async fn up_says_what_to_do_next() {
    let world = world().await;
    let mut child = world.command(&["up"]).spawn().unwrap();
    let pid = child.id().unwrap();
    let stdout = child.stdout.take().unwrap();
    let mut lines = tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(stdout));
    let mut text = String::new();
    while !text.contains("adjutant down") {
        text.push_str(&lines.next_line().await.unwrap().unwrap());
        text.push('\n');
    }
    let file = world.server_file().unwrap().unwrap();
    for part in [file["url"].as_str().unwrap(), "operator.token", "adjutant enlist --role worker"] {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
    assert!(!text.contains("adjop_"), "the token itself is not shown");
    host::process::terminate(pid).unwrap();
    assert_eq!(child.wait().await.unwrap().code(), Some(0));
}

#[tokio::test]
async fn detached_it_stays_until_down() {
    let world = world().await;
    let file =
        world.run(&["up", "--detach", "--json"]).await.unwrap().ok().unwrap().json().unwrap();
    let status = world.run(&["status", "--json"]).await.unwrap().ok().unwrap().json().unwrap();
    assert_eq!((&status["pid"], &status["url"]), (&file["pid"], &file["url"]));
    let down = world.run(&["down", "--json"]).await.unwrap().ok().unwrap().json().unwrap();
    assert_eq!((&down["stopped"], &down["how"]), (&true.into(), &"asked".into()));
    assert_eq!(world.run(&["status"]).await.unwrap().code, Some(6));
    assert_eq!(world.run(&["down"]).await.unwrap().ok().unwrap().stdout, "No server is running.\n");
}

#[tokio::test]
async fn a_detached_server_comes_back_after_a_crash() {
    let world = world().await;
    let file =
        world.run(&["up", "--detach", "--json"]).await.unwrap().ok().unwrap().json().unwrap();
    let agent = world.enlist("worker", &[]).await.unwrap();
    host::process::kill(u32::try_from(file["pid"].as_u64().unwrap()).unwrap()).unwrap();
    // Anyone who asks now waits for the next life, on the same port and with the same record.
    let ran =
        world.run_as(&agent, &["tool", "agent_get_status", "--json"]).await.unwrap().ok().unwrap();
    assert_eq!(ran.json().unwrap()["id"], *agent.id);
    let again = world.server_file().unwrap().unwrap();
    assert_eq!(again["url"], file["url"]);
    assert_ne!(again["pid"], file["pid"]);
    world.run(&["down"]).await.unwrap().ok().unwrap();
}

#[tokio::test]
async fn a_taken_port_means_another_and_is_said() {
    let world = world().await;
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ran = world.run(&["up", "--detach", "--port", &port]).await.unwrap().ok().unwrap();
    assert_eq!(ran.stderr, format!("port {port} is taken; another one is used\n"));
    let url = world.server_file().unwrap().unwrap()["url"].as_str().unwrap().to_owned();
    assert!(ran.stdout.contains(&url) && !url.ends_with(&format!(":{port}")), "{}", ran.stdout);
    world.run(&["down"]).await.unwrap().ok().unwrap();
}

#[tokio::test]
async fn a_command_starts_the_server_it_needs() {
    let world = world().await;
    assert_eq!(world.run(&["ps"]).await.unwrap().code, Some(0));
    let first = world.server_file().unwrap().unwrap();
    world.run(&["tasks"]).await.unwrap().ok().unwrap();
    assert_eq!(world.server_file().unwrap().unwrap(), first, "one is enough");
    world.run(&["down"]).await.unwrap().ok().unwrap();
}

#[tokio::test]
async fn many_commands_at_once_start_one_server() {
    let world = world().await;
    let runs = futures_util::future::join_all((0..8).map(|_| world.run(&["ps", "--json"]))).await;
    for ran in runs {
        ran.unwrap().ok().unwrap();
    }
    let log = std::fs::read_to_string(world.state_dir().join("server.log")).unwrap();
    assert_eq!(log.matches("serving").count(), 1, "{log}");
}

#[tokio::test]
async fn a_server_that_nobody_needs_ends_by_itself() {
    let mut world = world().await;
    world.set("ADJUTANT_SERVER_IDLE_SECONDS", "1");
    world.run(&["ps"]).await.unwrap().ok().unwrap();
    let file = world.server_file().unwrap().unwrap();
    let pid = u32::try_from(file["pid"].as_u64().unwrap()).unwrap();
    let gone = tokio::task::spawn_blocking(move || {
        host::process::wait_gone(pid, std::time::Duration::from_secs(20))
    });
    assert!(gone.await.unwrap());
    assert_eq!(world.server_file().unwrap(), None);
}

#[tokio::test]
async fn secrets_are_their_owners_alone() {
    let world = world().await;
    let server = world.up().await.unwrap();
    let token = world.operator().await.unwrap();
    assert_eq!(World::mode(&world.home().join("server.json")).unwrap(), 0o600);
    let folder =
        std::fs::read_dir(world.state().join("adjutant")).unwrap().next().unwrap().unwrap().path();
    assert_eq!(World::mode(&folder).unwrap(), 0o700);
    let file = folder.join("operator.token");
    assert_eq!(World::mode(&file).unwrap(), 0o600);
    assert_eq!(std::fs::read_to_string(file).unwrap().trim(), token);
    let (status, _) = Http::new(&server.url, "adjop_wrong").get("/api/status").await.unwrap();
    assert_eq!(status, 401);
    let (status, body) = Http::new(&server.url, &token).get("/api/status").await.unwrap();
    assert_eq!((status.as_u16(), &body["operator"]), (200, &true.into()));
}

#[tokio::test]
async fn no_token_is_ever_logged() {
    let mut world = world().await;
    world.set("ADJUTANT_SERVER_LOG_LEVEL", "trace");
    world.run(&["up", "--detach"]).await.unwrap().ok().unwrap();
    let agent = world.enlist("worker", &[]).await.unwrap();
    world.run_as(&agent, &["tool", "agent_get_status"]).await.unwrap().ok().unwrap();
    world.run(&["down"]).await.unwrap().ok().unwrap();
    let log = std::fs::read_to_string(world.state_dir().join("server.log")).unwrap();
    assert!(log.contains("serving") && !log.contains("adjag_") && !log.contains("adjop_"), "{log}");
}

#[tokio::test]
async fn the_older_variables_count() {
    let mut world = World::new(BINARY).await.unwrap();
    world.set("MCP_DATABASE_PATH", "elsewhere.db");
    world.set("MCP_LOG_LEVEL", "error");
    let server = world.up().await.unwrap();
    assert!(world.project().join("elsewhere.db").exists());
    assert_eq!(server.stop().await.unwrap(), Some(0));
    let ran = world.run(&["config", "get", "server.logLevel"]).await.unwrap().ok().unwrap();
    assert_eq!(ran.stdout, "error\n");
}
