//! What goes wrong: one line, advice, and an exit code that scripts can use.

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
    assert_eq!(world.run(&["doctor"]).await.unwrap().code, Some(1));
    // A server that cannot start says so to whoever needed it.
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
