//! PostgreSQL's primary is killed and its standby promoted, under the whole program.

use std::mem::swap;

use serde_json::json;
use testkit::postgres::Postgres;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use super::Cluster;
use super::drills::{Loss, half_the_rounds, under_load, work_through};
use crate::crew::until;

const CLIENTS: usize = 8;
/// Setting with the standbys that a commit waits for.
const AWAITED: &str = "synchronous_standby_names";

/// A home whose address names a primary and its standby.
async fn start() -> (Cluster, Postgres) {
    let primary = Postgres::start(&[]).unwrap();
    let standby = primary.standby(&[]).unwrap();
    let address = primary.address_with(&standby);
    let mut cluster = Cluster::import_into(crate::world().await, primary, &address).await;
    cluster.join(crate::world().await);
    (cluster.serve().await, standby)
}

/// Lets every commit wait for the standby, and waits until it is one.
fn await_standby(primary: &Postgres) {
    let is_awaited =
        "SELECT COUNT(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')";
    primary.set(AWAITED, "*").unwrap();
    let deadline = Instant::now() + super::PATIENCE;
    while primary.sql(is_awaited).unwrap() == "0" {
        assert!(Instant::now() < deadline, "the standby is not waited for");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::print_stdout, reason = "the figures are the point")]
async fn a_promoted_synchronous_standby_has_everything_and_the_owner_goes_on() {
    let (mut cluster, mut standby) = start().await;
    let (owner, epoch) = (cluster.owner().await, cluster.epoch());
    let pid = cluster.machines[owner].pid();
    let mut promotions = Vec::new();
    under_load(&mut cluster, CLIENTS, "primary killed, synchronous", async |cluster, told| {
        let mut outages = Vec::new();
        for _ in 0..half_the_rounds() {
            await_standby(&cluster.postgres);
            told.more(20).await;
            let killed = Instant::now();
            cluster.postgres.kill().unwrap();
            told.strikes();
            standby.promote().unwrap();
            // It has none of its own yet.
            standby.set(AWAITED, "").unwrap();
            promotions.push(killed.elapsed().as_millis());
            outages.push(told.outage().await);
            swap(&mut cluster.postgres, &mut standby);
            standby.follow(&cluster.postgres).unwrap();
        }
        outages
    })
    .await;
    println!("the standby could write after, in ms: {promotions:?}");
    assert_eq!((cluster.owner().await, cluster.epoch()), (owner, epoch), "the same owner goes on");
    assert!(host::process::is_alive(pid), "without a restart");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_whose_wait_for_the_standby_is_cancelled_is_not_answered_before_it_is_known() {
    let cluster = Cluster::start(1).await;
    cluster.until_is(0, "owner").await;
    // There is none, so every commit waits.
    cluster.postgres.set(AWAITED, "*").unwrap();
    let (http, task) = (cluster.http(0), json!({ "title": "in doubt" }));
    let call = async move { http.call("mcp__task__create", task).await };
    let call = TaskTracker::new().spawn(call);
    let waits = |appends: &str| {
        let which =
            format!("wait_event = 'SyncRep' AND query {appends} '%INSERT INTO adjutant.log%'");
        cluster.postgres.sql(&format!("SELECT COUNT(*) FROM pg_stat_activity WHERE {which}"))
    };
    until("the append waits", || waits("LIKE").unwrap() == "1").await;
    let cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity
        WHERE wait_event = 'SyncRep' AND query LIKE '%INSERT INTO adjutant.log%'";
    cluster.postgres.sql(cancel).unwrap();
    // Everybody can see the entry now. The owner asks for a commit that waits to its end.
    until("it is in the log, in doubt", || {
        waits("LIKE").unwrap() == "0" && waits("NOT LIKE").unwrap() != "0"
    })
    .await;
    assert!(!call.is_finished(), "nobody knows whether a standby has it");
    cluster.postgres.set(AWAITED, "").unwrap();
    call.await.unwrap().unwrap().unwrap();
    let tasks = cluster.get(0, "/api/tasks").await.to_string();
    assert_eq!(tasks.matches("in doubt").count(), 1, "{tasks}");
    cluster.expect_whole().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::print_stdout, reason = "the figures are the point")]
async fn a_promoted_standby_that_lags_is_seen_to_lose() {
    let (mut cluster, mut standby) = start().await;
    let owner = cluster.owner().await;
    let expected = Loss::Expected;
    let (outage, found, _) =
        work_through(&mut cluster, CLIENTS, expected, async |cluster, told| {
            // The control: nobody waits for the standby, which has stopped receiving.
            standby.kill().unwrap();
            told.more(100).await;
            cluster.postgres.kill().unwrap();
            told.strikes();
            standby.run().unwrap();
            standby.promote().unwrap();
            swap(&mut cluster.postgres, &mut standby);
            // It finds its own commits missing, and ends, so that it begins anew with what is left.
            cluster.machines[owner].expect_fenced().await;
            cluster.machines[owner].up().await;
            told.outage().await
        })
        .await;
    let (answered, lost) = (found.answered, found.lost.len());
    println!(
        "primary killed, asynchronous (control): {answered} calls answered, {lost} lost; outage in ms: {}",
        outage.as_millis()
    );
    assert!(lost > 0, "{answered} were answered");
}
