//! What is no plan: it is said why and where, and nothing is made of it.

use std::fs;

use serde_json::json;

use super::stage;
use crate::kill::answer;

#[tokio::test]
async fn what_is_no_plan_is_refused_with_its_line_and_nothing_is_made() {
    let world = stage("steps: []", "", &[]).await;
    let _server = world.up().await.unwrap();
    fs::create_dir(world.project().join("folder")).unwrap();
    fs::write(world.project().join("binary.md"), [0x23, 0x20, 0xff, 0xfe, 0x00]).unwrap();
    fs::write(world.project().join("huge.md"), "x\n".repeat(200_000)).unwrap();
    let write = |name: &str, text: &str| fs::write(world.project().join(name), text).unwrap();
    write("prose.md", "# Plan\n\nDo it.\n");
    write("cycle.md", "## Step 1: A\nAfter: 2\n## Step 2: B\nAfter: 1\n");
    write("unknown.md", "## Step 1: A\nDepends on: 7\n");
    write("twice.md", "## Step 1: A\n## Step 2: a\n");
    write("role.md", "## Step 1: A\nRole: nobody\n");
    for (file, code, words) in [
        ("PLAN.md", 2, "`PLAN.md` is not a plan: it is empty"),
        ("prose.md", 2, "there is no step in it"),
        ("cycle.md", 2, "line 4: step 2 → step 1 → step 2: each would wait for the other"),
        ("unknown.md", 2, "line 2: step 1 depends on `7`, which is not a step"),
        ("twice.md", 2, "line 2: `a` is the title of a step on line 1 too"),
        ("huge.md", 2, "it is 400000 bytes; the limit is 262144"),
        ("binary.md", 2, "it is not text"),
        ("folder", 2, "`folder` is not a file"),
        ("missing.md", 4, "`missing.md` cannot be read"),
        ("role.md", 4, "line 1: step 1: Unknown role \"nobody\""),
    ] {
        let ran = world.run(&["plan", "run", file, "--detach"]).await.unwrap();
        assert_eq!(ran.code, Some(code), "{file}: {ran:?}");
        assert!(ran.stderr.contains(words), "{file}: {}", ran.stderr);
        assert!(ran.stderr.contains("try: "), "{file}: {}", ran.stderr);
        if file != "role.md" {
            let checked = world.run(&["plan", "check", file]).await.unwrap();
            assert_eq!((checked.code, checked.stderr), (Some(code), ran.stderr), "{file}");
        }
    }
    let empty = world.run(&["plan", "check", "PLAN.md"]).await.unwrap();
    assert!(empty.stderr.contains("    ## Step 1: Write the notes\n"), "{}", empty.stderr);
    assert_eq!(answer(&world, &["plan", "list"]).await["plans"], json!([]));
    assert_eq!(answer(&world, &["tasks"]).await["tasks"], json!([]));
    assert_eq!(answer(&world, &["ps", "--all"]).await["agents"], json!([]));
}

#[tokio::test]
async fn what_cannot_be_done_with_a_plan_is_said() {
    let world = stage("steps: [{sleep: 100}]", "1. Do it\n", &[]).await;
    let _server = world.up().await.unwrap();
    for (typed, code, words) in [
        (&["plan", "status", "none"][..], 4, "there is no plan `none`"),
        (&["plan", "stop", "none"], 4, "there is no plan `none`"),
        (&["plan", "resume", "none"], 4, "there is no plan `none`"),
        (&["plan", "follow"], 4, "no plan runs"),
        (
            &["plan", "run", "PLAN.md", "--role", "hand"],
            5,
            "its category `worker` may not start agents",
        ),
        (&["plan", "run", "PLAN.md", "--role", "hnad"], 4, "did you mean `hand`?"),
        (&["plan", "run", "PLAN.md", "--agent", "robot"], 2, "no kind of agent `robot`"),
        (&["plan", "run", "PLAN.md", "--budget", "0"], 2, "is not an amount of dollars"),
        (&["plan", "run", "PLAN.md", "--name", "No Name"], 2, "is not a valid plan name"),
    ] {
        let ran = world.run(typed).await.unwrap();
        assert_eq!(ran.code, Some(code), "{typed:?}: {ran:?}");
        assert!(ran.stderr.contains(words), "{typed:?}: {}", ran.stderr);
    }
    assert_eq!(answer(&world, &["tasks"]).await["tasks"], json!([]), "all of it or nothing");
    let begun = answer(&world, &["plan", "run", "PLAN.md", "--detach"]).await;
    assert_eq!(begun["name"], "plan");
    let runs = world.run(&["plan", "resume", "plan"]).await.unwrap();
    assert_eq!(runs.code, Some(5));
    assert!(runs.stderr.contains("the plan `plan` runs"), "{}", runs.stderr);
    let near = world.run(&["plan", "status", "plam"]).await.unwrap();
    assert!(near.stderr.contains("did you mean `plan`?"), "{}", near.stderr);
    world.run(&["plan", "stop", "plan"]).await.unwrap().ok().unwrap();
}
