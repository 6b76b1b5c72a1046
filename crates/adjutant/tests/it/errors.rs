//! What goes wrong: one line, advice, and an exit code that scripts can use.

use serde_json::json;
use testkit::World;

use crate::{BINARY, world};

#[tokio::test]
async fn without_a_home_the_way_to_one_is_shown() {
    let world = World::bare(BINARY).unwrap();
    let ran = world.run(&["ps"]).await.unwrap();
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(4), ""));
    assert!(ran.stderr.starts_with("error: there is no `.adjutant` folder in "), "{}", ran.stderr);
    assert!(ran.stderr.contains("try: run `adjutant init` in your project"), "{}", ran.stderr);
    let error = world.run(&["ps", "--json"]).await.unwrap().error().unwrap();
    assert_eq!(error["code"], "RESOURCE_NOT_FOUND");
    assert!(error["suggestions"][0].as_str().unwrap().contains("adjutant init"));
}

#[tokio::test]
async fn status_starts_no_server() {
    let world = world().await;
    let ran = world.run(&["status"]).await.unwrap();
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(6), ""));
    insta::assert_snapshot!(ran.stderr, @r"
    error: no server runs for this home
      try: start one with `adjutant up --detach`
    ");
    assert_eq!(world.server_file().unwrap(), None);
    let bare = World::bare(BINARY).unwrap();
    assert_eq!(bare.run(&["status"]).await.unwrap().code, Some(6));
}

#[tokio::test]
async fn what_cannot_be_typed_exits_with_2() {
    let world = World::bare(BINARY).unwrap();
    for typed in [&["fly"][..], &["enlist"], &["up", "--port", "many"], &[]] {
        let ran = world.run(typed).await.unwrap();
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{typed:?}");
        assert!(!ran.stderr.is_empty());
    }
    let error = world.run(&["enlist", "--json"]).await.unwrap().error().unwrap();
    assert_eq!(error["code"], "INVALID_INPUT");
}

#[tokio::test]
async fn a_tools_error_has_the_specified_body_and_exit_code() {
    let world = world().await;
    let _server = world.up().await.unwrap();
    let nobody = "sp_0000000000000000";
    let cases: [(&[&str], &str, i32); 6] = [
        (&["tool", "mail_sned"], "TOOL_NOT_FOUND", 4),
        (&["tool", "mail_send", "--subject", "x", "--body", "y"], "INVALID_INPUT", 2),
        (&["tool", "mail_send", "--input", r#"{"subjct": "x"}"#], "INVALID_INPUT", 2),
        (&["tool", "mail_read", "--mail-id", "mail_0000000000000000"], "RESOURCE_NOT_FOUND", 4),
        (&["tool", "agent_get_status", "--as", nobody], "AGENT_NOT_FOUND", 4),
        (&["tool", "agent_get_status"], "INVALID_AGENT_STATE", 5),
    ];
    for (typed, code, exit) in cases {
        let ran = world.run(&[typed, &["--json"]].concat()).await.unwrap();
        let error = ran.error().unwrap();
        assert_eq!((&error["code"], ran.code), (&code.into(), Some(exit)), "{typed:?}: {error}");
        assert!(error["message"].is_string() && error["toolName"].is_string(), "{error}");
        assert_eq!(ran.stdout, "");
    }
    let ran = world.run(&["tool", "mail_sned"]).await.unwrap();
    insta::assert_snapshot!(ran.stderr, @r"
    error: there is no tool `mail_sned`
      try: did you mean `mail_send`?
    ");
}

#[tokio::test]
async fn a_broken_configuration_shows_its_line() {
    let world = world().await;
    std::fs::write(world.home().join("config.yaml"), "limits:\n  dephts: 4\n").unwrap();
    let ran = world.run(&["config", "get"]).await.unwrap();
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("dephts: 4") && ran.stderr.contains("depth"), "{}", ran.stderr);
    let error = world.run(&["config", "get", "--json"]).await.unwrap().error().unwrap();
    assert!(error["message"].as_str().unwrap().contains("config.yaml:2"), "{error}");
    let config = world.home().canonicalize().unwrap().join("config.yaml");
    assert_eq!(error["details"], json!({ "file": config.display().to_string(), "line": 2 }));
    assert_eq!(world.run(&["doctor"]).await.unwrap().code, Some(1));
    // A server that cannot start says so to anyone who needed it.
    let ran = world.run(&["ps"]).await.unwrap();
    assert_eq!(ran.code, Some(6), "{}", ran.stderr);
    assert!(ran.stderr.contains("dephts"), "{}", ran.stderr);
}

#[tokio::test]
async fn an_unknown_role_names_the_nearest() {
    let world = world().await;
    let _server = world.up().await.unwrap();
    let ran = world.run(&["enlist", "--role", "wroker"]).await.unwrap();
    assert_eq!(ran.code, Some(4));
    assert!(ran.stderr.contains("try: did you mean `worker`?"), "{}", ran.stderr);
    let error =
        world.run(&["enlist", "--role", "worker", "--task", "TAS-9", "--json"]).await.unwrap();
    assert_eq!(error.error().unwrap()["code"], "RESOURCE_NOT_FOUND");
}

#[tokio::test]
async fn inside_an_agent_the_operators_powers_are_gone() {
    let world = world().await;
    let _server = world.up().await.unwrap();
    let agent = world.enlist("worker", &[]).await.unwrap();
    for typed in [&["token"][..], &["ps"], &["up"], &["down"], &["enlist", "--role", "worker"]] {
        let ran = world.run_as(&agent, typed).await.unwrap();
        assert_eq!(ran.code, Some(3), "{typed:?}: {}", ran.stderr);
        assert!(!ran.stdout.contains("adjop_"), "{typed:?}");
    }
    // Without a token of its own it does not fall back to the operator's.
    let mut command = world.command(&["ps"]);
    let output = command.env("ADJUTANT_AGENT_ID", &agent.id).output().await.unwrap();
    assert_eq!(output.status.code(), Some(3));
}

/// What a command says, without the folder of this world.
async fn said(world: &World, typed: &[&str]) -> String {
    let ran = world.run(typed).await.unwrap();
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
    for line in ran.stderr.lines().filter(|line| !line.starts_with("  at ")) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let home = world.home().canonicalize().unwrap().display().to_string();
    ran.stderr.replace(&home, ".adjutant")
}

#[tokio::test]
async fn whatever_is_wrong_with_the_configuration_is_shown_with_its_place_and_a_way_out() {
    let world = world().await;
    let cases = [
        ("an unknown key", "limits:\n  dephts: 4\n"),
        ("an unknown key that nothing is near", "plan:\n  zebra: 4\n"),
        ("a wrong type", "limits:\n  depth: many\n"),
        ("a list for a number", "limits:\n  depth: [1]\n"),
        ("a number for a section", "limits: 3\n"),
        ("a number that is too large", "server:\n  port: 70000\n"),
        ("a number out of its range", "review:\n  max_iterations: 0\n"),
        ("neither true nor false", "mirror: maybe\n"),
        ("a mistyped word", "server:\n  logLevel: inof\n"),
        ("a word of no list", "server:\n  logLevel: quiet\n"),
        ("a bad pattern", "categories:\n  worker:\n    allow: ['mcp__[x']\n"),
        ("an unknown toolset", "categories:\n  worker:\n    allow:\n      - mcp__mial__*\n"),
        ("a bad expression", "routing:\n  rules:\n    - {pattern: '(fix', role: coder}\n"),
        ("an unknown category", "mcp:\n  fullAccessCategories: [wroker]\n"),
        ("a category that nothing is near", "worktrees:\n  fresh: [zebra]\n"),
        ("the same key twice", "limits:\n  depth: 3\nlimits:\n  depth: 4\n"),
        ("a tab", "limits:\n\tdepth: 3\n"),
        ("a key too far to the right", "limits:\n  depth: 3\n   running: 4\n"),
        ("a key too far to the left", "limits:\n    depth: 3\n  running: 4\n"),
        ("a quote that does not end", "check: \"make test\n"),
        ("a bracket that does not end", "server:\n  allowedHosts: [a, b\nmirror: true\n"),
        ("a text instead", "just text\n"),
        ("a list instead", "- limits\n"),
        (
            "a line that is too long",
            "server: {port: 3001, allowedHosts: [one.example, two.example], idleSeconds: 60, prot: 1}\n",
        ),
    ];
    let mut all = String::new();
    for (what, text) in cases {
        std::fs::write(world.home().join("config.yaml"), text).unwrap();
        all.extend(["# ", what, "\n", &said(&world, &["config", "get"]).await, "\n"]);
    }
    insta::assert_snapshot!("what_is_wrong_with_a_configuration", all);
}

#[tokio::test]
async fn a_variable_that_does_not_fit_is_named() {
    let mut all = String::new();
    for (name, value) in [
        ("ADJUTANT_LIMITS_DEPTH", "many"),
        ("ADJUTANT_REVIEW_MAX_ITERATIONS", "0"),
        ("ADJUTANT_SERVER_LOG_LEVEL", "inof"),
        ("ADJUTANT_MIRROR", "perhaps"),
        ("ADJUTANT_WORKTREES_FRESH", "wroker"),
        ("ADJUTANT_WORKTREES_FRESH", "zebra"),
        ("ADJUTANT_SERVER_PORT", "70000"),
        ("MCP_TOOL_TIMEOUT", "soon"),
    ] {
        let mut world = world().await;
        world.set(name, value);
        let ran = world.run(&["config", "get"]).await.unwrap();
        assert_eq!(ran.code, Some(2), "{ran:?}");
        all.extend([&ran.stderr, "\n"]);
    }
    insta::assert_snapshot!("variables_that_do_not_fit", all);
}

#[tokio::test]
async fn a_value_that_cannot_be_set_is_shown_where_it_would_stand() {
    let world = world().await;
    let mut all = String::new();
    for (key, value) in [
        ("limits.depth", "many"),
        ("review.max_iterations", "0"),
        ("server.logLevel", "inof"),
        ("worktrees.fresh", "[wroker]"),
        ("routing.rules", "[{pattern: '(fix', role: coder}]"),
    ] {
        all.extend([&said(&world, &["config", "set", key, value]).await, "\n"]);
    }
    insta::assert_snapshot!("values_that_cannot_be_set", all);
}

#[tokio::test]
async fn a_broken_role_is_shown_when_it_is_asked_for_and_by_the_doctor() {
    let world = world().await;
    let _server = world.up().await.unwrap();
    let cases = [
        "name: odd\ncategory: wroker\n",
        "name: odd\nagent: gemini\n",
        "name: odd\ntimeout: soon\n",
        "name: odd\nworktree: new\n",
        "name: odd\nallow: [mcp__mial__*]\n",
        "name: odd\nbudget: {dollars: 3}\n",
        "name: odd\nagent: command\n",
        "name: odd\nname: even\n",
        "category: worker\n",
        "name: odd\ntools: [Read\n",
    ];
    let mut all = String::new();
    for front in cases {
        std::fs::write(world.home().join("roles/odd.md"), format!("---\n{front}---\nDo it.\n"))
            .unwrap();
        world.run(&["reload"]).await.unwrap().ok().unwrap();
        let shown = said(&world, &["run", "--role", "odd", "Go"]).await;
        assert_eq!(said(&world, &["enlist", "--role", "odd"]).await, shown);
        all.extend([&shown, "\n"]);
    }
    insta::assert_snapshot!("what_is_wrong_with_a_role", all);
    std::fs::write(world.home().join("roles/odd.md"), "---\nname: odd\ncategory: wroker\n---\n")
        .unwrap();
    let doctor = world.run(&["doctor"]).await.unwrap();
    assert_eq!(doctor.code, Some(1));
    let roles = doctor.stdout.split("bad  roles").nth(1).unwrap().split("\nok ").next().unwrap();
    insta::assert_snapshot!(roles, @r"
    .adjutant/roles/odd.md:3: unknown category `wroker`
               2 | name: odd
               3 | category: wroker
                 | ^^^^^^^^
              try: did you mean `worker`?
    ");
}
