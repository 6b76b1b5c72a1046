//! Progress: seen at a terminal, gone when the work is done, and nowhere else.

use std::fs;

use testkit::World;

use crate::BINARY;
use crate::crew::{repository, role, scene};
use crate::kill::{draft, until_is};

async fn waiting() -> (World, String, testkit::Server) {
    let world = scene("steps: [{say: here}, {wait_file: {path: go}}]", &[]).await;
    role(&world, "slow", "category: worker\nagent: script\nscript: crew.yaml\nworktree: none");
    let server = world.up().await.unwrap();
    let agent = draft(&world, "slow", "Begin").await;
    until_is(&world, &agent, "running").await;
    (world, agent, server)
}

/// A terminal in which a command runs, and what stands in it while `shown` and after it has ended.
async fn terminal(world: &World, command: &str, shown: &str) -> (String, String) {
    let place = world.scratch().join("tmux");
    let tmux = format!("tmux -S {}", place.display());
    let until = |text: &str| {
        format!(
            "for i in $(seq 1200); do {tmux} capture-pane -p | grep -qF -- '{text}' && break; sleep 0.05; done"
        )
    };
    let script = format!(
        "{tmux} new-session -d -x 100 -y 30 \"sh -c '{command}; echo THE-END; read x'\"\n\
         {}\n{tmux} capture-pane -p > seen\ntouch go\n{}\n\
         {tmux} capture-pane -p > left; {tmux} kill-server",
        until(shown),
        until("THE-END"),
    );
    world.shell(&script).await.unwrap().ok().unwrap();
    let read = |name: &str| fs::read_to_string(world.project().join(name)).unwrap();
    (read("seen"), read("left"))
}

#[tokio::test]
async fn a_person_who_waits_sees_what_the_agent_does_and_no_trace_is_left() {
    let (world, agent, _server) = waiting().await;
    let sign = format!("{agent} running,");
    let (seen, left) = terminal(&world, &format!("{BINARY} await {agent}"), &sign).await;
    let line = seen.lines().find(|line| line.contains(&sign)).unwrap_or_else(|| panic!("{seen}"));
    assert!(line.contains("here"), "what it said last: {line}");
    assert!(!left.contains(&sign) && left.contains("succeeded"), "{left}");
    let first = left.lines().next().unwrap();
    assert!(first.starts_with(&agent), "the answer stands where the progress was: {left}");
}

#[tokio::test]
async fn run_shows_the_agents_stream_above_the_progress() {
    let (world, first, _server) = waiting().await;
    world.run(&["kill", &first]).await.unwrap().ok().unwrap();
    let command = format!("{BINARY} run --role slow Begin");
    let (seen, left) = terminal(&world, &command, "running, ").await;
    let (said, told) = (seen.find("here").unwrap(), seen.find(" running, ").unwrap());
    assert!(said < told, "{seen}");
    assert!(!left.contains(" running, ") && left.contains("succeeded"), "{left}");
    assert_eq!(left.matches("is started as slow").count(), 1, "{left}");
}

#[tokio::test]
async fn run_shows_one_line_of_each_step_at_80_columns() {
    let world = scene("steps: []", &[]).await;
    let talk = r##"printf '%s\n' '{"adjutant":{"message":"# Plan\n\n- first\n- then"}}'
printf '%s\n' '{"adjutant":{"tool":{"id":"1","name":"grep","input":{"q":"a long one, '"$(seq -s, 60)"'"}}}}'
echo here
while [ ! -e go ]; do sleep 0.05; done
"##;
    fs::write(world.project().join("talk.sh"), talk).unwrap();
    role(&world, "slow", "category: worker\ncommand: [sh, talk.sh]\nworktree: none");
    let _server = world.up().await.unwrap();
    let tool = "TERM=xterm NO_COLOR=1 script -qec";
    let typed = format!(
        "stty cols 80 2>/dev/null; (sh -c 'until grep -q here seen 2>/dev/null; do sleep 0.05; done; touch go' &) ; \
         {tool} 'stty cols 80; {BINARY} run --role slow Begin' /dev/null > seen"
    );
    world.shell(&typed).await.unwrap().ok().unwrap();
    let seen = fs::read_to_string(world.project().join("seen")).unwrap();
    assert!(seen.contains("# Plan - first - then\r\n"), "{seen}");
    // It may clear its line, and has no colours.
    assert!(!seen.contains("\u{1b}[3"), "{seen}");
    let widest = seen.split(['\n', '\r']).map(columns_of).max().unwrap();
    assert!(widest <= 80, "{widest}: {seen}");
    let (live, _) = seen.split_once("succeeded").unwrap();
    assert!(live.contains("→ grep {\"q\":\"a long one, 1,2,3"), "the summary comes last: {seen}");
}

/// Columns of a line without what a terminal obeys.
fn columns_of(line: &str) -> usize {
    let mut columns = 0;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => while chars.next().is_some_and(|c| !c.is_ascii_alphabetic()) {},
            _ => columns += 1,
        }
    }
    columns
}

#[tokio::test]
async fn in_a_pipe_and_with_quiet_an_agent_s_steps_are_not_shown() {
    let (world, first, _server) = waiting().await;
    world.run(&["kill", &first]).await.unwrap().ok().unwrap();
    fs::write(world.project().join("go"), "").unwrap();
    let piped = world.run(&["run", "--role", "slow", "Begin"]).await.unwrap().ok().unwrap();
    assert!(piped.stdout.starts_with("sp_") && piped.stdout.contains("succeeded"), "{piped:?}");
    assert!(piped.stderr.contains("is started as slow"), "{piped:?}");
    let quiet = world.run(&["run", "-q", "--role", "slow", "Begin"]).await.unwrap().ok().unwrap();
    assert_eq!(quiet.stderr, "");
    assert!(quiet.stdout.starts_with("sp_") && quiet.stdout.contains("succeeded"), "{quiet:?}");
    let script =
        format!("TERM=xterm script -qec '{BINARY} run --quiet --role slow Begin' /dev/null");
    let quiet = world.shell(&script).await.unwrap().ok().unwrap();
    assert!(!quiet.stdout.contains("here") && !quiet.stdout.contains("started"), "{quiet:?}");
}

#[tokio::test]
async fn who_ends_everything_sees_how_many_are_left() {
    let (world, _, _server) = waiting().await;
    for _ in 0..2 {
        let agent = draft(&world, "slow", "Begin").await;
        until_is(&world, &agent, "running").await;
    }
    let script = format!("TERM=xterm COLUMNS=100 script -qec '{BINARY} down --kill' /dev/null");
    let ran = world.shell(&script).await.unwrap().ok().unwrap();
    assert!(ran.stdout.contains("ending agents [") && ran.stdout.contains(" of 3"), "{ran:?}");
    assert!(ran.stdout.contains("has stopped"), "{ran:?}");
}

#[tokio::test]
async fn who_removes_worktrees_sees_how_many_are_left_and_a_pipe_gets_the_answer_alone() {
    let world =
        scene("steps: [{write: {path: new, text: new}}, {result: {summary: done}}]", &[]).await;
    role(&world, "hand", "category: worker\nagent: script\nscript: crew.yaml\nworktree: fresh");
    repository(&world).await;
    let _server = world.up().await.unwrap();
    let leave = async |many: usize| {
        for _ in 0..many {
            let ran = world.run(&["run", "--role", "hand", "Begin"]).await.unwrap().ok().unwrap();
            assert!(ran.stdout.contains("in review"), "{ran:?}");
        }
    };
    leave(3).await;
    let script =
        format!("TERM=xterm COLUMNS=100 script -qec '{BINARY} worktrees prune --ended' /dev/null");
    let ran = world.shell(&script).await.unwrap().ok().unwrap();
    assert!(ran.stdout.contains("removing worktrees [") && ran.stdout.contains(" of 3"), "{ran:?}");
    assert_eq!(ran.stdout.matches("is gone").count(), 3, "{ran:?}");
    leave(2).await;
    let ran = world.run(&["worktrees", "prune", "--ended"]).await.unwrap().ok().unwrap();
    assert_eq!((ran.stderr.as_str(), ran.stdout.matches("is gone").count()), ("", 2), "{ran:?}");
    assert!(!ran.stdout.contains('\u{1b}') && !ran.stdout.contains(" of 2"), "{ran:?}");
}

#[tokio::test]
async fn in_a_pipe_and_with_json_there_is_none() {
    let (world, agent, _server) = waiting().await;
    fs::write(world.project().join("go"), "").unwrap();
    let ran = world.run(&["await", &agent]).await.unwrap().ok().unwrap();
    assert_eq!(ran.stderr, "");
    assert!(!ran.stdout.contains('\u{1b}') && !ran.stdout.contains("running"), "{ran:?}");
    let ran = world
        .shell(&format!("TERM=xterm script -qec '{BINARY} await {agent} --json' /dev/null"))
        .await;
    let ran = ran.unwrap().ok().unwrap();
    assert!(!ran.stdout.contains('\u{1b}'), "{ran:?}");
    for typed in
        [&["audit", "export"][..], &["audit", "verify"], &["down", "--kill"], &["up", "--detach"]]
    {
        let ran = world.run(typed).await.unwrap().ok().unwrap();
        assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "{ran:?}");
        assert!(!ran.stderr.contains(" of "), "{ran:?}");
    }
    world.run(&["down"]).await.unwrap().ok().unwrap();
}

#[tokio::test]
async fn an_export_at_a_terminal_writes_the_same_file() {
    let (world, _, _server) = waiting().await;
    world.run(&["audit", "export", "one.jsonl"]).await.unwrap().ok().unwrap();
    let script =
        format!("TERM=xterm NO_COLOR=1 script -qec '{BINARY} audit export two.jsonl' /dev/null");
    let ran = world.shell(&script).await.unwrap().ok().unwrap();
    assert!(ran.stdout.contains("exporting") && ran.stdout.contains("Wrote"), "{ran:?}");
    // It may clear its line, and has no colours.
    assert!(!ran.stdout.contains("\u{1b}[3"), "{ran:?}");
    let read = |name: &str| fs::read_to_string(world.project().join(name)).unwrap();
    assert!(read("two.jsonl").starts_with(&read("one.jsonl")));
}
