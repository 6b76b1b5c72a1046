//! A home in PostgreSQL as people and monitoring see it: owner, followers with their lag, and the standby's mode.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, interval};

use super::{Cluster, PATIENCE};

impl Cluster {
    /// Waits until the status of the home, as this machine's server gives it, is as expected.
    async fn until_status(&self, machine: usize, is_it: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        let mut look = interval(Duration::from_millis(100));
        loop {
            let home = self.get(machine, "/api/status").await["sharedHome"].take();
            if is_it(&home) {
                return home;
            }
            assert!(Instant::now() < deadline, "the status stays {home}");
            look.tick().await;
        }
    }

    pub(super) async fn metrics(&self, machine: usize) -> String {
        let (status, text) = self.http(machine).get("/metrics").await.unwrap();
        assert_eq!(status, 200, "{text}");
        text.as_str().unwrap().to_owned()
    }
}

/// The value of a metric that has no label but the home.
fn metric(text: &str, name: &str) -> Option<f64> {
    let line =
        text.lines().find_map(|line| line.strip_prefix(&format!("{name}{{home=\"shop\"}} ")));
    line.map(|value| value.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn owner_followers_and_standby_are_seen_by_people_and_monitoring() {
    let cluster = Cluster::start(2).await;
    let followers = |home: &Value| home["followers"].as_array().map_or(0, Vec::len) == 1;
    for machine in [0, 1] {
        let home = cluster.until_status(machine, followers).await;
        assert_eq!((&home["epoch"], &home["url"]), (&json!(1), &json!(cluster.machines[0].url)));
        assert_eq!(home["followers"][0]["url"], cluster.machines[1].url, "{home}");
        assert_eq!(home["standby"], json!({ "mode": "none", "connected": 0 }), "{home}");
    }
    let standby = cluster.postgres.standby(&[]).unwrap();
    cluster.until_status(1, |home| home["standby"]["mode"] == "asynchronous").await;
    cluster.postgres.set("synchronous_standby_names", "*").unwrap();
    let home = cluster.until_status(0, |home| home["standby"]["mode"] == "synchronous").await;
    assert_eq!(home["standby"]["awaited"], "*", "{home}");

    assert_eq!(cluster.enlist(1, "planner").await, 201);
    cluster.until_caught_up(1).await;
    let owner = cluster.metrics(0).await;
    assert_eq!(metric(&owner, "adjutant_owner"), Some(1.0), "{owner}");
    assert_eq!(metric(&owner, "adjutant_replica_lag"), Some(0.0), "{owner}");
    assert!(metric(&owner, "adjutant_commit_seconds_count").is_some_and(|it| it > 0.0), "{owner}");
    assert!(metric(&owner, "adjutant_commit_seconds_sum").is_some_and(|it| it > 0.0), "{owner}");
    assert!(
        owner.contains("adjutant_commit_seconds_bucket{home=\"shop\",le=\"+Inf\"} "),
        "{owner}"
    );
    let follower = cluster.metrics(1).await;
    assert_eq!(metric(&follower, "adjutant_owner"), Some(0.0), "{follower}");
    assert_eq!(metric(&follower, "adjutant_home_epoch"), Some(1.0), "{follower}");
    assert!(metric(&follower, "adjutant_replica_lag_seconds").is_some(), "{follower}");
    assert_eq!(metric(&follower, "adjutant_commit_seconds_count"), None, "{follower}");

    let world = &cluster.machines[1].world;
    let status = world.run(&["status"]).await.unwrap().ok().unwrap().stdout;
    let behind = format!("{} has every commit", cluster.machines[1].url);
    for part in [
        "follows; the owner of its home says",
        "owner number 1",
        "synchronous: a commit waits for `*` (1 connected)",
        &behind,
    ] {
        assert!(status.contains(part), "`{part}` is not in {status}");
    }
    let doctor = world.run(&["doctor"]).await.unwrap();
    assert!(doctor.stdout.contains(&behind), "{doctor:?}");
    assert!(doctor.stdout.contains("synchronous: a commit waits for `*`"), "{doctor:?}");
    drop(standby);
}
