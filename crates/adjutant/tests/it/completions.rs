//! Completions in the shells themselves: what Tab offers, and that it starts nothing.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;

use testkit::World;

use crate::crew::{role, scene};
use crate::kill::draft;
use crate::{BINARY, world};

/// A world in which `adjutant` is on the path, as the scripts expect it.
async fn on_path(mut world: World) -> World {
    let bin = world.scratch().join("bin");
    fs::create_dir(&bin).unwrap();
    symlink(BINARY, bin.join("adjutant")).unwrap();
    world.set("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()));
    for shell in ["bash", "zsh", "fish"] {
        let script = world.run(&["completions", shell]).await.unwrap().ok().unwrap().stdout;
        fs::write(world.scratch().join(shell), script).unwrap();
    }
    world
}

/// Whether a shell is here. Who runs the tests hears of one that is not.
async fn has(world: &World, shell: &str) -> bool {
    let found = world.shell(&format!("command -v {shell}")).await.unwrap().code == Some(0);
    if !found {
        let said = format!("{shell} is not installed: its completions were not tried\n");
        std::io::stderr().write_all(said.as_bytes()).unwrap();
    }
    found
}

/// What bash offers for the last of these words.
async fn bash(world: &World, words: &[&str]) -> Vec<String> {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let script = format!(
        "source {}/bash; complete -p adjutant > /dev/null || exit 9\n\
         COMP_WORDS=({}); COMP_CWORD={}; COMP_LINE='{}'; COMP_POINT=${{#COMP_LINE}}\n\
         _adjutant adjutant \"${{COMP_WORDS[COMP_CWORD]}}\" ''\n\
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        world.scratch().display(),
        quoted.join(" "),
        words.len() - 1,
        words.join(" "),
    );
    lines(&world.shell(&script).await.unwrap().ok().unwrap().stdout)
}

/// What fish offers at the end of a line.
async fn fish(world: &World, line: &str) -> Vec<String> {
    let script = format!(
        "fish --no-config -c 'source {}/fish; complete -C \"{line}\"'",
        world.scratch().display()
    );
    let shown = lines(&world.shell(&script).await.unwrap().ok().unwrap().stdout);
    shown.into_iter().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

/// What stands in a terminal with zsh in it after a line was typed and Tab pressed.
async fn zsh(world: &World, line: &str, wanted: &str) -> String {
    let place = world.scratch();
    fs::write(
        place.join(".zshrc"),
        format!(
            "autoload -Uz compinit; compinit -u -D; source {}/zsh; PS1='READY> '\n",
            place.display()
        ),
    )
    .unwrap();
    let (socket, place) = (place.join("zsh.tmux"), place.display().to_string());
    let (tmux, socket) = (format!("tmux -S {}", socket.display()), socket.display().to_string());
    let until = |text: &str| {
        format!(
            "for i in $(seq 600); do {tmux} capture-pane -p | grep -qF -- '{text}' && break; sleep 0.05; done"
        )
    };
    let script = format!(
        "{tmux} new-session -d -x 200 -y 50 'ZDOTDIR={place} zsh -d -i'\n\
         {}\n{tmux} send-keys -l '{line}'; {tmux} send-keys Tab\n{}\n\
         {tmux} capture-pane -p; {tmux} kill-server; rm -f {socket}",
        until("READY>"),
        until(wanted),
    );
    world.shell(&script).await.unwrap().ok().unwrap().stdout
}

fn lines(text: &str) -> Vec<String> {
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// A project with a task, an agent, and a server.
async fn busy() -> (World, String, testkit::Server) {
    let world = on_path(scene("steps: [{say: here}]", &[]).await).await;
    role(
        &world,
        "shown",
        "category: worker\nagent: script\nscript: crew.yaml\ndescription: Shows up",
    );
    let server = world.up().await.unwrap();
    world
        .run(&["tasks", "add", "Fix the parser", "--slug", "fix-the-parser"])
        .await
        .unwrap()
        .ok()
        .unwrap();
    let agent = draft(&world, "shown", "Begin").await;
    (world, agent, server)
}

#[tokio::test]
async fn bash_completes_commands_flags_and_values() {
    let world = on_path(world().await).await;
    assert_eq!(bash(&world, &["adjutant", "enl"]).await, ["enlist"]);
    assert_eq!(bash(&world, &["adjutant", "mcp", "un"]).await, ["uninstall"]);
    assert_eq!(bash(&world, &["adjutant", "mcp", "install", "--cl"]).await, ["--client"]);
    let clients = ["claude", "codex", "opencode", "vscode"];
    assert_eq!(bash(&world, &["adjutant", "mcp", "install", "--client", ""]).await, clients);
    let cut = ["adjutant", "mcp", "install", "--client", "=", "co"];
    assert_eq!(bash(&world, &cut).await, ["codex"]);
    assert_eq!(bash(&world, &["adjutant", "tool", "mail_s"]).await, ["mail_send"]);
    assert_eq!(bash(&world, &["adjutant", "mcp", "--toolset", "ma"]).await, ["mail"]);
    fs::create_dir(world.project().join("a dir")).unwrap();
    assert_eq!(bash(&world, &["adjutant", "--home", "a"]).await, ["a\\ dir/"]);
    let all = bash(&world, &["adjutant", ""]).await;
    assert!(
        all.contains(&"run".to_owned()) && !all.iter().any(|one| one.starts_with('-')),
        "{all:?}"
    );
}

#[tokio::test]
async fn bash_completes_what_the_project_has() {
    let (world, agent, _server) = busy().await;
    assert_eq!(bash(&world, &["adjutant", "await", "la"]).await, ["last"]);
    assert_eq!(bash(&world, &["adjutant", "await", "sp_"]).await, std::slice::from_ref(&agent));
    assert_eq!(bash(&world, &["adjutant", "tasks", "show", "fix"]).await, ["fix-the-parser"]);
    assert_eq!(bash(&world, &["adjutant", "run", "--role", "sho"]).await, ["shown"]);
    let both = bash(&world, &["adjutant", "review", "show", ""]).await;
    assert!(both.contains(&agent) && both.contains(&"fix-the-parser".to_owned()), "{both:?}");
    // From elsewhere the home can be named.
    let project = world.project().display().to_string();
    let script = format!("cd / && adjutant __complete bash 4 adjutant --home {project} await sp_");
    assert_eq!(lines(&world.shell(&script).await.unwrap().stdout), [agent]);
}

#[tokio::test]
async fn fish_completes_too() {
    let (world, agent, _server) = busy().await;
    if !has(&world, "fish").await {
        return;
    }
    assert_eq!(fish(&world, "adjutant enl").await, ["enlist"]);
    assert_eq!(fish(&world, "adjutant mcp install --cl").await, ["--client"]);
    assert_eq!(
        fish(&world, "adjutant mcp install --client ").await,
        ["claude", "codex", "opencode", "vscode"]
    );
    assert_eq!(fish(&world, "adjutant await ").await[..2], ["last".to_owned(), agent]);
    assert_eq!(fish(&world, "adjutant tasks show fix").await, ["fix-the-parser"]);
    assert_eq!(fish(&world, "adjutant enlist --role sho").await, ["shown"]);
}

#[tokio::test]
async fn zsh_completes_too() {
    let (world, agent, _server) = busy().await;
    if !has(&world, "zsh").await || !has(&world, "tmux").await {
        return;
    }
    let shown = zsh(&world, "adjutant enl", "adjutant enlist").await;
    assert!(shown.contains("READY> adjutant enlist"), "{shown}");
    let shown = zsh(&world, "adjutant mcp install --client ", "vscode").await;
    assert!(shown.contains("claude") && shown.contains("opencode"), "{shown}");
    let shown = zsh(&world, "adjutant kill sp_", &agent).await;
    assert!(shown.contains(&format!("READY> adjutant kill {agent}")), "{shown}");
    let shown = zsh(&world, "adjutant run --task fix", "fix-the-parser").await;
    assert!(shown.contains("READY> adjutant run --task fix-the-parser"), "{shown}");
}

#[tokio::test]
async fn completion_starts_no_server_and_prints_no_error() {
    let world = on_path(world().await).await;
    for words in [&["await", ""][..], &["tasks", "show", ""], &["run", "--role", ""]] {
        let index = words.len().to_string();
        let typed = [&["__complete", "zsh", &index, "adjutant"], words].concat();
        let ran = world.run(&typed).await.unwrap().ok().unwrap();
        assert_eq!(ran.stderr, "");
    }
    assert_eq!(world.server_file().unwrap(), None, "no server was started");
    let roles = bash(&world, &["adjutant", "run", "--role", "work"]).await;
    assert_eq!(roles, ["worker"], "roles need no server");
    // A broken configuration, no home, nonsense: an empty answer and a good end.
    fs::write(world.home().join("config.yaml"), "nonsense: [").unwrap();
    for typed in [
        &["__complete"][..],
        &["__complete", "tcsh", "1"],
        &["__complete", "bash", "x"],
        &["__complete", "bash", "3", "adjutant", "run", "--role", ""],
    ] {
        let ran = world.run(typed).await.unwrap().ok().unwrap();
        assert_eq!(ran.stderr, "", "{typed:?}");
    }
    let bare = World::bare(BINARY).unwrap();
    let ran = bare
        .run(&["__complete", "bash", "2", "adjutant", "await", ""])
        .await
        .unwrap()
        .ok()
        .unwrap();
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("last\n", ""));
    // A server that was killed leaves its file behind.
    let server = world.home().join("server.json");
    fs::write(world.home().join("config.yaml"), "").unwrap();
    fs::write(&server, r#"{"url":"http://127.0.0.1:1","pid":1,"version":"0","startedAt":"2026-01-01T00:00:00.000Z"}"#).unwrap();
    assert_eq!(bash(&world, &["adjutant", "await", ""]).await[..1], ["last".to_owned()]);
    fs::remove_file(&server).unwrap();
}
