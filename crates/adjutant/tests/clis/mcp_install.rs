//! What `adjutant mcp install` writes, as the real clients read it.

use std::path::Path;

use testkit::World;

use crate::crowd::{BINARY, installed};

/// A world with the real clients on its path and folders of their own.
async fn world() -> World {
    let mut world = World::new(BINARY).await.unwrap();
    let [clis, node] = [".tools/clis/bin", ".tools/node/bin"].map(installed);
    let path = format!("{}:{}:/usr/local/bin:/usr/bin:/bin", clis.display(), node.display());
    world.set("PATH", path);
    for (name, value) in [
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("ANTHROPIC_API_KEY", "any"),
    ] {
        world.set(name, value);
    }
    world
}

/// What a client says of its servers, in the project.
async fn list(world: &World, client: &str) -> String {
    let ran = world.shell(&format!("timeout 60 {client} mcp list < /dev/null")).await.unwrap();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.stdout
}

async fn change(world: &World, verb: &str, more: &[&str]) {
    world.run(&[&["mcp", verb, "--yes", "--client"], more].concat()).await.unwrap().ok().unwrap();
}

#[tokio::test]
async fn claude_lists_the_server_and_reaches_it() {
    let world = world().await;
    let _server = world.up().await.unwrap();
    change(&world, "install", &["claude"]).await;
    let listed = list(&world, "claude").await;
    assert!(listed.contains("adjutant: ") && listed.contains("Pending approval"), "{listed}");
    change(&world, "uninstall", &["claude"]).await;
    assert!(!list(&world, "claude").await.contains("adjutant: "));
    // What is one's own needs no approval: it is started, and answers.
    change(&world, "install", &["claude", "--global"]).await;
    let listed = list(&world, "claude").await;
    assert!(listed.contains("adjutant: ") && listed.contains("Connected"), "{listed}");
    change(&world, "uninstall", &["claude", "--global"]).await;
    assert!(!list(&world, "claude").await.contains("adjutant: "));
}

#[tokio::test]
async fn codex_lists_the_server_in_a_trusted_project() {
    let world = world().await;
    let user = world.project().parent().unwrap().join("user");
    // A project is what git calls one.
    world.shell("git init -q").await.unwrap().ok().unwrap();
    trust(&user.join(".codex"), &world.project());
    change(&world, "install", &["codex", "--as", "worker"]).await;
    let listed = list(&world, "codex").await;
    assert!(listed.contains("adjutant") && listed.contains("mcp --as worker"), "{listed}");
    change(&world, "uninstall", &["codex"]).await;
    change(&world, "install", &["codex", "--global", "--name", "crew"]).await;
    let listed = list(&world, "codex").await;
    assert!(listed.contains("crew") && listed.contains("enabled"), "{listed}");
    change(&world, "uninstall", &["codex", "--global", "--name", "crew"]).await;
    assert!(!list(&world, "codex").await.contains("crew"));
}

fn trust(codex_home: &Path, project: &Path) {
    std::fs::create_dir_all(codex_home).unwrap();
    let project = project.canonicalize().unwrap();
    let text = format!("[projects.\"{}\"]\ntrust_level = \"trusted\"\n", project.display());
    std::fs::write(codex_home.join("config.toml"), text).unwrap();
}
