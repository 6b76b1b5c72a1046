//! Two versions of the program: a server of the older one stops following at a migration, and an upgrade with followers
//! first costs a hand-over.
//!
//! The newer program is this one with migrations more, which `ADJUTANT_NEXT_MIGRATIONS` names.

use std::fs;
use std::path::Path;

use serde_json::json;
use testkit::World;

use super::Cluster;
use super::drills::{restart_fenced, rounds, under_load};

/// Makes the machine's next server one of a program with so many migrations more.
fn upgrade(world: &mut World, migrations: usize) {
    let folder = world.scratch().join(format!("migrations-{migrations}"));
    fs::create_dir_all(&folder).unwrap();
    for number in 1..=migrations {
        let path = folder.join(format!("{number:04}.sql"));
        let table =
            format!("CREATE TABLE next_{number} (number INTEGER PRIMARY KEY, text TEXT);\n");
        fs::write(path, table).unwrap();
    }
    world.set("ADJUTANT_NEXT_MIGRATIONS", folder.display().to_string());
}

/// The schema of a server's file.
fn schema(database: &Path) -> i64 {
    let file = rusqlite::Connection::open(database).unwrap();
    file.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

/// A number among a server's metrics.
async fn metric(cluster: &Cluster, machine: usize, name: &str) -> i64 {
    let text = cluster.get(machine, "/metrics").await;
    let line = text.as_str().unwrap().lines().find(|line| line.starts_with(name)).unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upgrade_with_followers_first_costs_a_hand_over() {
    let mut cluster = Cluster::start(2).await;
    let first = schema(&cluster.machines[0].database());
    under_load(&mut cluster, 8, "upgrade, followers first", async |cluster, told| {
        let mut outages = Vec::new();
        for round in 1..=rounds() {
            restart_fenced(cluster).await;
            let owner = cluster.owner().await;
            let follower = cluster.others(owner)[0];
            upgrade(&mut cluster.machines[follower].world, round);
            cluster.machines[follower].stop().await;
            cluster.machines[follower].up().await;
            told.more(20).await;
            told.strikes();
            cluster.machines[owner].stop().await;
            outages.push(told.longest_gap().await);
            upgrade(&mut cluster.machines[owner].world, round);
            cluster.machines[owner].up().await;
        }
        outages
    })
    .await;
    let migrations = i64::try_from(rounds()).unwrap();
    for machine in &cluster.machines {
        assert_eq!(schema(&machine.database()), first + migrations);
    }
    assert_eq!(cluster.sql("SELECT COUNT(*) FROM adjutant.log WHERE kind = 1"), migrations);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_of_an_older_program_stops_at_a_migration_says_so_and_never_takes_the_home() {
    let mut cluster = Cluster::start(2).await;
    let old = cluster.owner().await;
    let new = cluster.others(old)[0];
    let known = schema(&cluster.machines[old].database());
    upgrade(&mut cluster.machines[new].world, 1);
    cluster.machines[new].stop().await;
    cluster.machines[new].up().await;
    cluster.machines[old].stop().await;
    cluster.until_is(new, "owner").await;

    // The server that was handed the home has migrated it; the older program comes back.
    let log = cluster.machines[old].world.scratch().join("old.log");
    cluster.machines[old].up_logging_to(&log).await;
    let told = format!("schema {}, this Adjutant knows only up to {known}", known + 1);
    crate::crew::until("it says so", || fs::read_to_string(&log).unwrap().contains(&told)).await;
    assert_eq!(schema(&cluster.machines[old].database()), known, "its file stays as it knows it");
    let task = json!({ "title": "through the older one" });
    cluster.http(old).call("mcp__task__create", task).await.unwrap().unwrap();
    assert_eq!(metric(&cluster, old, "adjutant_postgres_up").await, 0);
    assert_eq!(metric(&cluster, new, "adjutant_owner").await, 1);

    // Nobody else is there, and it does not take what it does not understand.
    cluster.machines[new].stop().await;
    cluster.until_is(old, "waiting").await;
    let epoch = cluster.epoch();
    let (status, refused) = cluster.http(old).get("/api/tasks").await.unwrap();
    assert_eq!((status.as_u16(), &refused["code"]), (503, &json!("NO_OWNER")), "{refused}");
    let unowned = cluster.sql("SELECT COUNT(*) FROM adjutant.home WHERE owner IS NULL");
    assert_eq!((unowned, cluster.epoch()), (1, epoch));
    cluster.machines[old].stop().await;

    upgrade(&mut cluster.machines[old].world, 1);
    cluster.machines[old].up().await;
    cluster.until_is(old, "owner").await;
    cluster.machines[new].up().await;
    cluster.expect_whole().await;
}
