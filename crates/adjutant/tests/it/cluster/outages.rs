//! PostgreSQL away: under load, at a start, and what each request is told meanwhile.

use serde_json::json;
use tokio::time::{Instant, interval};

use super::drills::{rounds, under_load};
use super::{Cluster, PATIENCE};

/// Waits until a path of a server answers with this status.
async fn until_status(cluster: &Cluster, machine: usize, path: &str, wanted: u16) {
    let (http, deadline) = (cluster.http(machine), Instant::now() + PATIENCE);
    let mut look = interval(std::time::Duration::from_millis(20));
    loop {
        let (status, answer) = http.get(path).await.unwrap();
        if status == wanted {
            return;
        }
        assert!(Instant::now() < deadline, "{path}: {status} {answer}");
        look.tick().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_owner_goes_on_after_postgresql_was_killed_and_nothing_is_lost() {
    let mut cluster = Cluster::start(2).await;
    let owner = cluster.owner().await;
    let (epoch, pid) = (cluster.epoch(), cluster.machines[owner].pid());
    under_load(&mut cluster, 8, "PostgreSQL killed", async |cluster, told| {
        let mut outages = Vec::new();
        for _ in 0..rounds() {
            told.more(20).await;
            cluster.postgres.kill().unwrap();
            told.strikes();
            cluster.postgres.run().unwrap();
            outages.push(told.outage().await);
        }
        outages
    })
    .await;
    assert_eq!((cluster.owner().await, cluster.epoch()), (owner, epoch), "the same owner goes on");
    assert!(host::process::is_alive(pid), "without a restart");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_postgresql_is_away_servers_live_and_refuse() {
    let mut cluster = Cluster::start(2).await;
    let (owner, epoch) = (cluster.owner().await, cluster.epoch());
    let follower = cluster.others(owner)[0];
    cluster.postgres.kill().unwrap();
    until_status(&cluster, owner, "/readyz", 503).await;
    for machine in [owner, follower] {
        let http = cluster.http(machine);
        let (status, _) = http.get("/healthz").await.unwrap();
        assert_eq!(status, 200, "it lives");
        for path in ["/api/tasks", "/api/status", "/api/agents"] {
            let (status, refused) = http.get(path).await.unwrap();
            assert_eq!((status.as_u16(), &refused["code"]), (503, &json!("NO_OWNER")), "{refused}");
        }
        let letter = json!({ "role": "worker" });
        let (status, refused) = http.post("/api/agents", &letter).await.unwrap();
        assert_eq!((status.as_u16(), &refused["code"]), (503, &json!("NO_OWNER")), "{refused}");
    }
    cluster.postgres.run().unwrap();
    until_status(&cluster, owner, "/readyz", 200).await;
    cluster.until_is(owner, "owner").await;
    assert_eq!(cluster.epoch(), epoch, "the same owner goes on");
    let (status, _) =
        cluster.http(follower).post("/api/agents", &json!({ "role": "worker" })).await.unwrap();
    assert_eq!(status, 201);
    cluster.expect_whole().await;
}

#[tokio::test]
async fn without_postgresql_a_detached_start_and_doctor_fail_and_say_why() {
    let cluster = Cluster::import(crate::world().await, 1).await;
    let Cluster { mut postgres, machines, .. } = cluster;
    let (world, address) = (&machines[0].world, format!("127.0.0.1:{}", postgres.port()));
    let doctor = async || {
        let looked = world.run(&["doctor", "--json"]).await.unwrap();
        let checks = looked.json().unwrap();
        let all = checks["checks"].as_array().unwrap().clone();
        let check = all.into_iter().find(|check| check["name"] == "postgres").unwrap();
        (looked.code, check)
    };
    let (code, check) = doctor().await;
    assert_eq!((code, &check["status"]), (Some(0), &json!("ok")), "{check}");
    let message = check["message"].as_str().unwrap();
    for part in [&address, "home `shop`", "nobody owns it", "epoch 0", "standby: none"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let server = world.up().await.unwrap();
    let (_, check) = doctor().await;
    let message = check["message"].as_str().unwrap();
    for part in [&server.url, "epoch 1", "lacks 0 commits"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert_eq!(server.stop().await.unwrap(), Some(0));

    postgres.kill().unwrap();
    let (code, check) = doctor().await;
    assert_eq!((code, &check["status"]), (Some(1), &json!("fail")), "{check}");
    assert!(check["message"].as_str().unwrap().contains(&address), "{check}");
    assert!(check["message"].as_str().unwrap().contains("Connection refused"), "{check}");

    let refused = world.run(&["up", "--detach"]).await.unwrap();
    assert_eq!(refused.code, Some(6), "{refused:?}");
    for part in [&address, "Connection refused", "goes on trying", "adjutant down"] {
        assert!(refused.stderr.contains(part), "{part}: {refused:?}");
    }
    // It is as it says: once PostgreSQL is there, the same server serves.
    postgres.run().unwrap();
    let there = world.run(&["up", "--detach", "--json"]).await.unwrap().ok().unwrap();
    assert!(there.json().unwrap()["url"].is_string(), "{there:?}");
    world.run(&["down"]).await.unwrap().ok().unwrap();
}
