//! Configuration and roles as rows of the home, and a file of a server that is not what the log says.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::Cluster;
use crate::crew::role;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_role_pushed_on_one_machine_is_in_force_on_the_owner_and_pulled_on_another() {
    let mut cluster = Cluster::start(2).await;
    let owner = cluster.owner().await;
    let follower = cluster.others(owner)[0];
    let run = async |cluster: &Cluster, machine: usize, verb: &str| {
        let world = &cluster.machines[machine].world;
        world.run(&["home", verb, "--json"]).await.unwrap().ok().unwrap().json().unwrap()
    };
    assert_eq!(run(&cluster, follower, "diff").await["changed"], json!([]));
    role(&cluster.machines[follower].world, "baker", "category: worker");
    let differs = run(&cluster, follower, "diff").await;
    assert_eq!(differs["changed"], json!(["roles/baker.md"]));
    assert!(differs["diff"].as_str().unwrap().contains("+You are the baker."), "{differs}");
    assert_ne!(cluster.enlist(owner, "baker").await, 201, "it is not in force yet");

    let pushed = run(&cluster, follower, "push").await;
    assert_eq!(pushed["changed"], json!(["roles/baker.md"]));
    assert_eq!(run(&cluster, follower, "push").await["changed"], json!([]));
    assert_eq!(cluster.enlist(owner, "baker").await, 201, "it is in force on the owner");
    assert_eq!(run(&cluster, owner, "pull").await["changed"], json!(["roles/baker.md"]));
    assert_eq!(run(&cluster, owner, "pull").await["changed"], json!([]));
    let pulled = cluster.machines[owner].world.home().join("roles/baker.md");
    assert!(fs::read_to_string(&pulled).unwrap().contains("You are the baker."));

    let secret = format!("category: worker\ndescription: ghp_{}", "a1B2".repeat(9));
    role(&cluster.machines[follower].world, "spy", &secret);
    let refused = cluster.machines[follower].world.run(&["home", "push"]).await.unwrap();
    assert!(refused.stderr.contains("`roles/spy.md`, line 4, carries a secret"), "{refused:?}");

    // The next owner has them from the rows, not from its folder.
    let spy = cluster.machines[follower].world.home().join("roles/spy.md");
    fs::remove_file(spy).unwrap();
    fs::remove_file(cluster.machines[follower].world.home().join("roles/baker.md")).unwrap();
    cluster.machines[owner].stop().await;
    cluster.until_is(follower, "owner").await;
    assert_eq!(cluster.enlist(follower, "baker").await, 201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_the_home_has_no_more_is_gone_after_a_pull_and_kept_aside() {
    let cluster = Cluster::start(2).await;
    let owner = cluster.owner().await;
    let follower = cluster.others(owner)[0];
    let run = async |machine: usize, verb: &str| {
        let world = &cluster.machines[machine].world;
        world.run(&["home", verb, "--json"]).await.unwrap().ok().unwrap().json().unwrap()
    };
    let path = |machine: usize| cluster.machines[machine].world.home().join("roles/baker.md");
    role(&cluster.machines[owner].world, "baker", "category: worker");
    run(owner, "push").await;
    run(follower, "pull").await;
    assert!(path(follower).exists());
    fs::remove_file(path(owner)).unwrap();
    assert_eq!(run(owner, "push").await["changed"], json!(["roles/baker.md"]));

    let pulled = run(follower, "pull").await;
    assert_eq!(pulled["removed"], json!(["roles/baker.md"]), "{pulled}");
    assert!(!path(follower).exists());
    let kept = Path::new(pulled["kept"].as_str().unwrap());
    let kept = fs::read_to_string(kept.join("roles/baker.md")).unwrap();
    assert!(kept.contains("You are the baker."), "{kept}");
    assert_eq!(run(follower, "push").await["changed"], json!([]), "it does not come back");
    assert_ne!(cluster.enlist(owner, "baker").await, 201);
    // What was changed here is kept as well.
    let config = cluster.machines[follower].world.home().join("review.md");
    fs::write(&config, "Look twice.").unwrap();
    let pulled = run(follower, "pull").await;
    let kept = Path::new(pulled["kept"].as_str().unwrap());
    assert_eq!(fs::read_to_string(kept.join("review.md")).unwrap(), "Look twice.");
    let again = run(follower, "pull").await;
    assert_eq!(
        (&again["changed"], &again["removed"], &again["kept"]),
        (&json!([]), &json!([]), &json!(null))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_with_a_changed_row_is_noticed_at_the_next_entry_that_touches_it() {
    let (cluster, owner, follower) = with_a_task().await;
    let path = cluster.machines[follower].database();
    change_by_hand(&path, "UPDATE task SET title = 'forged'");
    let checked = cluster.machines[follower].world.run(&["home", "check", "--json"]).await.unwrap();
    assert_eq!(checked.json().unwrap()["ok"], false, "{checked:?}");

    assert_eq!(claim_task(&cluster, owner).await, "to be done");
    let aside = path.with_file_name("home.db.aside-1");
    crate::crew::until("it is set aside", || aside.exists()).await;
    cluster.expect_whole().await;
}

/// Two servers whose files both have one task: the cluster, its owner and its follower.
async fn with_a_task() -> (Cluster, usize, usize) {
    let cluster = Cluster::start(2).await;
    let owner = cluster.owner().await;
    let follower = cluster.others(owner)[0];
    let task = json!({ "title": "to be done" });
    cluster.http(owner).call("mcp__task__create", task).await.unwrap().unwrap();
    cluster.until_caught_up(follower).await;
    (cluster, owner, follower)
}

fn change_by_hand(file: &Path, sql: &str) {
    let file = rusqlite::Connection::open(file).unwrap();
    assert_eq!(file.execute(sql, []).unwrap(), 1, "{sql}");
}

/// Has a new agent claim the only task, and returns the title that it is told.
async fn claim_task(cluster: &Cluster, owner: usize) -> String {
    let worker = cluster.machines[owner].world.enlist("worker", &[]).await.unwrap();
    let claim = json!({ "claim": true });
    let worker = cluster.http(owner).with_token(worker.token);
    let claimed = worker.call("mcp__session__task-next", claim).await.unwrap().unwrap();
    claimed["task"]["content"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_changed_where_the_home_is_owned_is_noticed_by_the_others_and_fills_no_disk() {
    let (cluster, owner, follower) = with_a_task().await;
    let database = |machine: usize| cluster.machines[machine].database();
    change_by_hand(&database(owner), "UPDATE task SET title = 'forged'");
    assert_eq!(claim_task(&cluster, owner).await, "forged");
    // The follower blames its own file, and then finds that a new one cannot follow the log either.
    super::hosts::until("it says so", async || {
        cluster.metrics(follower).await.contains("adjutant_postgres_up{home=\"shop\"} 0")
    })
    .await;
    let aside = |number| database(follower).with_file_name(format!("home.db.aside-{number}"));
    assert!(aside(1).exists() && !aside(2).exists(), "only what was there is kept");
    let tasks = cluster.get(follower, "/api/tasks").await.to_string();
    assert!(tasks.contains("forged"), "requests go on to the owner: {tasks}");
    let checked = cluster.machines[owner].world.run(&["home", "check", "--json"]).await.unwrap();
    assert_ne!(checked.code, Some(0), "{checked:?}");
    let said = format!("{}{}", checked.stdout, checked.stderr);
    assert!(said.contains("a row that it touches"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_differs_from_the_log_is_noticed_set_aside_and_restored() {
    let mut cluster = Cluster::start(2).await;
    let owner = cluster.owner().await;
    let follower = cluster.others(owner)[0];
    for number in 0..3 {
        let task = json!({ "title": format!("task {number}") });
        cluster.http(owner).call("mcp__task__create", task).await.unwrap().unwrap();
    }
    cluster.expect_whole().await;
    cluster.machines[follower].stop().await;
    let path = cluster.machines[follower].database();
    change_by_hand(&path, "UPDATE task SET title = 'forged' WHERE number = 2");
    let checked = cluster.machines[follower].world.run(&["home", "check", "--json"]).await.unwrap();
    assert_eq!(checked.code, Some(1), "{checked:?}");
    let verdict = checked.json().unwrap();
    assert_eq!(verdict["ok"], false, "{verdict}");
    assert!(verdict["problem"].as_str().unwrap().contains("task"), "{verdict}");

    // Nothing touches that row, so a takeover does not see it; the chain is looked at each time.
    change_by_hand(
        &path,
        "UPDATE audit SET hash = 'forged' WHERE number = (SELECT MAX(number) FROM audit)",
    );
    cluster.machines[follower].up().await;
    cluster.until_is(follower, "follower").await;
    cluster.machines[owner].stop().await;
    cluster.until_is(follower, "owner").await;
    let aside = path.with_file_name("home.db.aside-1");
    let kept: String = rusqlite::Connection::open(&aside)
        .unwrap()
        .query_row("SELECT title FROM task WHERE number = 2", [], |row| row.get(0))
        .unwrap();
    assert_eq!(kept, "forged", "what was there is kept");
    cluster.machines[owner].up().await;
    cluster.until_is(owner, "follower").await;
    cluster.expect_whole().await;
    let tasks = cluster.get(follower, "/api/tasks").await.to_string();
    assert!(!tasks.contains("forged"), "{tasks}");
}
