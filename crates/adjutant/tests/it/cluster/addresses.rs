//! Addresses, roles and PostgreSQL servers that cannot keep a home, and what people are told of them.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::json;
use testkit::pgbouncer::PgBouncer;
use testkit::postgres::Postgres;
use testkit::{Server, World};

use super::drills::{kill_owner, restart_fenced, rounds, under_load};
use super::{Cluster, NAME};
use crate::crew::until;

/// Names a database in the configuration.
fn configure(world: &World, database: &str) {
    let path = world.home().join("config.yaml");
    let text = fs::read_to_string(&path).unwrap();
    let line = text.lines().find(|line| line.starts_with("database: ")).unwrap().to_owned();
    fs::write(&path, text.replace(&line, &format!("database: {database}"))).unwrap();
}

/// Runs a command that must fail, and say all of this.
async fn refused(world: &World, arguments: &[&str], parts: &[&str]) {
    let answer = world.run(arguments).await.unwrap();
    assert_ne!(answer.code, Some(0), "{arguments:?}: {answer:?}");
    for part in parts {
        assert!(answer.stderr.contains(part), "{part}: {answer:?}");
    }
}

/// Waits until a log has a text.
async fn until_logged(log: &Path, text: &str) {
    until(text, || fs::read_to_string(log).is_ok_and(|log| log.contains(text))).await;
}

#[tokio::test]
async fn an_address_that_is_none_is_refused_with_its_line_and_what_to_write() {
    let world = crate::world().await;
    for (address, parts) in [
        ("mysql://crew@db/a", &["does not begin with `postgres://`"][..]),
        ("postgres://db/a", &["names no role", "postgres://ROLE@HOST/DATABASE"]),
        ("postgres://crew@db/a?mode=ro", &["the option `mode`", "`sslmode`"]),
        ("postgres://crew@db/a?journal_mode=wal", &["the option `journal_mode`"]),
        ("postgres://crew@db/a?sslmode=prefer", &["`verify-full` or `disable`"]),
    ] {
        configure(&world, address);
        let text = fs::read_to_string(world.home().join("config.yaml")).unwrap();
        let line = 1 + text.lines().position(|line| line.starts_with("database: ")).unwrap();
        let (shown, place) = (format!("database: {address}"), format!("config.yaml:{line}"));
        for command in [&["up"][..], &["home", "check"]] {
            refused(&world, command, &[parts, &[shown.as_str(), place.as_str(), "^"]].concat())
                .await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_postgresql_says_so_and_goes_on_when_it_is_there() {
    let mut cluster = Cluster::import(crate::world().await, 1).await;
    let host = format!("127.0.0.1:{}", cluster.postgres.port());
    cluster.postgres.kill().unwrap();
    let log = cluster.machines[0].world.scratch().join("log");
    let Cluster { postgres, machines, .. } = &mut cluster;
    let ((), ()) = tokio::join!(machines[0].up_logging_to(&log), async {
        until_logged(&log, "home not followed; retrying").await;
        until_logged(&log, "still waiting for PostgreSQL").await;
        let text = fs::read_to_string(&log).unwrap();
        let lines: Vec<&str> = text.lines().filter(|it| it.contains("still waiting")).collect();
        assert!(
            lines.iter().all(|line| line.contains(&host) && line.contains("Connection refused")),
            "{text}"
        );
        postgres.run().unwrap();
    });
    cluster.until_is(0, "owner").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_waits_for_postgresql_ends_when_it_is_asked() {
    let mut cluster = Cluster::start(2).await;
    let owner = cluster.owner().await;
    let follower = cluster.others(owner)[0];
    let down = async |world: &World| {
        let ended = world.run(&["down", "--json"]).await.unwrap().ok().unwrap().json().unwrap();
        ended["how"].as_str().unwrap().to_owned()
    };
    // A follower ends, and its owner goes on.
    assert_eq!(down(&cluster.machines[follower].world).await, "asked");
    let mut server: Server = cluster.machines[follower].server.take().unwrap();
    assert_eq!(server.ended().await.unwrap().code(), Some(0));
    assert_eq!(cluster.role(owner).await.as_deref(), Some("owner"));
    cluster.machines[follower].up().await;

    cluster.postgres.kill().unwrap();
    cluster.until_is(owner, "waiting").await;
    for machine in [owner, follower] {
        let log = cluster.machines[machine].world.scratch();
        assert_eq!(down(&cluster.machines[machine].world).await, "asked", "{}", log.display());
        let mut server = cluster.machines[machine].server.take().unwrap();
        assert_eq!(server.ended().await.unwrap().code(), Some(0));
    }
    // One that has not known its home yet has told nobody where it is.
    let world = &cluster.machines[owner].world;
    let log = world.scratch().join("log");
    let stderr = Stdio::from(fs::File::create(&log).unwrap());
    let mut child = world.command(&["up", "--json"]).stderr(stderr).spawn().unwrap();
    until_logged(&log, "home not followed; retrying").await;
    assert_eq!(down(world).await, "terminated");
    assert_eq!(child.wait().await.unwrap().code(), Some(0));
}

#[tokio::test]
async fn a_server_that_cannot_hand_its_home_over_says_that_and_nothing_else() {
    let mut cluster = Cluster::import(crate::world().await, 1).await;
    let log = cluster.machines[0].world.scratch().join("log");
    cluster.machines[0].up_logging_to(&log).await;
    cluster.until_is(0, "owner").await;
    cluster.postgres.kill().unwrap();
    cluster.machines[0].stop().await;
    let text = fs::read_to_string(&log).unwrap();
    assert!(text.contains("the home is not handed over"), "{text}");
    assert!(!text.contains("the home is handed over"), "{text}");
    cluster.postgres.run().unwrap();
    cluster.machines[0].up_logging_to(&log).await;
    cluster.until_is(0, "owner").await;
    cluster.machines[0].stop().await;
    let text = fs::read_to_string(&log).unwrap();
    assert!(text.contains("the home is handed over"), "{text}");
}

#[tokio::test]
async fn what_keeps_a_role_out_is_told_with_the_role_and_the_grant() {
    let rule = "host all locked 127.0.0.1/32 scram-sha-256";
    let postgres = Postgres::start_with(&[], &[rule]).unwrap();
    for statement in [
        "CREATE ROLE locked LOGIN PASSWORD 'right'",
        "CREATE ROLE bare LOGIN",
        "CREATE DATABASE closed",
        "CREATE DATABASE barred",
        "REVOKE CONNECT ON DATABASE barred FROM PUBLIC",
        "CREATE DATABASE theirs OWNER locked",
    ] {
        postgres.sql(statement).unwrap();
    }
    let address = |role: &str, database: &str| {
        postgres
            .address()
            .replace("adjutant@", &format!("{role}@"))
            .replace("/postgres", &format!("/{database}"))
    };
    let mut world = crate::world().await;
    let host = format!("127.0.0.1:{}", postgres.port());
    let create = async |world: &World, role: &str, database: &str, parts: &[&str]| {
        let address = address(role, database);
        let create = ["home", "create", NAME, "--database", &address];
        refused(world, &create, &[parts, &["PostgreSQL cannot be used"]].concat()).await;
    };
    create(&world, "bare", "missing", &["`CREATE DATABASE missing OWNER bare`", &host]).await;
    create(&world, "bare", "closed", &["`GRANT CONNECT, CREATE ON DATABASE closed TO bare`"]).await;
    create(&world, "bare", "barred", &["`GRANT CONNECT, CREATE ON DATABASE barred TO bare`"]).await;
    let password = ["password", "the role `locked`", "PGPASSWORD", "PGPASSFILE", &host];
    create(&world, "locked", "theirs", &password).await;
    world.set("PGPASSWORD", "wrong");
    create(&world, "locked", "theirs", &password).await;
    world.set("PGPASSWORD", "right");
    let theirs = address("locked", "theirs");
    world.run(&["home", "create", NAME, "--database", &theirs]).await.unwrap().ok().unwrap();
    let usage = "GRANT USAGE ON SCHEMA adjutant TO bare";
    let other = crate::world().await;
    create(&other, "bare", "theirs", &[usage, "ON ALL TABLES IN SCHEMA adjutant TO bare"]).await;
    // A server that is not let in waits, and says why.
    world.set("PGPASSWORD", "wrong");
    let log = world.scratch().join("log");
    let stderr = Stdio::from(fs::File::create(&log).unwrap());
    let mut child = world.command(&["up"]).stderr(stderr).spawn().unwrap();
    until_logged(&log, "set `PGPASSWORD`").await;
    let text = fs::read_to_string(&log).unwrap();
    assert!(!text.contains("wrong") && !text.contains("right"), "no password is told: {text}");
    child.kill().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_postgresql_that_may_lose_what_was_answered_is_refused_unless_that_is_allowed() {
    for setting in ["fsync", "full_page_writes"] {
        let postgres = Postgres::start(&[&format!("{setting} = off")]).unwrap();
        let mut world = crate::world().await;
        let address = postgres.address();
        let create = ["home", "create", NAME, "--database", &address];
        let off = format!("`{setting}` is off");
        refused(&world, &create, &[&off, "may be lost", "`cluster.allowLoss: true`"]).await;
        world.set("ADJUTANT_CLUSTER_ALLOW_LOSS", "true");
        world.run(&create).await.unwrap().ok().unwrap();
        let loose = "ALTER ROLE adjutant SET synchronous_commit = local";
        postgres.sql(loose).unwrap();
        let server = world.up().await.unwrap();
        let shown = world.run(&["status"]).await.unwrap().ok().unwrap().stdout;
        let below = "`synchronous_commit` is below `on` for the role `adjutant`";
        let both = format!("what is answered may be lost: {off} and {below}");
        assert!(shown.contains(&both), "{shown}");
        let status = world.run(&["status", "--json"]).await.unwrap().json().unwrap();
        assert_eq!(status["sharedHome"]["mayLose"], format!("{off} and {below}"), "{status}");
        assert_eq!(server.stop().await.unwrap(), Some(0));
        // Only while it is allowed.
        world.set("ADJUTANT_CLUSTER_ALLOW_LOSS", "false");
        refused(&world, &["home", "check"], &[&off, "ALTER ROLE adjutant RESET"]).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_reaches_only_read_only_hosts_waits_and_names_all_that_it_tried() {
    let mut cluster = Cluster::import(crate::world().await, 1).await;
    let standby = cluster.postgres.standby(&[]).unwrap();
    let address = standby.address_with(&cluster.postgres);
    let hosts = [standby.port(), cluster.postgres.port()].map(|port| format!("127.0.0.1:{port}"));
    cluster.postgres.kill().unwrap();
    let machine = &mut cluster.machines[0];
    machine.world.set("ADJUTANT_DATABASE", &address);
    let log = machine.world.scratch().join("log");
    let ((), ()) = tokio::join!(machine.up_logging_to(&log), async {
        until_logged(&log, "it is read-only").await;
        let text = fs::read_to_string(&log).unwrap();
        assert!(hosts.iter().all(|host| text.contains(host)), "{hosts:?}: {text}");
        // Once one of them can write, it goes on.
        standby.promote().unwrap();
    });
    cluster.until_is(0, "owner").await;
}

#[tokio::test]
async fn tables_of_a_newer_program_are_refused_with_both_numbers() {
    let cluster = Cluster::import(crate::world().await, 1).await;
    cluster.postgres.sql("UPDATE adjutant.meta SET version = 99").unwrap();
    let world = &cluster.machines[0].world;
    let numbers = "its tables have version 99, this Adjutant knows version 1; use a newer Adjutant";
    refused(world, &["home", "list"], &[numbers]).await;
    let log = world.scratch().join("log");
    let stderr = Stdio::from(fs::File::create(&log).unwrap());
    let mut child = world.command(&["up"]).stderr(stderr).spawn().unwrap();
    until_logged(&log, numbers).await;
    child.kill().await.unwrap();
    assert_eq!(cluster.epoch(), 0, "it took nothing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_home_behind_pgbouncer_is_kept_as_any_other() {
    let postgres = Postgres::start(&[]).unwrap();
    let bouncer = PgBouncer::start(&postgres).unwrap();
    let address = bouncer.address();
    let mut cluster = Cluster::import_into(crate::world().await, postgres, &address).await;
    cluster.join(crate::world().await);
    let mut cluster = cluster.serve().await;
    under_load(&mut cluster, 8, "owner killed, behind PgBouncer", async |cluster, told| {
        let mut outages = Vec::new();
        for _ in 0..rounds().div_ceil(3) {
            restart_fenced(cluster).await;
            told.more(30).await;
            outages.push(kill_owner(cluster, told).await);
        }
        outages
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_nobody_owns_the_home_a_command_waits_as_for_a_server_that_starts() {
    let mut cluster = Cluster::start(2).await;
    let owner = cluster.owner().await;
    let follower = cluster.others(owner)[0];
    let taken = format!("`{NAME}` already: epoch 1, owned by {}", cluster.machines[owner].url);
    let stranger = crate::world().await;
    let address = cluster.postgres.address();
    refused(&stranger, &["home", "create", NAME, "--database", &address], &[&taken]).await;

    cluster.machines[owner].kill().await;
    let world = &cluster.machines[follower].world;
    let (epoch, create) = (cluster.epoch(), json!({ "title": "typed while nobody was there" }));
    let typed = ["tool", "task_create", "--input", &create.to_string(), "--json"];
    let made = world.run(&typed).await.unwrap().ok().unwrap().json().unwrap();
    assert_eq!((epoch, cluster.epoch()), (1, 2), "it was typed before the home was taken");
    let tasks = cluster.get(follower, "/api/tasks").await.to_string();
    assert_eq!(tasks.matches("typed while nobody was there").count(), 1, "{made}: {tasks}");
}
