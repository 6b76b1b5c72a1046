//! Agents and those who wait for them outlive the server.

use serde_json::Value;
use testkit::World;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::{crew, draft, go, json, ok, until};

/// Kills the server in the middle of whatever it does.
fn kill_server(world: &World) {
    let file = world.server_file().unwrap().unwrap();
    host::process::kill(u32::try_from(file["pid"].as_u64().unwrap()).unwrap()).unwrap();
}

/// Waits until the first agent runs.
async fn running(world: &World) {
    let first = loop {
        let ps = json(world, &["ps"]).await;
        if let Some(id) = ps["agents"][0]["id"].as_str() {
            break id.to_owned();
        }
    };
    until(world, &first, "running").await;
}

#[tokio::test]
async fn logs_follow_until_the_end_and_through_a_restart() {
    let world = crew().await;
    ok(&world, &["up", "--detach"]).await;
    let waiter = draft(&world, "waiter").await;
    let mut child = world.command(&["logs", "-f", &waiter]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "begun");
    kill_server(&world);
    go(&world);
    assert_eq!(
        lines.next_line().await.unwrap().unwrap(),
        "done",
        "once, though it was asked again"
    );
    assert_eq!(lines.next_line().await.unwrap(), None);
    assert_eq!(child.wait().await.unwrap().code(), Some(0));
    ok(&world, &["down"]).await;
}

#[tokio::test]
async fn a_run_outlives_its_server() {
    let world = crew().await;
    let file = json(&world, &["up", "--detach"]).await;
    let waiting = world.command(&["run", "--role", "waiter", "--json", "Wait"]).spawn().unwrap();
    let waiting = waiting.wait_with_output();
    let killing = async {
        running(&world).await;
        kill_server(&world);
        go(&world);
    };
    let (output, ()) = tokio::join!(waiting, killing);
    let output = output.unwrap();
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &run["state"]), (Some(0), &"succeeded".into()), "{run}");
    let again = json(&world, &["status"]).await;
    assert_eq!(again["url"], file["url"], "it comes back where its agents know it");
    assert_ne!(again["pid"], file["pid"]);
    ok(&world, &["down"]).await;
}

#[tokio::test]
async fn ctrl_c_ends_the_waiting_and_not_the_agent() {
    let world = crew().await;
    let _server = world.up().await.unwrap();
    let child = world.command(&["run", "--role", "waiter", "Wait"]).spawn().unwrap();
    let pid = child.id().unwrap();
    let waiting = child.wait_with_output();
    let pressing = async {
        running(&world).await;
        world.shell(&format!("kill -INT {pid}")).await.unwrap().ok().unwrap();
    };
    let (output, ()) = tokio::join!(waiting, pressing);
    let output = output.unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("keeps running") && said.contains("adjutant kill sp_"), "{said}");
    go(&world);
    assert_eq!(json(&world, &["await", "last"]).await["state"], "succeeded");
}

#[tokio::test]
async fn down_refuses_while_agents_run() {
    let world = crew().await;
    ok(&world, &["up", "--detach"]).await;
    assert!(ok(&world, &["status"]).await.stdout.contains("0 at work, 0 waiting"));
    // Those that somebody else runs do not hold it up.
    world.enlist("worker", &[]).await.unwrap();
    ok(&world, &["down"]).await;
    ok(&world, &["up", "--detach"]).await;
    let waiter = draft(&world, "waiter").await;
    until(&world, &waiter, "running").await;
    assert!(ok(&world, &["status"]).await.stdout.contains("1 at work, 0 waiting"));
    let refused = world.run(&["down"]).await.unwrap();
    assert_eq!(refused.code, Some(5), "{refused:?}");
    for part in [&waiter, "waiter", "--kill", "--leave"] {
        assert!(refused.stderr.contains(part), "no {part:?} in: {}", refused.stderr);
    }
    let file = json(&world, &["status"]).await;
    let left = ok(&world, &["down", "--leave"]).await.stdout;
    assert!(left.contains("has stopped") && left.contains("1 agent"), "{left}");
    // Its agents know no other port, whatever is asked for.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let again = ok(&world, &["up", "--detach", "--port", &port]).await;
    assert_eq!(json(&world, &["status"]).await["url"], file["url"]);
    assert!(again.stderr.contains("is used again"), "{again:?}");
    let gone = json(&world, &["down", "--kill"]).await;
    assert_eq!((&gone["stopped"], &gone["left"]), (&true.into(), &0.into()));
    ok(&world, &["up", "--detach"]).await;
    until(&world, &waiter, "killed").await;
    ok(&world, &["down"]).await;
}

#[tokio::test]
async fn a_server_is_remembered_in_private() {
    let world = crew().await;
    let server = world.up().await.unwrap();
    let address = world.state_dir().join("runs/address");
    assert_eq!(std::fs::read_to_string(&address).unwrap(), format!("{}\n", server.url));
    assert_eq!(World::mode(&address).unwrap(), 0o600);
}

#[tokio::test]
async fn a_run_outlives_a_request_to_restart_the_server() {
    let world = crew().await;
    ok(&world, &["up", "--detach"]).await;
    let waiting = world.command(&["run", "--role", "waiter", "--json", "Wait"]).spawn().unwrap();
    let restarting = async {
        running(&world).await;
        ok(&world, &["down", "--leave"]).await;
        ok(&world, &["up", "--detach"]).await;
        go(&world);
    };
    let (output, ()) = tokio::join!(waiting.wait_with_output(), restarting);
    assert_eq!(output.unwrap().status.code(), Some(0));
    ok(&world, &["down"]).await;
}

#[tokio::test]
async fn the_logs_tell_of_every_attempt() {
    let world = crew().await;
    let scenario = "steps: [{say: first}, {limited: {seconds: 1}}, {fail: not yet}]\n\
                    attempts: {2: [{say: second}, {result: {summary: at last}}]}\n";
    let file = world.project().join("twice.yaml");
    std::fs::write(&file, scenario).unwrap();
    let script = file.display();
    let role = format!("---\nname: twice\nagent: script\nscript: {script}\nworktree: none\n---\n");
    std::fs::write(world.home().join("roles/twice.md"), role).unwrap();
    let _server = world.up().await.unwrap();
    let run = json(&world, &["run", "--role", "twice", "x"]).await;
    assert_eq!(run["result"]["summary"], "at last", "{run}");
    let all = ok(&world, &["logs", "-f", "last"]).await.stdout;
    let at = |part: &str| all.find(part).unwrap_or_else(|| panic!("no {part:?} in:\n{all}"));
    assert!(at("first") < at("── attempt 2 ──") && at("attempt 2") < at("second"), "{all}");
    let one = ok(&world, &["logs", "last", "--attempt", "1"]).await.stdout;
    assert!(one.contains("first") && !one.contains("second"), "{one}");
}
