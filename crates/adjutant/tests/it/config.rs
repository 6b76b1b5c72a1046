//! Settings by key: changed in the file, in force at once, and nothing else is touched.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use futures_util::future::join_all;
use serde_json::{Value, json};
use testkit::World;

use crate::{BINARY, world};

fn file(world: &World) -> String {
    std::fs::read_to_string(world.home().join("config.yaml")).unwrap()
}

fn say(world: &World, text: &str) {
    std::fs::write(world.home().join("config.yaml"), text).unwrap();
}

async fn json_of(world: &World, typed: &[&str]) -> Value {
    world.run(&[typed, &["--json"]].concat()).await.unwrap().ok().unwrap().json().unwrap()
}

/// What is in the home beside what `init` and the server make.
fn litter(world: &World) -> Vec<String> {
    let names = std::fs::read_dir(world.home()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("config.yaml.")).collect()
}

#[tokio::test]
async fn what_is_set_is_shown_and_the_comments_stay() {
    let world = world().await;
    let before = file(&world);
    let path = world.home().canonicalize().unwrap().join("config.yaml");
    let set = json_of(&world, &["config", "set", "review.max_iterations", "7"]).await;
    assert_eq!(
        set,
        json!({
            "key": "review.max_iterations", "value": 7, "previous": 3,
            "inForce": true, "notes": [], "path": path.display().to_string(),
        })
    );
    let got = world.run(&["config", "get", "review.max_iterations"]).await.unwrap().ok().unwrap();
    assert_eq!(got.stdout, "7\n");
    assert_eq!(file(&world), before.replace("max_iterations: 3", "max_iterations: 7"));
    let said = world.run(&["config", "set", "check", "make test"]).await.unwrap().ok().unwrap();
    insta::assert_snapshot!(said.stdout, @"check: make test (was null)");
    assert_eq!(json_of(&world, &["config", "get", "check"]).await, json!("make test"));
    // A list keeps its lines, and one that is gone comes back in its section.
    world.run(&["config", "set", "worktrees.fresh", "[review]"]).await.unwrap().ok().unwrap();
    assert!(file(&world).contains("  fresh:\n    - review\n  # Refuse"), "{}", file(&world));
    let gone = json_of(&world, &["config", "unset", "worktrees.fresh"]).await;
    assert_eq!(
        (&gone["value"], &gone["previous"]),
        (&json!(["coding", "worker"]), &json!(["review"]))
    );
    assert!(!file(&world).contains("fresh:"));
    let comments = |text: &str| text.lines().filter(|line| line.contains('#')).count();
    assert_eq!(comments(&file(&world)), comments(&before));
    assert_eq!(
        (world.server_file().unwrap(), litter(&world)),
        (None, vec![]),
        "no server is started"
    );
}

#[tokio::test]
async fn a_running_server_takes_it_over_without_a_restart() {
    let world = world().await;
    let server = world.up().await.unwrap();
    let agent = world.enlist("worker", &[]).await.unwrap();
    let send = ["tool", "mail_send", "--to-human", "--subject", "Hi", "--body", "there"];
    world.run_as(&agent, &send).await.unwrap().ok().unwrap();
    let key = "categories.worker.deny";
    let set = json_of(&world, &["config", "set", key, "[mcp__mail__send]"]).await;
    assert_eq!((&set["inForce"], &set["value"]), (&json!(true), &json!(["mcp__mail__send"])));
    assert_eq!(world.run_as(&agent, &send).await.unwrap().code, Some(3));
    let unset = json_of(&world, &["config", "unset", key]).await;
    assert_eq!((&unset["inForce"], &unset["value"]), (&json!(true), &Value::Null));
    // The rights of those who are there only shrink.
    assert_eq!(world.run_as(&agent, &send).await.unwrap().code, Some(3));
    let new = world.enlist("worker", &[]).await.unwrap();
    world.run_as(&new, &send).await.unwrap().ok().unwrap();
    assert_eq!(world.server_file().unwrap().unwrap()["pid"], server.pid().unwrap());
}

#[tokio::test]
async fn a_bad_value_leaves_the_file_as_it_was() {
    let world = world().await;
    let before = file(&world);
    let cases = [
        ("review.max_iterations", "0", "0 is not between 1 and 100"),
        ("limits.depth", "many", "expected a whole number, not negative"),
        ("limits.depth", "-1", "expected a whole number, not negative"),
        ("worktrees.fresh", "[wroker]", "did you mean `worker`?"),
        ("categories.worker.allow", "[mcp__mial__*]", "did you mean `mail`?"),
        ("check", "make 'test", "has a quote or a backslash without its end"),
        ("github.tokenVariable", "ghp_0123456789abcdef", "must be the name of a variable"),
        ("context.files.0.path", "X.md", "this is no section"),
    ];
    for (key, value, why) in cases {
        let ran = world.run(&["config", "set", key, value, "--json"]).await.unwrap();
        let error = ran.error().unwrap();
        assert_eq!(
            (ran.code, &error["code"]),
            (Some(2), &json!("INVALID_INPUT")),
            "{key}: {error}"
        );
        let said = error["message"].as_str().unwrap();
        assert!(said.contains("config.yaml:") && said.contains(why), "{key}: {said}");
        assert!(error["suggestions"][0].as_str().unwrap().contains("the file is unchanged"));
        assert_eq!(file(&world), before, "{key}");
    }
    assert_eq!(litter(&world), [""; 0]);
}

#[tokio::test]
async fn a_key_that_is_not_there_names_the_nearest() {
    let world = world().await;
    let before = file(&world);
    for verb in [&["set", "review.max_iteration", "3"][..], &["unset", "review.max_iteration"]] {
        let ran = world.run(&[&["config"], verb].concat()).await.unwrap();
        assert_eq!(ran.code, Some(4));
        insta::allow_duplicates!(insta::assert_snapshot!(ran.stderr, @r"
        error: there is no key `review.max_iteration`
          try: did you mean `review.max_iterations`?
        "));
    }
    assert_eq!(file(&world), before);
}

#[tokio::test]
async fn a_variable_wins_and_is_named() {
    let mut world = world().await;
    world.set("ADJUTANT_LIMITS_DEPTH", "9");
    let ran = world.run(&["config", "set", "limits.depth", "4"]).await.unwrap().ok().unwrap();
    insta::assert_snapshot!(ran.stdout, @r"
    limits.depth: 4 (was 3)
      note: `ADJUTANT_LIMITS_DEPTH` is set in the environment and overrides the file
    ");
    assert_eq!(json_of(&world, &["config", "set", "limits.depth", "4"]).await["inForce"], false);
    assert_eq!(json_of(&world, &["config", "get", "limits.depth"]).await, 9);
    assert!(file(&world).contains("\n  depth: 4\n"));
}

#[tokio::test]
async fn what_needs_a_restart_says_so() {
    let world = world().await;
    let alone = json_of(&world, &["config", "set", "server.idleSeconds", "60"]).await;
    assert_eq!((&alone["inForce"], &alone["notes"]), (&json!(true), &json!([])));
    let _server = world.up().await.unwrap();
    for (key, value) in [("server.idleSeconds", "0"), ("database", "other.db"), ("mirror", "false")]
    {
        let set = json_of(&world, &["config", "set", key, value]).await;
        assert_eq!(set["inForce"], false, "{set}");
        assert!(set["notes"][0].as_str().unwrap().contains("when it starts"), "{set}");
    }
}

#[tokio::test]
async fn of_several_at_once_none_is_lost() {
    let world = world().await;
    let _server = world.up().await.unwrap();
    let keys = ["depth", "running", "children", "callsPerMinute", "grace", "maxPromptBytes"];
    let typed: Vec<[String; 4]> = (keys.iter().zip(41..))
        .map(|(key, n)| ["config".into(), "set".into(), format!("limits.{key}"), n.to_string()])
        .collect();
    let runs = typed.iter().map(|words| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let world = &world;
        async move { world.run(&words).await.unwrap().ok().unwrap() }
    });
    join_all(runs).await;
    let limits = json_of(&world, &["config", "get", "limits"]).await;
    for (key, n) in keys.iter().zip(41..) {
        assert_eq!(limits[key], n, "{limits}");
    }
    assert_eq!(litter(&world), [""; 0]);
}

#[tokio::test]
async fn an_agent_does_not_change_settings() {
    let world = world().await;
    let _server = world.up().await.unwrap();
    let agent = world.enlist("supervisor", &[]).await.unwrap();
    let before = file(&world);
    for verb in [&["set", "limits.depth", "9"][..], &["unset", "limits.depth"]] {
        let ran = world.run_as(&agent, &[&["config"], verb].concat()).await.unwrap();
        assert_eq!(ran.code, Some(3), "{}", ran.stderr);
        assert!(ran.stderr.contains("only the operator may change settings"), "{}", ran.stderr);
    }
    assert_eq!(file(&world), before);
    world.run_as(&agent, &["config", "get", "limits.depth"]).await.unwrap().ok().unwrap();
}

#[tokio::test]
async fn a_link_is_followed_and_its_file_keeps_its_permissions() {
    let world = world().await;
    let (link, shared) = (world.home().join("config.yaml"), world.project().join("shared.yaml"));
    std::fs::rename(&link, &shared).unwrap();
    symlink("../shared.yaml", &link).unwrap();
    std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o640)).unwrap();
    world.run(&["config", "set", "limits.depth", "4"]).await.unwrap().ok().unwrap();
    assert!(link.is_symlink() && std::fs::read_to_string(&shared).unwrap().contains("depth: 4"));
    assert_eq!(World::mode(&shared).unwrap(), 0o640);
    // What may only be read is not replaced, and neither is a link to nowhere.
    std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o444)).unwrap();
    let ran = world.run(&["config", "set", "limits.depth", "5"]).await.unwrap();
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    std::fs::remove_file(&shared).unwrap();
    assert_ne!(world.run(&["config", "set", "limits.depth", "5"]).await.unwrap().code, Some(0));
    assert!(link.is_symlink() && !shared.exists());
}

#[tokio::test]
async fn a_file_of_any_form_is_changed_or_refused_by_line() {
    let world = world().await;
    std::fs::remove_file(world.home().join("config.yaml")).unwrap();
    json_of(&world, &["config", "unset", "limits.depth"]).await;
    assert!(!world.home().join("config.yaml").exists(), "nothing said, nothing written");
    json_of(&world, &["config", "set", "limits.depth", "4"]).await;
    assert_eq!(file(&world), "limits:\n  depth: 4\n");
    say(&world, "limits: {depth: 4} # ours\n");
    json_of(&world, &["config", "set", "limits.running", "2"]).await;
    json_of(&world, &["config", "set", "models.overrides.planning", "opus"]).await;
    let text =
        "limits: {depth: 4, running: 2} # ours\n\nmodels:\n  overrides:\n    planning: opus\n";
    assert_eq!(file(&world), text);
    // A wrong value can be mended, and what is no YAML must be mended by hand.
    say(&world, "review:\n  max_iterations: 500 # too many\n");
    let mended = json_of(&world, &["config", "set", "review.max_iterations", "5"]).await;
    assert_eq!((&mended["previous"], &mended["value"]), (&json!(500), &json!(5)));
    assert_eq!(file(&world), "review:\n  max_iterations: 5 # too many\n");
    for broken in ["review: [\n", "worktrees:\n  fresh:\n    - coding\n    # and\n    - review\n"] {
        say(&world, broken);
        let ran = world.run(&["config", "set", "worktrees.fresh", "[]", "--json"]).await.unwrap();
        assert_eq!(ran.code, Some(2));
        assert!(ran.error().unwrap()["message"].as_str().unwrap().contains("config.yaml:"));
        assert_eq!(file(&world), broken);
    }
}

#[tokio::test]
async fn its_help_fits_80_columns() {
    let world = World::bare(BINARY).unwrap();
    for verb in ["get", "set", "unset", "path"] {
        let help = world.run(&["config", verb, "-h"]).await.unwrap().ok().unwrap().stdout;
        let wide: Vec<&str> = help.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{verb}: {wide:?}");
    }
}
