//! The mirror files say what the record says.

use std::path::Path;

use engine::Mirror;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{Who, World};

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[tokio::test]
async fn the_files_follow_the_record_to_its_end() {
    let (world, folder) = (World::new(), tempfile::tempdir().unwrap());
    let stop = CancellationToken::new();
    let mirror = Mirror::new(&world.engine, folder.path().to_owned());
    let story = async {
        let agent = world.enlist("worker").await;
        let task = world.ok(Who::Operator, "mcp__task__create", json!({ "title": "Fix it" })).await;
        let assign = json!({ "taskId": task["id"], "agentId": agent });
        world.ok(Who::Operator, "mcp__task__assign", assign).await;
        world.ok(agent, "mcp__task__add_comment", json!({ "body": "half way" })).await;
        let gone = world.enlist("supervisor").await;
        world.discharge(gone).await;
        stop.cancel();
        (agent, gone, task)
    };
    let ((), (agent, gone, task)) = tokio::join!(mirror.run(stop.clone()), story);
    check(folder.path(), &[&agent.to_string(), &gone.to_string()], &task);

    // Whatever is lost of them is made again from the record, also by a mirror that begins late.
    std::fs::remove_dir_all(folder.path()).unwrap();
    std::fs::create_dir(folder.path()).unwrap();
    Mirror::new(&world.engine, folder.path().to_owned()).run(stop).await;
    check(folder.path(), &[&agent.to_string(), &gone.to_string()], &task);
}

fn check(folder: &Path, [agent, gone]: &[&str; 2], task: &Value) {
    let slug = task["slug"].as_str().unwrap();
    let log = read(folder, "IAC.md");
    assert!(log.starts_with("# Inter-Agent Communication Log\n\n## 2025-11-15\n"), "{log}");
    for (id, what) in [(agent, "STARTED"), (gone, "STARTED"), (gone, "COMPLETED")] {
        assert_eq!(log.matches(&format!("Spawn #{id} - {what}")).count(), 1, "{log}");
    }
    let page = read(folder, "CONTEXT.md");
    let (active, recent) = page.split_once("## Recent Runs").unwrap();
    assert!(active.contains(agent) && active.contains(slug) && !active.contains(gone), "{page}");
    assert!(recent.contains("supervisor") && recent.contains("succeeded"), "{page}");
    let file: Value =
        serde_json::from_str(&read(folder, &format!("tasks/{slug}/task.json"))).unwrap();
    assert_eq!((&file["slug"], &file["state"]), (&task["slug"], &json!("assigned")));
    assert_eq!(file["dispatches"][0]["agentId"], *agent);
    assert!(read(folder, &format!("tasks/{slug}/context.md")).contains("> half way"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_could_not_be_written_is_written_without_a_further_event() {
    let (world, folder) = (World::new(), tempfile::tempdir().unwrap());
    let (log, page) = (folder.path().join("IAC.md"), folder.path().join("CONTEXT.md"));
    std::fs::create_dir(&page).unwrap();
    let stop = CancellationToken::new();
    let mirror = Mirror::new(&world.engine, folder.path().to_owned()).run(stop.clone());
    let mended = async {
        // The log is written before the page, which a folder is in the way of.
        while !log.is_file() {
            tokio::task::yield_now().await;
        }
        std::fs::remove_dir(&page).unwrap();
        while !page.is_file() {
            tokio::task::yield_now().await;
        }
        stop.cancel();
    };
    tokio::join!(mirror, mended);
}

#[tokio::test]
async fn files_that_are_true_already_are_not_written_again() {
    use std::os::unix::fs::MetadataExt as _;
    let (world, folder) = (World::new(), tempfile::tempdir().unwrap());
    let task = world.ok(Who::Operator, "mcp__task__create", json!({ "title": "Fix it" })).await;
    let until = world.store.read(|tx| tx.event_last()).unwrap();
    let run = || {
        let mut mirror = Mirror::new(&world.engine, folder.path().to_owned());
        mirror.rebuild(until).unwrap();
    };
    run();
    let slug = task["slug"].as_str().unwrap();
    let names =
        [format!("tasks/{slug}/task.json"), format!("tasks/{slug}/context.md"), "IAC.md".into()];
    let inodes =
        || names.clone().map(|name| std::fs::metadata(folder.path().join(name)).unwrap().ino());
    let before = inodes();
    run();
    assert_eq!(inodes(), before);
}

#[tokio::test]
async fn an_end_writes_a_bounded_number_of_tasks_and_the_next_start_the_rest() {
    let (world, folder) = (World::new(), tempfile::tempdir().unwrap());
    let now = world.engine.now();
    let add = move |tx: &mut store::Tx<'_>| {
        for bits in 1..=2100 {
            let task = tx.task_insert(
                &store::NewTask {
                    id: model::TaskId::from_bits(bits),
                    slug: format!("task-{bits}"),
                    session: "default".into(),
                    title: format!("Task {bits}"),
                    description: None,
                    priority: model::Priority::default(),
                    epic: None,
                    iteration: 0,
                },
                now,
            )?;
            let data = testkit::event_of(model::event::EventKind::TaskCreated);
            let event = store::EventDraft { agent: None, task: Some(task.id), data };
            tx.event_append(now, &event)?;
        }
        Ok::<_, store::StoreError>(())
    };
    world.store.write(add).await.unwrap();
    let stop = CancellationToken::new();
    stop.cancel();
    Mirror::new(&world.engine, folder.path().to_owned()).run(stop).await;
    let written = || std::fs::read_dir(folder.path().join("tasks")).unwrap().count();
    assert_eq!(written(), 2000);
    Mirror::new(&world.engine, folder.path().to_owned()).rebuild(2100).unwrap();
    assert_eq!(written(), 2100);
}

#[tokio::test]
async fn the_summary_that_a_spawner_gave_is_in_the_mirrors() {
    let world = World::new();
    let summary = "Test impact | of the schema";
    let spawn = json!({ "prompt": "Look at it", "task_summary": summary, "async": true });
    world.ok(Who::Operator, "mcp__agents__spawn_claude", spawn).await;
    let (folder, stop) = (tempfile::tempdir().unwrap(), CancellationToken::new());
    stop.cancel();
    // It waits for its turn; the record is told that the turn has come.
    let now = world.engine.now();
    let start = move |tx: &mut store::Tx<'_>| {
        let agent = tx.agent_page(store::AgentPage::Live, 0, 9)?.items.remove(0);
        let event = store::EventDraft {
            agent: Some(agent.id),
            task: agent.task,
            data: testkit::event_of(model::event::EventKind::AgentStarted),
        };
        tx.event_append(now, &event)
    };
    world.store.write(start).await.unwrap();
    Mirror::new(&world.engine, folder.path().to_owned()).run(stop).await;
    let log = read(folder.path(), "IAC.md");
    assert!(log.contains("- **Task Summary:** Test impact \\| of the schema\n"), "{log}");
    let page = read(folder.path(), "CONTEXT.md");
    assert!(page.contains(": Test impact \\| of the schema | "), "{page}");
}

#[tokio::test]
async fn no_raw_control_character_stands_in_a_mirror_file() {
    let (world, folder) = (World::new(), tempfile::tempdir().unwrap());
    let stop = CancellationToken::new();
    let mirror = Mirror::new(&world.engine, folder.path().to_owned());
    let wild = "red\u{1b}[31m \u{9b}2J \u{202e}back\u{7}";
    let story = async {
        let lead = world.enlist("supervisor").await;
        let task = json!({ "title": "Fix it", "slug": "fix-it", "description": wild });
        world.ok(lead, "mcp__task__create", task).await;
        let comment = json!({ "taskId": "fix-it", "body": wild });
        world.ok(lead, "mcp__task__add_comment", comment).await;
        let note = json!({ "notes": [{ "content": wild, "type": "tip" }] });
        world.ok(lead, "mcp__session__note-add", note).await;
        let worker = world.enlist_for("worker", "fix-it".parse().unwrap()).await;
        world.engine.discharge(worker, wild.to_owned()).await.unwrap();
        stop.cancel();
    };
    tokio::join!(mirror.run(stop.clone()), story);
    for round in ["followed", "rebuilt"] {
        for name in ["IAC.md", "CONTEXT.md", "tasks/fix-it/task.json", "tasks/fix-it/context.md"] {
            let text = read(folder.path(), name);
            let raw = |c: char| !matches!(c, '\n' | '\t') && (c.is_control() || c == '\u{202e}');
            assert!(!text.contains(raw), "{round}: {name}: {text:?}");
        }
        let context = read(folder.path(), "tasks/fix-it/context.md");
        assert!(context.contains("red\\u{1b}[31m"), "{context}");
        let file: Value =
            serde_json::from_str(&read(folder.path(), "tasks/fix-it/task.json")).unwrap();
        assert_eq!(file["description"], wild);
        Mirror::new(&world.engine, folder.path().to_owned()).run(stop.clone()).await;
    }
}
