//! A program that an agent started does not get the operator's token, whatever became of its environment.

use std::time::Duration;

use serde_json::json;
use testkit::World;

use crate::{BINARY, world};

/// A role whose agents run a shell script.
fn role(world: &World, script: &str) {
    let command = json!(["sh", "-c", script]);
    let text = format!(
        "---\nname: climber\ncategory: worker\nagent: command\ncommand: {command}\nworktree: none\n---\n"
    );
    std::fs::write(world.home().join("roles/climber.md"), text).unwrap();
}

/// The same variables that the operator has, and nothing of the agent's.
fn clean(world: &World) -> String {
    let command = world.command(&[]);
    let variables = command
        .as_std()
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}='{}'", name.to_str()?, value?.to_str()?)));
    let variables: Vec<String> = variables.collect();
    format!("env -i {} {BINARY}", variables.join(" "))
}

async fn written(world: &World, name: &str) -> String {
    let path = world.project().join(name);
    let wait = async {
        loop {
            match std::fs::read_to_string(&path) {
                Ok(text) if !text.is_empty() => return text,
                _ => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), wait).await.unwrap()
}

#[tokio::test]
async fn an_agent_with_a_clean_environment_is_not_the_operator() {
    let world = world().await;
    let adjutant = clean(&world);
    // Each by another way down: a child, an orphan in a session of its own, and below what passes for the
    // supervisor of a hook.
    let typed = |arguments: &str, name: &str| {
        format!(
            "{adjutant} {arguments} > {name}.part 2>&1; echo \"exit $?\" >> {name}.part; mv {name}.part {name}"
        )
    };
    let orphan = typed("tasks", "orphan").replace('\'', "'\\''");
    let mask = world.state_dir().join("runs/loop-mask/1");
    role(
        &world,
        &format!(
            "{}; {}; {}; (setsid sh -c '{orphan}' &); mkdir -p {mask}; \
             sh supervise {mask}; until [ -e orphan ]; do sleep 0.02; done; echo done",
            typed("tasks", "child"),
            typed("token", "token"),
            typed("mcp < /dev/null", "bridge"),
            mask = mask.display(),
        ),
    );
    std::fs::write(world.project().join("supervise"), typed("tasks", "masked")).unwrap();
    let _server = world.up().await.unwrap();
    let ran = world.run(&["run", "--role", "climber", "Climb"]).await.unwrap();
    for name in ["child", "token", "bridge", "orphan", "masked"] {
        let said = written(&world, name).await;
        assert!(said.contains("an agent may not use the operator's token"), "{name}: {said}");
        assert!(said.contains("ADJUTANT_AGENT_ID"), "it says what to do: {name}: {said}");
        assert!(said.ends_with("exit 3\n"), "{name}: {said}");
        assert!(!said.contains("adjop_"), "{name}: {said}");
    }
    ran.ok().unwrap();
    // The operator, with the very same environment, is let in.
    let said = world.shell(&typed("tasks", "operator")).await.unwrap();
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(written(&world, "operator").await.ends_with("exit 0\n"));
}

#[tokio::test]
async fn an_agent_of_one_home_may_be_the_operator_of_another() {
    let (world, other) = (world().await, world().await);
    let script = format!(
        "{} --home {} tasks > said 2>&1; echo \"exit $?\" >> said; echo done",
        clean(&other),
        other.project().display()
    );
    role(&world, &script);
    let _servers = (world.up().await.unwrap(), other.up().await.unwrap());
    world.run(&["run", "--role", "climber", "Climb"]).await.unwrap().ok().unwrap();
    let said = written(&world, "said").await;
    assert!(said.ends_with("exit 0\n"), "{said}");
}
