//! Paths that agents give stay inside the project, wherever links lead.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::support::{Who, World};

#[tokio::test]
async fn a_working_directory_does_not_follow_links_out_of_the_project() {
    let world = World::new();
    let project = world.project();
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir_all(project.join("sub/deep")).unwrap();
    fs::write(project.join("file"), "").unwrap();
    symlink("sub", project.join("inner")).unwrap();
    symlink(outside.path(), project.join("link")).unwrap();
    symlink(outside.path(), project.join("sub/link")).unwrap();
    fs::create_dir(outside.path().join("place")).unwrap();
    let lead = world.enlist("conversational").await;
    let spawn = |dir: &str| json!({ "prompt": "Test", "async": true, "working_directory": dir });
    let tool = "mcp__agents__spawn_codex";
    let absolute = project.join("sub").display().to_string();
    for inside in ["sub", "sub/deep", "inner", "./sub", ".", absolute.as_str()] {
        world.ok(lead, tool, spawn(inside)).await;
    }
    let around = project.join("link").display().to_string();
    let beyond = outside.path().display().to_string();
    for leaving in ["link", "link/place", "sub/link", "inner/link/place", "..", &around, &beyond] {
        let refusal = world.refused(lead, tool, spawn(leaving), "INVALID_INPUT").await;
        assert!(refusal.message().contains("outside the project"), "{leaving}: {}", refusal.body);
    }
    for wrong in ["file", "nothing", "link/nothing"] {
        let refusal = world.refused(lead, tool, spawn(wrong), "INVALID_INPUT").await;
        assert!(refusal.message().contains(wrong), "{}", refusal.body);
    }
    // The operator's paths may leave the project.
    world.ok(Who::Operator, tool, spawn("link")).await;
    // A schema by its path is the other path that an agent gives here.
    fs::write(outside.path().join("s.json"), "{}").unwrap();
    let schema = json!({ "prompt": "Test", "async": true, "structured_output": "link/s.json" });
    world.refused(lead, tool, schema, "INVALID_INPUT").await;
}
