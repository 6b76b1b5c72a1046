//! Agents of a server that dies: one that ran there is lost, and never started a second time; one that waited is started by
//! the next owner.

use std::fs;

use super::Cluster;
use crate::crew::{role, scene};
use crate::kill::{answer, draft, until_is};

const SCENARIOS: &str = r#"
scenarios:
  stay: {steps: [{append: {path: ran.txt, text: "{{agent}}\n"}}, {sleep: 1000}]}
  pass: {steps: [{append: {path: ran.txt, text: "{{agent}}\n"}}, {result: {status: success, summary: 'passed'}}]}
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_of_a_dead_server_is_lost_and_one_that_waited_is_started_by_the_next() {
    let first = scene(SCENARIOS, &[("ADJUTANT_LIMITS_RUNNING", "1")]).await;
    role(&first, "runner", "category: worker\nagent: script\nscript: crew.yaml");
    let mut cluster = Cluster::import(first, 2).await;
    let second = &mut cluster.machines[1].world;
    second.set("ADJUTANT_LIMITS_RUNNING", "1");
    fs::write(second.project().join("crew.yaml"), SCENARIOS).unwrap();
    let mut cluster = cluster.serve().await;
    let owner = cluster.owner().await;
    let next = cluster.others(owner)[0];
    let ran = |cluster: &Cluster, machine: usize| {
        let path = cluster.machines[machine].world.project().join("ran.txt");
        fs::read_to_string(path).unwrap_or_default()
    };
    let world = &cluster.machines[owner].world;
    let stays = draft(world, "runner", "stay").await;
    crate::crew::until("it runs", || ran(&cluster, owner).contains(&stays)).await;
    until_is(world, &stays, "running").await;
    let waits = draft(world, "runner", "pass").await;
    until_is(world, &waits, "queued").await;

    cluster.machines[owner].kill().await;
    cluster.until_is(next, "owner").await;
    let world = &cluster.machines[next].world;
    until_is(world, &stays, "lost").await;
    until_is(world, &waits, "succeeded").await;
    assert_eq!(ran(&cluster, next), format!("{waits}\n"));
    // The machine comes back: its old agent's story is over there too.
    cluster.machines[owner].up().await;
    cluster.machines[next].stop().await;
    cluster.until_is(owner, "owner").await;
    let world = &cluster.machines[owner].world;
    until_is(world, &stays, "lost").await;
    assert_eq!(ran(&cluster, owner), format!("{stays}\n"), "it was started once");
    assert_eq!(ran(&cluster, next), format!("{waits}\n"));
    let shown = answer(world, &["ps", "--all"]).await;
    #[expect(clippy::print_stdout, reason = "the figures are the point")]
    {
        println!("agents after two takeovers: {shown}");
    }
}
