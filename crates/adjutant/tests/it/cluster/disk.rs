//! The disk of a server is full: what is in the log counts, and another server goes on.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use super::Cluster;
use super::drills::under_load;

/// Size of the disk: room for a small home, its copy at a start, and its log.
const DISK: &str = "48m";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_whose_disk_is_full_ends_and_what_it_appended_is_kept_by_the_next() {
    let mut cluster = Cluster::import(crate::world().await, 2).await;
    // A disk that only this server sees.
    let small = &mut cluster.machines[1].world;
    let (script, state) = (small.scratch().join("small"), small.state_dir());
    fs::create_dir_all(&state).unwrap();
    let mount = format!("mount -t tmpfs -o size={DISK},mode=700 tmpfs '{}'", state.display());
    let start = format!("{mount} && exec '{}' \"$@\"", crate::BINARY);
    fs::write(
        &script,
        format!("#!/bin/sh\nexec unshare -m sh -c '{}' sh \"$@\"\n", start.replace('\'', "'\\''")),
    )
    .unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    small.use_binary(&script);
    let mut cluster = cluster.serve().await;
    cluster.machines[0].stop().await;
    cluster.until_is(1, "owner").await;
    cluster.machines[0].up().await;

    under_load(&mut cluster, 8, "disk of the owner full", async |cluster, told| {
        told.more(20).await;
        let root = format!("/proc/{}/root", cluster.machines[1].pid());
        let filler = format!("{root}{}/filler", state.display());
        told.strikes();
        let mut file = File::create(filler).unwrap();
        while file.write_all(&[0; 4096]).is_ok() {}
        drop(file);
        cluster.machines[1].expect_fenced().await;
        // It answers until it finds no more room.
        let outage = told.longest_gap().await;
        assert_eq!(cluster.owner_of(&[0]).await, 0);
        // Where there is room it follows again.
        let port = cluster.machines[1].url.rsplit(':').next().unwrap().to_owned();
        cluster.machines[1].world.use_binary(crate::BINARY);
        cluster.machines[1].world.set("ADJUTANT_SERVER_PORT", port);
        cluster.machines[1].up().await;
        vec![outage]
    })
    .await;
}
