//! `adjutant demo` runs green and leaves nothing behind.

use testkit::World;

use crate::BINARY;

#[tokio::test]
async fn the_demo_tells_its_story_and_leaves_nothing_behind() {
    let world = World::bare(BINARY).unwrap();
    let ran = world.run(&["demo"]).await.unwrap();
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{}", ran.stdout);
    for part in [
        "creates the epic",
        "refuses: Tool 'mcp__task__create' is not allowed for agent type",
        "has mail: \"Tool Failure: mcp__mail__read\"",
        "answer: \"ASCII will do\"",
        "in an unbroken hash chain",
    ] {
        assert!(ran.stdout.contains(part), "no {part:?} in:\n{}", ran.stdout);
    }
    let wide: Vec<&str> = ran.stdout.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(wide.is_empty(), "{wide:?}");
    for folder in [world.scratch(), world.state(), world.project()] {
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "{}", folder.display());
    }
}

#[tokio::test]
async fn the_demo_can_be_read_by_programs() {
    let world = World::bare(BINARY).unwrap();
    let ran = world.run(&["demo", "--json"]).await.unwrap().ok().unwrap();
    let lines: Vec<serde_json::Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = lines.last().unwrap();
    assert_eq!((&last["ok"], &last["tasksCompleted"]), (&true.into(), &3.into()));
    assert!(lines.iter().any(|line| line["who"] == "bob"));
    assert!(last["durationMs"].as_u64().unwrap() < 3000, "{last}");
}
