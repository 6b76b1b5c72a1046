//! Cleaning removes old data and nothing that live things need.

use std::fs;
use std::path::PathBuf;

use engine::{CleanRequest, Cleaner};
use model::Age;
use model::review::WorktreeState;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use wire::cleanup::{CleanPart, CleanReport, CleanedPart};

use crate::support::repository::{Project, commit, git};
use crate::support::{Who, World};

const DAY: i64 = 86_400;

fn request(part: CleanPart, age: &str) -> CleanRequest {
    let parts = vec![(part, age.parse().unwrap())];
    CleanRequest { parts, dry_run: false, by_operator: true }
}

async fn clean(world: &World, request: CleanRequest) -> CleanedPart {
    let CleanReport { mut parts, .. } = world.engine.clean(request).await.unwrap();
    assert_eq!(parts.len(), 1);
    parts.remove(0)
}

fn runs(world: &World) -> PathBuf {
    world.engine.project().join(".adjutant/runs")
}

fn run_folder(world: &World, name: &str) -> PathBuf {
    let folder = runs(world).join(name).join("1");
    fs::create_dir_all(&folder).unwrap();
    for (file, text) in [
        ("claim", "supervisor\n"),
        ("output.jsonl", "12345"),
        ("output.1.jsonl", "678"),
        ("notes", "x"),
    ] {
        fs::write(folder.join(file), text).unwrap();
    }
    folder
}

#[tokio::test]
async fn run_folders_of_agents_that_ended_long_ago_go_and_others_stay() {
    let world = World::new();
    let [over, fresh, live] =
        [world.enlist("worker").await, world.enlist("worker").await, world.enlist("worker").await];
    let folders = [over, fresh, live].map(|id| run_folder(&world, &id.to_string()));
    let strange = run_folder(&world, "not-an-agent");
    fs::write(runs(&world).join("address"), "http://127.0.0.1:1\n").unwrap();
    world.discharge(over).await;
    world.clock.advance_seconds(40 * DAY);
    world.discharge(fresh).await;

    let counted = CleanRequest { dry_run: true, ..request(CleanPart::Runs, "30d") };
    let counted = clean(&world, counted).await;
    assert_eq!((counted.removed, counted.bytes), (1, 20));
    assert!(folders[0].exists(), "counting removes nothing");

    let output = clean(&world, request(CleanPart::Output, "30d")).await;
    assert_eq!((output.removed, output.bytes), (2, 8));
    assert!(folders[0].join("notes").exists() && !folders[0].join("output.jsonl").exists());
    assert_eq!(clean(&world, request(CleanPart::Runs, "30d")).await.removed, 1);
    assert!(!folders[0].exists() && !runs(&world).join(over.to_string()).exists());
    assert!(folders[1].join("output.jsonl").exists() && folders[2].join("output.jsonl").exists());
    assert!(strange.exists() && runs(&world).join("address").exists());
    let page = world.engine.output(over, engine::OutputRequest::default()).await.unwrap();
    assert!(page.lines.is_empty() && page.complete, "its output is gone, and that is no error");
}

#[tokio::test]
async fn a_folder_whose_supervisor_lives_stays_and_a_link_is_not_followed() {
    let world = World::new();
    let (held, linked) = (world.enlist("worker").await, world.enlist("worker").await);
    let folder = run_folder(&world, &held.to_string());
    let _lock = host::files::lock(&folder.join("lock")).unwrap().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("kept"), "kept").unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), runs(&world).join(linked.to_string())).unwrap();
    world.discharge(held).await;
    world.discharge(linked).await;
    world.clock.advance_seconds(DAY);
    let done = clean(&world, request(CleanPart::Runs, "1h")).await;
    assert_eq!(done.removed, 0);
    assert!(done.kept[0].contains("still runs"), "{:?}", done.kept);
    assert!(folder.exists() && elsewhere.path().join("kept").exists());
}

#[tokio::test]
async fn branches_go_where_another_branch_has_their_commits() {
    let project = Project::with("one\n");
    let world = &project.world;
    let (merged, alone) = (world.enlist("worker").await, world.enlist("worker").await);
    let busy = world.enlist_for("worker", {
        let task = world.ok(Who::Operator, "mcp__task__create", json!({ "title": "Open" })).await;
        model::TaskRef::Slug(task["slug"].as_str().unwrap().to_owned())
    });
    let busy = busy.await;
    for agent in [merged, alone, busy] {
        let tree = project.worktree(agent, None).await;
        commit(&tree, &format!("{agent}.txt"), "work", "work");
        if agent == merged || agent == busy {
            git(&project.root, &["merge", "-q", "--no-edit", &format!("adjutant/{agent}")]);
        }
        git(&project.root, &["worktree", "remove", "--force", tree.to_str().unwrap()]);
        git(
            &project.root,
            &["branch", &format!("adjutant/rescue/{agent}"), &format!("adjutant/{agent}")],
        );
        world.discharge(agent).await;
        let now = world.clock.now();
        let gone = move |tx: &mut store::Tx<'_>| {
            tx.worktree_set(agent, WorktreeState::There)?;
            tx.worktree_rescued(agent, &format!("adjutant/rescue/{agent}"))?;
            tx.worktree_gone(agent, None, now)
        };
        world.store.write(gone).await.unwrap();
    }
    // What the ends of the agents asked for is done by somebody else.
    while !world.store.read(|tx| tx.outbox_jobs_open()).unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    world.clock.advance_seconds(31 * DAY);
    let counted = CleanRequest { dry_run: true, ..request(CleanPart::Branches, "30d") };
    assert!(clean(world, counted).await.removed >= 2);
    let done = clean(world, request(CleanPart::Branches, "30d")).await;
    // Of the two that hold the same unmerged commits one goes and one stays.
    assert_eq!(done.removed, 3, "{:?}", done.kept);
    let left = git(&project.root, &["branch", "--list", "adjutant/*", "--format=%(refname:short)"]);
    assert!(!left.contains(&merged.to_string()), "{left}");
    assert_eq!(left.matches(&alone.to_string()).count(), 1, "its commits stay reachable: {left}");
    assert_eq!(left.matches(&busy.to_string()).count(), 2, "its task is open: {left}");
}

fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn the_audit_chain_moves_into_an_archive_behind_a_checkpoint() {
    let world = World::new();
    for n in 0..5 {
        world.ok(Who::Operator, "mcp__task__create", json!({ "title": format!("T{n}") })).await;
    }
    world.clock.advance_seconds(40 * DAY);
    world.ok(Who::Operator, "mcp__task__create", json!({ "title": "Later" })).await;
    let before = world.store.read(|tx| tx.audit_verify()).unwrap();
    let counted = CleanRequest { dry_run: true, ..request(CleanPart::Audit, "30d") };
    assert_eq!(clean(&world, counted).await.removed, 5);

    // An archive that a killed cleaning left is taken over.
    fs::create_dir_all(world.engine.archive_dir()).unwrap();
    let name = "audit-000000001-000000005.jsonl";
    fs::write(world.engine.archive_dir().join(name), "half").unwrap();
    let done = clean(&world, request(CleanPart::Audit, "30d")).await;
    assert_eq!((done.removed, done.archives.as_slice()), (5, &[name.to_owned()][..]));
    assert_eq!(clean(&world, request(CleanPart::Audit, "30d")).await.removed, 0);

    let text = fs::read_to_string(world.engine.archive_dir().join(name)).unwrap();
    let archived = rows(&text);
    assert_eq!(archived.len(), 5);
    let pairs =
        archived.iter().map(|row| (row["body"].as_str().unwrap(), row["hash"].as_str().unwrap()));
    let whole = store::verify_chain(pairs);
    assert_eq!((whole.rows, whole.broken), (5, None));
    let (after, cuts) = world
        .store
        .read(|tx| Ok::<_, store::StoreError>((tx.audit_verify()?, tx.audit_checkpoints()?)))
        .unwrap();
    assert_eq!((after.rows, after.archived, after.broken), (before.rows + 1, 5, None));
    assert_eq!((cuts[0].last_hash.as_str(), cuts[0].archive.as_str()), (whole.head.as_str(), name));
    let mode = fs::metadata(world.engine.archive_dir().join(name)).unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode.permissions()) & 0o777, 0o600);
}

#[tokio::test]
async fn nothing_is_cut_from_a_chain_that_is_broken() {
    let world = World::new();
    for n in 0..5 {
        world.ok(Who::Operator, "mcp__task__create", json!({ "title": format!("T{n}") })).await;
    }
    let file = rusqlite::Connection::open(world.database()).unwrap();
    file.execute("UPDATE audit SET body = replace(body, 'T1', 'T9') WHERE number = 2", []).unwrap();
    world.clock.advance_seconds(40 * DAY);
    world.ok(Who::Operator, "mcp__task__create", json!({ "title": "Later" })).await;
    let error = world.engine.clean(request(CleanPart::Audit, "30d")).await.unwrap_err();
    assert!(error.message.contains("broken at row 2; nothing was cut"), "{}", error.message);
    assert_eq!(world.store.read(|tx| tx.audit_archived()).unwrap(), 0);
    assert_eq!(fs::read_dir(world.engine.archive_dir()).unwrap().count(), 0);
}

#[tokio::test]
async fn an_answer_is_kept_for_a_day_whatever_age_is_asked_for() {
    let world = World::new();
    let call = store::KeyedCall {
        principal: "p".into(),
        key: "k".into(),
        tool: "t".into(),
        input: "{}".into(),
    };
    let now = world.clock.now();
    world.store.write(move |tx| tx.idempotency_insert(&call, "{}", now)).await.unwrap();
    world.clock.advance_seconds(DAY / 2);
    assert_eq!(clean(&world, request(CleanPart::Answers, "0s")).await.removed, 0);
    world.clock.advance_seconds(DAY);
    assert_eq!(clean(&world, request(CleanPart::Answers, "0s")).await.removed, 1);
}

#[tokio::test]
async fn events_go_and_who_needs_them_is_named() {
    let world = World::new();
    for _ in 0..3 {
        let agent = world.enlist("worker").await;
        world.discharge(agent).await;
    }
    let all = world.events().len();
    let file = rusqlite::Connection::open(world.database()).unwrap();
    file.execute("INSERT INTO webhook (name, seen, created_at) VALUES ('n8n', 2, 0)", []).unwrap();
    world.clock.advance_seconds(40 * DAY);
    let done = clean(&world, request(CleanPart::Events, "30d")).await;
    assert_eq!((done.removed, done.kept), (2, vec!["events after 2 for webhook n8n".to_owned()]));
    file.execute("DELETE FROM webhook", []).unwrap();
    let done = clean(&world, request(CleanPart::Events, "30d")).await;
    assert_eq!((done.removed, done.kept), (u64::try_from(all).unwrap() - 3, Vec::new()));
    assert_eq!(world.events().len(), 1);
}

#[tokio::test]
async fn the_server_cleans_by_itself_what_the_configuration_names() {
    let world = World::new();
    for _ in 0..3 {
        let agent = world.enlist("worker").await;
        world.discharge(agent).await;
    }
    world.clock.advance_seconds(40 * DAY);
    let mut settings = (*world.engine.settings()).clone();
    assert_eq!((settings.retention.events, settings.retention.audit), (None, None));
    settings.retention.events = Some(Age::days(30));
    world.engine.set_settings(settings);
    let stop = CancellationToken::new();
    let cleaned = async {
        while world.events().len() > 1 {
            tokio::task::yield_now().await;
        }
        stop.cancel();
    };
    tokio::join!(Cleaner::new(&world.engine, stop.clone()).run(), cleaned);
    assert_eq!(world.store.read(|tx| tx.audit_archived()).unwrap(), 0, "not asked for");
}
