//! Rows that cannot be read: an agent ends with an error that names its row, and nobody else is held up.

use testkit::World;

use crate::crew::{leftovers, role, scene, until};
use crate::kill::{draft, ended, reason};

const SCENARIOS: &str = "
scenarios:
  hang:
    steps:
      - burn: {input_tokens: 1000, output_tokens: 100, cost_usd: 0.02}
      - say: burnt
      - sleep: 1000
  work:
    steps:
      - result: {status: success, summary: done}
";

/// Replaces a column of an agent's run, while no server runs.
fn damage(world: &World, agent: &str, column: &str) {
    let file = rusqlite::Connection::open(world.state_dir().join("state.db")).unwrap();
    let sql = format!("UPDATE run SET {column} = '{{\"timeout\":' WHERE agent_id = '{agent}'");
    assert_eq!(file.execute(&sql, []).unwrap(), 1);
}

#[tokio::test]
async fn agents_whose_rows_cannot_be_read_end_with_that_and_hold_up_nobody() {
    let world = scene(SCENARIOS, &[("ADJUTANT_LIMITS_RUNNING", "1")]).await;
    role(&world, "hand", "category: worker\nagent: script\nscript: crew.yaml");
    let server = world.up().await.unwrap();
    let running = draft(&world, "hand", "hang").await;
    let charged = || {
        let file = rusqlite::Connection::open(world.state_dir().join("state.db")).unwrap();
        let sql = "SELECT COALESCE(SUM(nanos), 0) FROM spend";
        file.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    until("it has cost something", || charged() == 20_000_000).await;
    let (queued, after) =
        (draft(&world, "hand", "work").await, draft(&world, "hand", "work").await);
    server.kill().await.unwrap();
    damage(&world, &running, "notes");
    damage(&world, &queued, "wish");
    let server = world.up().await.unwrap();
    for (agent, column) in [(&running, "notes"), (&queued, "wish")] {
        assert_eq!(ended(&world, agent).await, "failed");
        let said = reason(&world, agent).await;
        let named =
            format!("the record of agent `{agent}` is damaged: its {column} cannot be read");
        assert!(said.contains(&named), "{said}");
    }
    assert_eq!(ended(&world, &after).await, "succeeded");
    assert_eq!(charged(), 20_000_000, "it was charged once");
    assert_eq!(leftovers(&world), Vec::<String>::new());
    server.stop().await.unwrap();
}
