//! `adjutant mcp install`: every client's file, as the client wants it, and back to what it was.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::World;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

use crate::{BINARY, world};

/// Clients, their files in the project and in the user's folder, and an odd text that such a file may have.
const CLIENTS: [(&str, &str, &str, &str); 4] = [
    (
        "claude",
        ".mcp.json",
        ".claude.json",
        "\u{feff}{\r\n\t\"a\":1,\"mcpServers\":{\"x\":{ \"command\":\"y\"}}}",
    ),
    (
        "codex",
        ".codex/config.toml",
        ".codex/config.toml",
        "# mine\r\nmodel = 'x'\r\n[mcp_servers.x]\r\ncommand = 'y'",
    ),
    (
        "opencode",
        "opencode.json",
        ".config/opencode/opencode.json",
        "// mine\n{ \"mcp\": { \"servers\": { /* newer */ \"x\": { \"type\": \"local\", \"command\": [\"y\"], }, }, }, }\n\n",
    ),
    (
        "vscode",
        ".vscode/mcp.json",
        ".config/Code/User/mcp.json",
        "{\n   \"inputs\": [], // none\n   \"servers\": {\n   }, }",
    ),
];

fn user(world: &World) -> PathBuf {
    world.project().parent().unwrap().join("user")
}

async fn install(world: &World, more: &[&str]) -> Value {
    let typed = [&["mcp", "install", "--yes", "--json", "--client"], more].concat();
    world.run(&typed).await.unwrap().ok().unwrap().json().unwrap()
}

async fn uninstall(world: &World, more: &[&str]) -> Value {
    let typed = [&["mcp", "uninstall", "--yes", "--json", "--client"], more].concat();
    world.run(&typed).await.unwrap().ok().unwrap().json().unwrap()
}

/// The command that a client's file names, as that client reads it.
fn command(client: &str, text: &str) -> Vec<String> {
    let words = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
    };
    if client == "codex" {
        let document: toml_edit::DocumentMut = text.parse().unwrap();
        let entry = &document["mcp_servers"]["adjutant"];
        assert_eq!(entry["tool_timeout_sec"].as_integer(), Some(600));
        let arguments = entry["args"].as_array().unwrap();
        let arguments = arguments.iter().map(|word| word.as_str().unwrap().to_owned());
        return [entry["command"].as_str().unwrap().to_owned()]
            .into_iter()
            .chain(arguments)
            .collect();
    }
    let options = jsonc_parser::ParseOptions::default();
    let root = jsonc_parser::cst::CstRootNode::parse(text.trim_start_matches('\u{feff}'), &options);
    let root = root.unwrap().object_value().unwrap();
    let (keys, form): (&[&str], _) = match client {
        "claude" => (&["mcpServers"], "stdio"),
        "vscode" => (&["servers"], "stdio"),
        _ if root.object_value("mcp").unwrap().object_value("servers").is_some() => {
            (&["mcp", "servers"], "local")
        }
        _ => (&["mcp"], "local"),
    };
    let holder = keys.iter().fold(root, |object, key| object.object_value(key).unwrap());
    let entry = holder.object_value("adjutant").unwrap().to_string();
    // Nothing of ours has a comment; a comma at its end is the file's own custom.
    let entry: String =
        regex_lite::Regex::new(r",(\s*\})").unwrap().replace_all(&entry, "$1").into();
    let entry: Value = serde_json::from_str(&entry).unwrap();
    assert_eq!(entry["type"], form, "{entry}");
    if client == "opencode" {
        assert_eq!(entry.get("enabled").is_some(), keys.len() == 1, "{entry}");
        return words(&entry["command"]);
    }
    if client == "claude" {
        assert_eq!((&entry["alwaysLoad"], &entry["timeout"]), (&json!(true), &json!(600_000)));
    }
    [vec![entry["command"].as_str().unwrap().to_owned()], words(&entry["args"])].concat()
}

/// Starts what the file names, as a client would, and gives the names of the tools.
async fn tools(world: &World, command: &[String]) -> Vec<String> {
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    let as_world = world.command(&[]);
    let variables: Vec<_> =
        as_world.as_std().get_envs().filter_map(|(k, v)| Some((k, v?))).collect();
    let mut child = Command::new(words[0])
        .args(&words[1..])
        .env_clear()
        .envs(variables)
        .current_dir(world.project())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let messages = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" } } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }),
    ];
    let mut input = child.stdin.take().unwrap();
    for message in messages {
        input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }
    drop(input);
    let output = child.wait_with_output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let initialized = answers.iter().find(|answer| answer["id"] == 1).unwrap();
    assert_eq!(initialized["result"]["serverInfo"]["name"], "adjutant", "{initialized}");
    let listed = answers.iter().find(|answer| answer["id"] == 2).unwrap();
    let listed = listed["result"]["tools"].as_array().unwrap();
    listed.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn every_client_gets_its_form_starts_the_server_and_has_its_file_back() {
    let world = world().await;
    let _server = world.up().await.unwrap();
    for (client, project, own, before) in CLIENTS {
        for (scope, path) in
            [(None, world.project().join(project)), (Some("--global"), user(&world).join(own))]
        {
            for before in [None, Some(before)] {
                let more: Vec<&str> = [Some(client), scope].into_iter().flatten().collect();
                if let Some(before) = before {
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(&path, before).unwrap();
                    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
                }
                let made = install(&world, &more).await;
                assert_eq!(made["client"], client);
                assert_eq!(made["scope"], if scope.is_some() { "global" } else { "project" });
                assert_eq!(
                    (made["path"].as_str(), &made["changed"]),
                    (path.to_str(), &json!(true))
                );
                assert!(made["diff"].as_str().unwrap().contains('+'), "{made}");
                let text = fs::read_to_string(&path).unwrap();
                let listed = tools(&world, &command(client, &text)).await;
                assert!(listed.iter().any(|name| name == "mail_send"), "{client}: {listed:?}");
                let again = install(&world, &more).await;
                assert_eq!((&again["changed"], again["diff"].as_str()), (&json!(false), Some("")));
                assert_eq!(fs::read_to_string(&path).unwrap(), text);
                let token = world.operator().await.unwrap();
                assert!(!text.contains(&token), "no secret is written");
                uninstall(&world, &more).await;
                let after = fs::read_to_string(&path).ok();
                assert_eq!(after.as_deref(), before, "{client} {scope:?}");
                if before.is_some() {
                    assert_eq!(World::mode(&path).unwrap(), 0o640, "{client}");
                    fs::remove_file(&path).unwrap();
                }
                let gone = uninstall(&world, &more).await;
                assert_eq!(gone["changed"], false, "{gone}");
            }
        }
    }
    // Folders that came with a file went with it, but for those that the test made.
    assert!(!world.state().join("adjutant/clients").read_dir().unwrap().any(|_| true));
}

#[tokio::test]
async fn a_folder_that_came_with_the_file_goes_with_it() {
    let world = world().await;
    install(&world, &["vscode"]).await;
    assert!(world.project().join(".vscode/mcp.json").exists());
    uninstall(&world, &["vscode"]).await;
    assert!(!world.project().join(".vscode").exists());
    install(&world, &["vscode"]).await;
    fs::write(world.project().join(".vscode/settings.json"), "{}").unwrap();
    uninstall(&world, &["vscode"]).await;
    assert!(world.project().join(".vscode/settings.json").exists());
    assert!(!world.project().join(".vscode/mcp.json").exists());
}

#[tokio::test]
async fn what_was_changed_since_stays_and_only_ours_goes() {
    let world = world().await;
    let path = world.project().join(".mcp.json");
    install(&world, &["claude"]).await;
    install(&world, &["claude", "--name", "mail", "--toolset", "mail"]).await;
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        text.replace("\"mcpServers\": {", "\"mcpServers\": {\n    \"x\": {\"command\": \"y\"},"),
    )
    .unwrap();
    uninstall(&world, &["claude"]).await;
    let left: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let servers = left["mcpServers"].as_object().unwrap();
    assert_eq!(servers.keys().collect::<Vec<_>>(), ["mail", "x"], "{left}");
    assert_eq!(servers["mail"]["args"], json!(["mcp", "--toolset", "mail"]));
    // Another choice of toolsets is a change of the same entry.
    install(&world, &["claude", "--name", "mail", "--toolset", "task"]).await;
    let left: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(left["mcpServers"]["mail"]["args"], json!(["mcp", "--toolset", "task"]));
    uninstall(&world, &["claude", "--name", "mail"]).await;
    let left: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(left, json!({ "mcpServers": { "x": { "command": "y" } } }));
}

#[tokio::test]
async fn a_broken_file_is_refused_with_its_line_and_stays() {
    let world = world().await;
    for (client, file, text, line) in [
        ("claude", ".mcp.json", "{\n  \"mcpServers\": {\n  // no\n}}", 3),
        ("opencode", "opencode.json", "{\n\n  \"mcp\" {}\n}", 3),
        ("codex", ".codex/config.toml", "a = 1\n[mcp_servers\n", 2),
        ("vscode", ".vscode/mcp.json", "{ \"servers\": [] }", 1),
    ] {
        let path = world.project().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        for verb in ["install", "uninstall"] {
            let ran = world.run(&["mcp", verb, "--client", client, "--yes"]).await.unwrap();
            if (client, verb) == ("vscode", "uninstall") {
                assert_eq!(ran.code, Some(0), "{ran:?}");
                continue;
            }
            assert_eq!(ran.code, Some(2), "{ran:?}");
            assert!(ran.stderr.contains(&format!("{file}:{line}")), "{}", ran.stderr);
            assert!(ran.stderr.contains("nothing was changed"), "{}", ran.stderr);
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[tokio::test]
async fn an_entry_of_somebody_else_is_not_overwritten() {
    let world = world().await;
    let path = world.project().join(".mcp.json");
    let text = "{\"mcpServers\": {\"adjutant\": {\"command\": \"theirs\"}}}\n";
    fs::write(&path, text).unwrap();
    for verb in ["install", "uninstall"] {
        let ran = world.run(&["mcp", verb, "--client", "claude", "--yes", "--json"]).await.unwrap();
        assert_eq!(
            (ran.code, &ran.error().unwrap()["code"]),
            (Some(5), &json!("CONFLICT")),
            "{ran:?}"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    install(&world, &["claude", "--name", "crew"]).await;
    uninstall(&world, &["claude", "--name", "crew"]).await;
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    install(&world, &["claude", "--force"]).await;
    assert!(!fs::read_to_string(&path).unwrap().contains("theirs"));
    uninstall(&world, &["claude"]).await;
    assert_eq!(fs::read_to_string(&path).unwrap(), text, "even that is undone");
}

#[tokio::test]
async fn nothing_is_written_where_nobody_said_yes() {
    let world = world().await;
    let path = world.project().join(".mcp.json");
    let ran = world.run(&["mcp", "install", "--client", "claude"]).await.unwrap();
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stdout.contains("+++ .mcp.json") && ran.stderr.contains("--yes"), "{ran:?}");
    let ran = world.run(&["mcp", "install", "--client", "claude", "--json"]).await.unwrap();
    assert_eq!((ran.code, &ran.json().unwrap()["changed"]), (Some(2), &json!(false)));
    let shown =
        world.run(&["mcp", "install", "--client", "claude", "--dry-run"]).await.unwrap().ok();
    assert!(shown.unwrap().stdout.contains("+    \"adjutant\": {"));
    assert!(!path.exists());
    // At a terminal a person is asked.
    let at_terminal = |answer: &str| {
        format!(
            "printf '{answer}\\n' | script -qec '{BINARY} mcp install --client claude' /dev/null"
        )
    };
    let ran = world.shell(&at_terminal("n")).await.unwrap().ok().unwrap();
    assert!(
        ran.stdout.contains("Write it? [y/N]") && ran.stdout.contains("Nothing was changed."),
        "{ran:?}"
    );
    assert!(!path.exists());
    let ran = world.shell(&at_terminal("y")).await.unwrap().ok().unwrap();
    assert!(ran.stdout.contains("Wrote .mcp.json."), "{ran:?}");
    assert!(path.exists());
}

#[tokio::test]
async fn the_program_has_its_name_where_the_path_finds_it_and_the_client_is_looked_for() {
    let mut world = world().await;
    let bin = world.scratch().join("bin");
    fs::create_dir(&bin).unwrap();
    symlink(BINARY, bin.join("adjutant")).unwrap();
    symlink("/bin/true", bin.join("claude")).unwrap();
    world.set("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    let ran =
        world.run(&["mcp", "install", "--client", "claude", "--yes"]).await.unwrap().ok().unwrap();
    assert!(ran.stdout.contains("\"command\": \"adjutant\""), "{}", ran.stdout);
    assert!(
        ran.stdout.contains(&format!("Claude Code is {}", bin.join("claude").display())),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("claude mcp list"), "what to do next: {}", ran.stdout);
    let ran =
        world.run(&["mcp", "install", "--client", "codex", "--yes"]).await.unwrap().ok().unwrap();
    assert!(ran.stdout.contains("No program `codex` is on your PATH"), "{}", ran.stdout);
    // A home that was named is named to the client where it could not find it.
    let home = world.project().display().to_string();
    let typed =
        ["mcp", "install", "--client", "claude", "--global", "--home", &home, "--json", "--yes"];
    let made = world.run(&typed).await.unwrap().ok().unwrap().json().unwrap();
    assert!(made["diff"].as_str().unwrap().contains("\"--home\""), "{made}");
}

#[tokio::test]
async fn a_window_can_be_an_agent_of_its_own_that_goes_with_it() {
    let world = world().await;
    let _server = world.up().await.unwrap();
    let typed = ["mcp", "install", "--client", "claude", "--yes", "--as", "wroker"];
    let wrong = world.run(&typed).await.unwrap();
    assert!(wrong.code == Some(4) && wrong.stderr.contains("`worker`"), "{wrong:?}");
    install(&world, &["claude", "--as", "worker"]).await;
    let text = fs::read_to_string(world.project().join(".mcp.json")).unwrap();
    let command = command("claude", &text);
    assert_eq!(&command[1..], ["mcp", "--as", "worker"]);
    let listed = tools(&world, &command).await;
    assert!(listed.iter().any(|name| name == "mail_send"), "{listed:?}");
    assert!(
        !listed.iter().any(|name| name == "supervisor_approve_task"),
        "only what its role may: {listed:?}"
    );
    let crew = world.run(&["ps", "--all", "--json"]).await.unwrap().json().unwrap();
    let agents = crew["agents"].as_array().unwrap();
    assert_eq!(agents.len(), 1, "{crew}");
    assert_eq!(
        (&agents[0]["role"], agents[0]["finishedAt"].is_string()),
        (&json!("worker"), true),
        "{crew}"
    );
}

#[tokio::test]
async fn an_agent_goes_too_when_its_bridge_is_told_to_end() {
    let world = world().await;
    let _server = world.up().await.unwrap();
    let mut child =
        world.command(&["mcp", "--as", "worker"]).stdin(Stdio::piped()).spawn().unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } } });
    input.write_all(format!("{ping}\n").as_bytes()).await.unwrap();
    output.read_u8().await.unwrap();
    let live = world.run(&["ps", "--json"]).await.unwrap().json().unwrap();
    assert_eq!(live["agents"][0]["role"], "worker", "{live}");
    host::process::terminate(child.id().unwrap()).unwrap();
    assert!(child.wait().await.unwrap().success());
    let live = world.run(&["ps", "--json"]).await.unwrap().json().unwrap();
    assert_eq!(live["agents"], json!([]), "{live}");
}

#[tokio::test]
async fn an_agent_does_not_change_its_operators_programs() {
    let world = world().await;
    let _server = world.up().await.unwrap();
    let agent = world.enlist("worker", &[]).await.unwrap();
    for typed in
        [&["mcp", "install", "--client", "claude", "--yes"][..], &["mcp", "--as", "worker"]]
    {
        let ran = world.run_as(&agent, typed).await.unwrap();
        assert_eq!(ran.code, Some(3), "{ran:?}");
    }
    assert!(!world.project().join(".mcp.json").exists());
    let bare = World::bare(BINARY).unwrap();
    let ran = bare.run(&["mcp", "install", "--client", "claude", "--yes"]).await.unwrap();
    assert_eq!(ran.code, Some(4), "a project is needed: {ran:?}");
}
