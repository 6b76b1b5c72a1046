//! Two servers, each on a machine with a network of its own: killed, stopped, and cut off from PostgreSQL.

use std::time::Duration;

use serde_json::json;
use testkit::network::Network;
use testkit::postgres::Postgres;
use tokio::time::sleep;

use super::drills::{half_the_rounds, kill_owner, restart_fenced, rounds, stop_owner, under_load};
use super::{Cluster, Machine, World};

const CLIENTS: usize = 64;
/// Port of the server on each machine.
const PORT: u16 = 3001;
/// A cut that no lease of [`LONG_LEASE`] runs out in.
const SHORT_CUT: Duration = Duration::from_millis(500);
/// Seconds of a lease that no cut here lasts for.
const LONG_LEASE: &str = "60";

/// A home whose PostgreSQL both machines of a network reach.
async fn start(network: &Network) -> Cluster {
    let database = network.database();
    let everybody = format!("host all all {} trust", network.range());
    let listen = format!("listen_addresses = '127.0.0.1,{database}'");
    let postgres = Postgres::start_with(&[&listen], &[&everybody]).unwrap();
    let address =
        format!("postgres://adjutant@{database}:{}/postgres?sslmode=disable", postgres.port());
    let world = async |host: usize| -> World {
        let mut world = crate::world().await;
        let script = network.script(host, crate::BINARY.as_ref(), &world.scratch()).unwrap();
        world.use_binary(script);
        world.set("ADJUTANT_SERVER_PORT", PORT.to_string());
        world
    };
    let mut cluster = Cluster::import_into(world(0).await, postgres, &address).await;
    cluster.join(world(1).await);
    for (host, machine) in cluster.machines.iter_mut().enumerate() {
        let Machine { world, front, .. } = machine;
        world.set("ADJUTANT_SERVER_HOST", "0.0.0.0");
        let (for_clients, for_peer) = (network.front_of(host), network.peer_of(host));
        world.set("ADJUTANT_SERVER_ALLOWED_HOSTS", format!("[{for_clients}, {for_peer}]"));
        world.set("ADJUTANT_CLUSTER_URL", format!("http://{for_peer}:{PORT}"));
        *front = Some(format!("http://{for_clients}:{PORT}"));
    }
    cluster.serve().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_stopped_or_cut_off_is_replaced_and_nothing_answered_is_lost() {
    let network = Network::new().await.unwrap();
    let mut cluster = start(&network).await;
    under_load(&mut cluster, CLIENTS, "owner killed, on a network", async |cluster, told| {
        let mut outages = Vec::new();
        for round in 0..rounds() {
            restart_fenced(cluster).await;
            told.more(50 + round * 7919 % 251).await;
            outages.push(kill_owner(cluster, told).await);
        }
        outages
    })
    .await;
    under_load(&mut cluster, CLIENTS, "owner stopped, on a network", async |cluster, told| {
        let mut outages = Vec::new();
        for round in 0..rounds() {
            restart_fenced(cluster).await;
            told.more(50 + round * 7919 % 251).await;
            outages.push(stop_owner(cluster, told).await);
        }
        outages
    })
    .await;
    under_load(&mut cluster, CLIENTS, "link cut past the lease", async |cluster, told| {
        let mut outages = Vec::new();
        for _ in 0..half_the_rounds() {
            restart_fenced(cluster).await;
            told.more(50).await;
            let owner = cluster.owner().await;
            network.cut(owner).await.unwrap();
            told.strikes();
            outages.push(told.outage().await);
            // It lives, and answers for nobody.
            cluster.until_is(owner, "waiting").await;
            let (status, refused) = cluster.http(owner).get("/api/tasks").await.unwrap();
            assert_eq!((status.as_u16(), &refused["code"]), (503, &json!("NO_OWNER")), "{refused}");
            network.mend(owner).await.unwrap();
            cluster.machines[owner].expect_fenced().await;
            cluster.machines[owner].up().await;
        }
        outages
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_cut_off_for_less_than_its_lease_goes_on_without_a_restart() {
    let network = Network::new().await.unwrap();
    let mut cluster = start(&network).await;
    // Each server takes the home anew under the longer lease.
    for machine in 0..2 {
        cluster.machines[machine].world.set("ADJUTANT_CLUSTER_LEASE", LONG_LEASE);
        cluster.machines[machine].stop().await;
        cluster.machines[machine].up().await;
    }
    let (owner, epoch) = (cluster.owner().await, cluster.epoch());
    let pid = cluster.machines[owner].pid();
    under_load(&mut cluster, CLIENTS, "link cut for a moment", async |_, told| {
        let mut outages = Vec::new();
        for _ in 0..half_the_rounds() {
            told.more(50).await;
            network.cut(owner).await.unwrap();
            told.strikes();
            // The cut itself, and not a wait for something.
            sleep(SHORT_CUT).await;
            network.mend(owner).await.unwrap();
            outages.push(told.outage().await);
        }
        outages
    })
    .await;
    assert_eq!((cluster.owner().await, cluster.epoch()), (owner, epoch), "the same owner goes on");
    assert_eq!(cluster.machines[owner].pid(), pid);
    assert!(host::process::is_alive(pid), "without a restart");
}
