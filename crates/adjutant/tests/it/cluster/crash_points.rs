//! A server that dies at each step of a commit: another one goes on, and the caller's key gets its one answer.

use engine::Point;
use serde_json::{Value, json};
use testkit::Http;
use tokio::time::{interval, timeout};

use super::drills::rounds;
use super::{ANSWER_TIMEOUT, Cluster};

/// Sends a letter under its subject as the key. Nothing if there is no answer that says that it was sent.
async fn send(server: &Http, to: &str, subject: &str) -> Option<Value> {
    let input = json!({ "toAgentId": to, "subject": subject, "body": "b" });
    let body = json!({ "toolName": "mcp__mail__send", "input": input });
    let key = [("Idempotency-Key", subject)];
    let asked = server.post_with("/mcp/execute", &body, &key);
    match timeout(ANSWER_TIMEOUT, asked).await {
        Ok(Ok((_, mut answer))) if answer["success"] == true => Some(answer["data"].take()),
        Ok(Ok((status, answer))) => {
            assert_eq!(status, 503, "{answer}");
            None
        }
        Ok(Err(_)) | Err(_) => None,
    }
}

/// The last commit that the file of a machine has.
fn commit_of(cluster: &Cluster, machine: usize) -> i64 {
    let file = rusqlite::Connection::open(cluster.machines[machine].database()).unwrap();
    file.query_row("SELECT seq FROM log_position", [], |row| row.get(0)).unwrap()
}

/// Waits until a new owner has written what it writes by itself: the commit that follows is to be the caller's.
async fn until_quiet(cluster: &Cluster) {
    const LOOKS: usize = 5;
    let (mut look, mut seen) = (interval(std::time::Duration::from_millis(50)), Vec::new());
    while seen.len() < LOOKS
        || seen[seen.len() - LOOKS..].iter().any(|seq| Some(seq) != seen.last())
    {
        look.tick().await;
        seen.push(cluster.sql("SELECT seq FROM adjutant.home"));
    }
}

/// Number of mails with this subject in the file of a machine.
fn letters(cluster: &Cluster, machine: usize, subject: &str) -> i64 {
    let file = rusqlite::Connection::open(cluster.machines[machine].database()).unwrap();
    let count = "SELECT COUNT(*) FROM mail WHERE subject = ?1";
    file.query_row(count, [subject], |row| row.get(0)).unwrap()
}

/// Lets the owner die at a step of the commit of a letter. Returns the letter's answer, and whether the log had it then.
async fn dies_at(cluster: &mut Cluster, point: Point, to: &str, subject: &str) -> (Value, bool) {
    let other = cluster.owner().await;
    let dying = cluster.others(other)[0];
    cluster.machines[dying].world.set("ADJUTANT_CRASH_AT", point.name());
    cluster.machines[dying].stop().await;
    cluster.machines[dying].up().await;
    cluster.machines[other].stop().await;
    cluster.until_is(dying, "owner").await;
    until_quiet(cluster).await;
    let mut server = cluster.machines[dying].server.take().unwrap();
    let http = cluster.http(dying);
    let (answered, ended) = tokio::join!(send(&http, to, subject), server.ended());
    assert_eq!((answered, ended.unwrap().code()), (None, None), "{point}: it died of a signal");
    let log = cluster.sql("SELECT seq FROM adjutant.home");
    let lacks = log - commit_of(cluster, dying);
    match point {
        Point::LedgerBefore | Point::LedgerCommitted => assert_eq!(lacks, 0, "{point}"),
        Point::LedgerHeld => assert_eq!(lacks, 1, "{point}: the log has it, and the file has not"),
        // It was sent, and nobody knows more.
        _ => assert!([0, 1].contains(&lacks), "{point}: {lacks}"),
    }

    cluster.machines[dying].world.set("ADJUTANT_CRASH_AT", "");
    cluster.machines[other].up().await;
    cluster.until_is(other, "owner").await;
    let is_in_log = letters(cluster, other, subject) == 1;
    cluster.machines[dying].up().await;
    let mut pause = interval(std::time::Duration::from_millis(20));
    let answer = loop {
        pause.tick().await;
        if let Some(answer) = send(&cluster.http(dying), to, subject).await {
            break answer;
        }
    };
    let again = send(&cluster.http(other), to, subject).await;
    assert_eq!(again.as_ref(), Some(&answer), "{point}: one key has one answer");
    (answer, is_in_log)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::print_stdout, reason = "the figures are the point")]
async fn a_server_that_dies_at_any_step_of_a_commit_leaves_one_answer_to_the_callers_key() {
    let mut cluster = Cluster::start(2).await;
    let role = json!({ "role": "worker" });
    let (_, joined) = cluster.http(0).post("/api/agents", &role).await.unwrap();
    let agent = joined["agentId"].as_str().unwrap().to_owned();
    let points: Vec<Point> =
        Point::ALL.iter().copied().filter(|point| point.name().starts_with("ledger.")).collect();
    assert_eq!(points.len(), 4);
    let mut sent = Vec::new();
    for round in 0..rounds().div_ceil(3) {
        for point in &points {
            let subject = format!("{point}-{round}");
            let (_, is_in_log) = dies_at(&mut cluster, *point, &agent, &subject).await;
            match point {
                Point::LedgerBefore => assert!(!is_in_log, "it was never sent"),
                Point::LedgerSent => {}
                _ => assert!(is_in_log, "{point}"),
            }
            println!("{point}: died; the log had the commit: {is_in_log}; its key has one answer");
            sent.push(subject);
        }
    }
    let owner = cluster.owner().await;
    let input = json!({ "limit": 500, "includeRead": true });
    let body = json!({ "agentId": agent, "toolName": "mcp__mail__list_inbox", "input": input });
    let (_, inbox) = cluster.http(owner).post("/mcp/execute", &body).await.unwrap();
    let mut found: Vec<&str> = inbox["data"]["mails"]
        .as_array()
        .unwrap()
        .iter()
        .map(|mail| mail["subject"].as_str().unwrap())
        .collect();
    found.sort_unstable();
    sent.sort_unstable();
    assert_eq!(found, sent, "each letter is there, once");
    cluster.expect_whole().await;
}
