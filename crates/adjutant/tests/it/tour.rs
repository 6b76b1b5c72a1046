//! A tour of the command line: an agent that somebody else runs, its task, its mail and its record.

use crate::world;

#[tokio::test]
async fn the_tour_works_as_written() {
    let world = world().await;
    let run = async |typed: &[&str]| world.run(typed).await.unwrap().ok().unwrap().stdout;
    assert!(run(&["up", "--detach"]).await.contains("The server runs at http://127.0.0.1:"));
    assert_eq!(
        run(&["tasks", "add", "Fix the parser", "--slug", "parser"]).await,
        "Added TAS-1 (parser)\n"
    );
    run(&["tasks", "add", "Document it", "--depends-on", "parser"]).await;
    let pasted = run(&["enlist", "--role", "worker", "--task", "parser"]).await;
    for part in [
        "is enlisted",
        "mcpServers",
        "[mcp_servers.mail]",
        "ADJUTANT_TOKEN=adjag_",
        "adjutant discharge sp_",
    ] {
        assert!(pasted.contains(part), "no {part:?} in:\n{pasted}");
    }
    let agent = world.run(&["ps", "--json"]).await.unwrap().json().unwrap();
    let agent = agent["agents"][0]["id"].as_str().unwrap().to_owned();
    let ps = run(&["ps"]).await;
    assert!(ps.starts_with("ID ") && ps.contains(&agent) && ps.contains("parser"), "{ps}");
    let tasks = run(&["tasks"]).await;
    assert!(tasks.contains("TAS-1  in_progress") && tasks.contains("TAS-2  pending"), "{tasks}");
    run(&[
        "tool",
        "mail_send",
        "--as",
        &agent,
        "--to-human",
        "--subject",
        "Ready?",
        "--body",
        "Shall I?",
    ])
    .await;
    let inbox = run(&["mail"]).await;
    let letter = inbox.split_whitespace().find(|word| word.starts_with("mail_")).unwrap();
    let read = run(&["mail", "read", letter]).await;
    assert!(read.contains("Ready?") && read.contains("    Shall I?"), "{read}");
    assert!(run(&["mail", "reply", letter, "Go ahead"]).await.starts_with("Sent mail_"));
    run(&["mail", "send", "--to", &agent, "--subject", "Also", "Write tests"]).await;
    let title = [
        "tool",
        "system_log_decision",
        "--as",
        &agent,
        "--title",
        "Use X",
        "--body",
        "It is small",
    ];
    run(&title).await;
    let decisions = run(&["decisions"]).await;
    assert!(
        decisions.starts_with("Use X ") && decisions.contains("    It is small"),
        "{decisions}"
    );
    assert!(run(&["decisions", "--all"]).await.contains("Invoked tool: mcp__mail__send"));
    assert!(run(&["events"]).await.contains("agent.started"));
    assert!(
        run(&["events", "--after", "0", "--kind", "mail.sent"]).await.contains("subject=Ready?")
    );
    assert!(run(&["tasks", "show", "parser"]).await.contains("Worked on by"));
    assert!(run(&["audit", "list", "--tool", "mail_send"]).await.contains("mail_send"));
    assert!(run(&["audit", "list", "-n", "2"]).await.lines().count() == 3);
    assert!(run(&["audit", "verify"]).await.starts_with("ok "));
    assert!(run(&["reload"]).await.contains("8 roles in force"));
    assert!(run(&["discharge", &agent]).await.contains("has ended"));
    assert!(run(&["tasks"]).await.contains("TAS-1  pending"), "what it held is free again");
    assert!(run(&["down"]).await.contains("has stopped"));
}

#[tokio::test]
async fn events_are_followed_as_they_happen() {
    let world = world().await;
    let _server = world.up().await.unwrap();
    world.run(&["tasks", "add", "Before"]).await.unwrap().ok().unwrap();
    let mut child = world.command(&["events", "-f", "--json"]).spawn().unwrap();
    let stdout = child.stdout.take().unwrap();
    let mut lines = tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(stdout));
    let mut next = async || -> serde_json::Value {
        serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap()
    };
    assert_eq!(next().await["data"]["title"], "Before");
    world.run(&["tasks", "add", "After"]).await.unwrap().ok().unwrap();
    assert_eq!(next().await["data"]["title"], "After");
    child.kill().await.unwrap();
}
