//! From one machine to many and back, and everything that is refused on the way.

use std::fs;

use serde_json::{Value, json};
use testkit::postgres::Postgres;
use testkit::{Agent, Http, World};

use super::{Cluster, NAME};

/// Everything of a record that a person can see, as one server answers it.
async fn seen(http: &Http) -> Vec<Value> {
    let mut all = Vec::new();
    for path in ["/api/tasks", "/api/mail", "/api/events?limit=500", "/api/audit", "/api/agents"] {
        let (status, answer) = http.get(path).await.unwrap();
        assert_eq!(status, 200, "{path}: {answer}");
        all.push(answer);
    }
    let (_, verdict) = http.get("/api/audit/verify").await.unwrap();
    assert_eq!(verdict["ok"], true, "{verdict}");
    all.push(json!([verdict["rows"], verdict["head"]]));
    all
}

/// A machine with tasks and mails on record, and no server.
async fn busy() -> (World, Vec<Value>) {
    let world = crate::world().await;
    let server = world.up().await.unwrap();
    let http = Http::new(&server.url, world.operator().await.unwrap());
    let Agent { id, token } = world.enlist("planner", &[]).await.unwrap();
    let agent = http.with_token(token);
    for number in 0..5 {
        let task = json!({ "title": format!("task {number}") });
        agent.call("mcp__task__create", task).await.unwrap().unwrap();
        let letter = json!({ "toAgentId": id, "subject": format!("letter {number}"), "body": "b" });
        agent.call("mcp__mail__send", letter).await.unwrap().unwrap();
    }
    let before = seen(&http).await;
    assert_eq!(server.stop().await.unwrap(), Some(0));
    (world, before)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_home_goes_to_postgresql_and_back_without_loss() {
    let (world, before) = busy().await;
    let mut cluster = Cluster::import(world, 2).await.serve().await;
    for machine in [0, 1] {
        assert_eq!(seen(&cluster.http(machine)).await, before, "server {machine}");
    }
    let task = json!({ "title": "one more" });
    let made = cluster.http(1).call("mcp__task__create", task).await.unwrap();
    made.unwrap();
    let after = seen(&cluster.http(0)).await;
    assert_ne!(after, before);

    let copy = cluster.machines[1].world.scratch().join("copy");
    let folder = copy.display().to_string();
    let export = ["home", "export", &folder];
    let exporting = &cluster.machines[1].world;
    exporting.run(&export).await.unwrap().ok().unwrap();
    let again = exporting.run(&export).await.unwrap();
    assert!(again.stderr.contains("is not empty"), "{again:?}");

    // A server on one machine goes on with the copy.
    let mut plain = crate::world().await;
    fs::create_dir_all(plain.state_dir()).unwrap();
    fs::copy(copy.join("state.db"), plain.state_dir().join("state.db")).unwrap();
    plain.set("ADJUTANT_TOKEN", &cluster.token);
    let server = plain.up().await.unwrap();
    assert_eq!(seen(&Http::new(&server.url, &cluster.token)).await, after);
    assert_eq!(server.stop().await.unwrap(), Some(0));

    let first = &cluster.machines[0].world;
    let refused = first.run(&["home", "export"]).await.unwrap();
    assert!(refused.stderr.contains("a server runs for this home"), "{refused:?}");
    cluster.machines[0].stop().await;
    cluster.until_is(1, "owner").await;
    let first = &cluster.machines[0].world;
    let refused = first.run(&["home", "export"]).await.unwrap();
    assert!(refused.stderr.contains(&cluster.machines[1].url), "{refused:?}");
    cluster.machines[1].stop().await;
    let first = &cluster.machines[0].world;
    let back = first.run(&["home", "export", "--json"]).await.unwrap().ok().unwrap();
    assert!(back.json().unwrap()["aside"].is_string(), "{back:?}");
    cluster.postgres.kill().unwrap();
    let server = first.up().await.unwrap();
    assert_eq!(seen(&Http::new(&server.url, &cluster.token)).await, after);
    assert_eq!(server.stop().await.unwrap(), Some(0));
}

#[tokio::test]
async fn what_cannot_become_a_home_is_refused_with_a_reason() {
    let postgres = Postgres::start(&[]).unwrap();
    let address = postgres.address();
    let refused = async |world: &World, arguments: &[&str], parts: &[&str]| {
        let answer = world.run(arguments).await.unwrap();
        assert_ne!(answer.code, Some(0), "{arguments:?}: {answer:?}");
        for part in parts {
            assert!(answer.stderr.contains(part), "{part}: {answer:?}");
        }
    };
    let world = crate::world().await;
    let import = ["home", "import", NAME, "--database", &address];
    refused(&world, &import, &["there is no database at", "adjutant home create"]).await;
    refused(&world, &["home", "list"], &["no PostgreSQL is named", "--database"]).await;
    let with_password = address.replace("adjutant@", "adjutant:hunter2@");
    let list = ["home", "list", "--database", &with_password];
    refused(&world, &list, &["has a password", "PGPASSFILE"]).await;
    let create = ["home", "create", "Shop!", "--database", &address];
    refused(&world, &create, &["cannot be the name of a home"]).await;

    let server = world.up().await.unwrap();
    refused(&world, &import, &["a server runs for this home", "adjutant down"]).await;
    let agent = world.enlist("worker", &[]).await.unwrap();
    for verb in ["list", "check", "push", "pull", "diff", "export", "import", "create"] {
        let inside = world.run_as(&agent, &["home", verb]).await.unwrap();
        assert!(inside.stderr.contains("only the operator handles homes"), "{verb}: {inside:?}");
    }
    assert_eq!(server.stop().await.unwrap(), Some(0));

    let config = world.home().join("config.yaml");
    let text = fs::read_to_string(&config).unwrap();
    let secret = format!("{text}\n# token: ghp_{}\n", "a1B2".repeat(9));
    fs::write(&config, secret).unwrap();
    refused(&world, &import, &["`config.yaml`, line", "carries a secret"]).await;
    fs::write(&config, &text).unwrap();
    assert_eq!(postgres.sql("SELECT COUNT(*) FROM adjutant.home").unwrap(), "0");

    world.run(&import).await.unwrap().ok().unwrap();
    refused(&world, &import, &["`shop`", "already"]).await;
    let other = crate::world().await;
    let create = ["home", "create", NAME, "--database", &address];
    refused(&other, &create, &["`shop`", "already"]).await;
    let imported = fs::read_to_string(&config).unwrap();
    fs::write(&config, imported.replace("home: shop", "home: shob")).unwrap();
    refused(&world, &["home", "check"], &["no home `shob`", "`shop`"]).await;
    fs::write(&config, imported.replace("adjutant@", "adjutant:hunter2@")).unwrap();
    refused(&world, &["up"], &["has a password", "PGPASSFILE"]).await;
}

#[tokio::test]
async fn a_home_with_an_agent_that_runs_is_not_imported() {
    let postgres = Postgres::start(&[]).unwrap();
    let script = "scenarios: {wait: {steps: [{sleep: 1000}]}}";
    let world = crate::crew::scene(script, &[]).await;
    crate::crew::role(&world, "runner", "category: worker\nagent: script\nscript: crew.yaml");
    let server = world.up().await.unwrap();
    let agent = crate::kill::draft(&world, "runner", "wait").await;
    crate::kill::until_is(&world, &agent, "running").await;
    server.kill().await.unwrap();
    let import = ["home", "import", NAME, "--database", &postgres.address()];
    let refused = world.run(&import).await.unwrap();
    assert!(refused.stderr.contains("1 agent is running"), "{refused:?}");
    assert!(refused.stderr.contains("adjutant kill"), "{refused:?}");
    assert_eq!(postgres.sql("SELECT COUNT(*) FROM adjutant.home").unwrap(), "0");
}
