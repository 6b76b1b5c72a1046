//! One agent, watched: what it changed, in a real repository, and its story.

use std::fs;
use std::path::{Path, PathBuf};

use engine::Recruit;
use host::git::head;
use model::AgentStateName;
use model::agent::{AgentState, Outcome};
use model::event::EventKind;
use model::money::Usd;
use model::review::{MergeState, WorktreeState};
use model::{AgentId, MergeId, Timestamp};
use serde_json::{Value, json};
use store::{EventDraft, MergeChange, NewMerge, SpendAmount, StoreError};
use testkit::event_of;
use wire::agents::AgentDiff;
use wire::event::{AgentStateChanged, AgentWarned, EventData};

use crate::support::repository::{Project, commit, git};
use crate::support::{Who, World};

const LINES: &str = "one\ntwo\nthree\nfour\nfive\nsix\n";

async fn enlisted(world: &World, parent: Option<AgentId>) -> AgentId {
    let recruit = Recruit { role: "worker".into(), task: None, epic: None, cwd: None, parent };
    world.engine.enlist(recruit).await.unwrap().agent
}

async fn diff(project: &Project, id: AgentId) -> AgentDiff {
    project.world.engine.agent_diff(id).await.unwrap()
}

/// Each file as `status path (old) +added -removed`.
fn files(view: &AgentDiff) -> Vec<String> {
    let shown = serde_json::to_value(view).unwrap();
    let file = |file: &Value| {
        let old = file["oldPath"].as_str().map_or_else(String::new, |old| format!(" ({old})"));
        let (status, path) = (file["status"].as_str().unwrap(), file["path"].as_str().unwrap());
        let numbers = if file["binary"] == true {
            "binary".to_owned()
        } else {
            format!("+{} -{}", file["added"], file["removed"])
        };
        format!("{status} {path}{old} {numbers}")
    };
    shown["files"].as_array().unwrap().iter().map(file).collect()
}

#[tokio::test]
async fn what_an_agent_changed_is_shown_committed_or_not() {
    let project = Project::with(LINES);
    commit(&project.root, "long.txt", &"line\n".repeat(40), "Long");
    commit(&project.root, "gone.txt", "x\n", "To go");
    fs::write(project.root.join("image"), [0, 159, 146, 150]).unwrap();
    commit(&project.root, "other", "y\n", "More");
    let id = enlisted(&project.world, None).await;
    let dir = project.worktree(id, Some("main")).await;
    git(&dir, &["mv", "long.txt", "moved.txt"]);
    let one = commit(&dir, "lines.txt", "one\nTWO\nthree\nfour\nfive\nsix\n", "Change it");
    commit(&project.root, "others.txt", "x\n", "What others did");

    fs::remove_file(dir.join("gone.txt")).unwrap();
    fs::write(dir.join("image"), [0, 1, 2]).unwrap();
    for name in ["a b", "tab\there", "quote\"d", "zwei\nZeilen", "grün.rs"] {
        fs::write(dir.join(name), "new\n").unwrap();
    }
    fs::create_dir_all(dir.join(".adjutant")).unwrap();
    fs::write(dir.join(".adjutant/ours"), "x").unwrap();
    let view = diff(&project, id).await;
    let mut wanted = vec![
        "added a b +1 -0".to_owned(),
        "deleted gone.txt +0 -1".to_owned(),
        "added grün.rs +1 -0".to_owned(),
        "added image binary".to_owned(),
        "changed lines.txt +1 -1".to_owned(),
        "renamed moved.txt (long.txt) +0 -0".to_owned(),
        "added quote\"d +1 -0".to_owned(),
        "added tab\there +1 -0".to_owned(),
        "added zwei\nZeilen +1 -0".to_owned(),
    ];
    wanted.sort();
    let mut shown = files(&view);
    shown.sort();
    assert_eq!(shown, wanted);
    assert!(view.uncommitted && !view.truncated && view.why.is_none());
    assert_eq!((view.branch, view.target), (Some(format!("adjutant/{id}")), Some("main".into())));
    assert_eq!(view.head.as_deref(), Some(&*one));
    assert!(view.patch.contains("-two\n+TWO\n") && view.patch.contains("rename to moved.txt\n"));
    assert!(view.patch.contains("+++ b/grün.rs\n"), "{}", view.patch);
    assert!(!view.patch.contains("others.txt"), "what others did is not its work");
    let story = serde_json::to_value(&view.commits).unwrap();
    assert_eq!((&story[0]["hash"], &story[0]["subject"]), (&json!(one), &json!("Change it")));

    git(&dir, &["add", "-A", "--", ".", ":!.adjutant"]);
    git(&dir, &["commit", "-q", "-m", "All of it"]);
    let all = diff(&project, id).await;
    assert!(!all.uncommitted);
    let mut shown = files(&all);
    shown.sort();
    assert_eq!((shown, all.commits.len()), (wanted, 2));
}

#[tokio::test]
async fn a_large_patch_is_cut_between_files_and_says_so() {
    let project = Project::with(LINES);
    let id = enlisted(&project.world, None).await;
    let dir = project.worktree(id, Some("main")).await;
    fs::write(dir.join("a"), "small\n").unwrap();
    fs::write(dir.join("b"), "large and long\n".repeat(200_000)).unwrap();
    let view = diff(&project, id).await;
    assert!(view.truncated);
    assert_eq!(files(&view), ["added a +1 -0", "added b +200000 -0"]);
    assert!(view.patch.ends_with("+small\n"), "{}", view.patch.len());
}

#[tokio::test]
async fn who_has_no_worktree_is_told_why_there_is_nothing() {
    let project = Project::with(LINES);
    let guest = enlisted(&project.world, None).await;
    let view = diff(&project, guest).await;
    assert!(view.why.unwrap().contains("it works in a shared folder"));
    assert_eq!((view.branch, view.files.len(), view.patch), (None, 0, String::new()));
    let nobody = project.world.engine.agent_diff(AgentId::from_bits(1)).await.unwrap_err();
    assert_eq!(nobody.code.name(), "AGENT_NOT_FOUND");

    let id = enlisted(&project.world, None).await;
    let dir = project.worktree(id, Some("main")).await;
    let view = diff(&project, id).await;
    assert_eq!((view.why, files(&view_again(&project, id).await).len()), (None, 0), "nothing yet");
    remove(&project, &dir, id).await;
    git(&project.root, &["branch", "-D", &format!("adjutant/{id}")]);
    let view = diff(&project, id).await;
    assert_eq!(view.why, None, "its first commit is still there: {view:?}");
}

async fn view_again(project: &Project, id: AgentId) -> AgentDiff {
    diff(project, id).await
}

/// Takes a worktree away, as is done when its work is over.
async fn remove(project: &Project, dir: &Path, id: AgentId) {
    let head = head(dir);
    git(&project.root, &["worktree", "remove", "--force", &dir.display().to_string()]);
    let now = project.world.engine.now();
    let gone = move |tx: &mut store::Tx<'_>| tx.worktree_gone(id, head.as_deref(), now);
    project.world.store.write(gone).await.unwrap();
}

/// An agent with a task and a worktree, in which it has committed a file.
async fn worker_with_commit(project: &Project) -> (AgentId, PathBuf, String) {
    let task = json!({ "title": "Change the lines", "slug": "change" });
    project.world.ok(Who::Operator, "mcp__task__create", task).await;
    let id = project.world.enlist_for("worker", "change".parse().unwrap()).await;
    let dir = project.worktree(id, Some("main")).await;
    let head = commit(&dir, "new.txt", "a\n", "Add it");
    (id, dir, head)
}

/// Records that an agent's commit was merged, and by which commit.
async fn record_merge(world: &World, id: AgentId, commit: String, merged: String) {
    let agent = world.store.read(|tx| tx.agent_get(id)).unwrap().unwrap();
    let (now, merge) = (world.engine.now(), MergeId::from_bits(9));
    let record = move |tx: &mut store::Tx<'_>| {
        let new = NewMerge {
            id: merge,
            task: agent.task.unwrap(),
            agent: Some(id),
            approved_by: None,
            branch: format!("adjutant/{id}"),
            target: "main".to_owned(),
            commit: commit.clone(),
            squash: false,
        };
        tx.merge_insert(&new, now)?;
        let change = MergeChange { merged: Some(&merged), ..MergeChange::default() };
        tx.merge_set(merge, MergeState::Merged, change, now)
    };
    world.store.write(record).await.unwrap();
}

#[tokio::test]
async fn what_was_merged_is_shown_also_while_the_worktree_is_there() {
    let project = Project::with(LINES);
    let world = &project.world;
    let (id, dir, head) = worker_with_commit(&project).await;
    commit(&project.root, "others.txt", "x\n", "What others did");
    git(&project.root, &["merge", "-q", "--no-ff", "-m", "Merge it", &head]);
    let merged = git(&project.root, &["rev-parse", "HEAD"]);
    record_merge(world, id, head, merged).await;
    let view = diff(&project, id).await;
    assert_eq!((files(&view), view.uncommitted), (vec!["added new.txt +1 -0".to_owned()], false));
    fs::write(dir.join("open.txt"), "not committed\n").unwrap();
    let view = diff(&project, id).await;
    assert_eq!(files(&view), ["added new.txt +1 -0", "added open.txt +1 -0"]);
    assert!(view.uncommitted);
    fs::remove_file(dir.join("open.txt")).unwrap();
    commit(&dir, "later.txt", "b\n", "Go on");
    let view = diff(&project, id).await;
    assert_eq!(files(&view), ["added later.txt +1 -0"], "what comes after the merge is new");
}

#[tokio::test]
async fn after_its_worktree_is_gone_the_branch_tells_and_after_a_merge_what_was_merged() {
    let project = Project::with(LINES);
    let world = &project.world;
    let (id, dir, head) = worker_with_commit(&project).await;
    fs::write(dir.join("open.txt"), "not committed").unwrap();
    remove(&project, &dir, id).await;
    let view = diff(&project, id).await;
    assert_eq!((files(&view), view.uncommitted), (vec!["added new.txt +1 -0".to_owned()], false));

    commit(&project.root, "others.txt", "x\n", "What others did");
    git(&project.root, &["merge", "-q", "--no-ff", "-m", "Merge it", &head]);
    let merged = git(&project.root, &["rev-parse", "HEAD"]);
    record_merge(world, id, head, merged.clone()).await;
    git(&project.root, &["branch", "-D", &format!("adjutant/{id}")]);
    let view = diff(&project, id).await;
    assert_eq!(files(&view), ["added new.txt +1 -0"], "and not what others did");
    assert_eq!(view.head, Some(merged.clone()));
    let story = serde_json::to_value(world.engine.agent_story(id).await.unwrap()).unwrap();
    let marks: Vec<&str> = story["marks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|mark| mark["text"].as_str().unwrap())
        .collect();
    assert_eq!(marks, ["start", "approved", &format!("merged as {}", merged.get(..7).unwrap())]);
}

/// Tells of something that happened to an agent.
async fn tell(world: &World, id: AgentId, data: EventData, at: i64) {
    let draft = EventDraft { agent: Some(id), task: None, data };
    let at = Timestamp::from_millis(at);
    world.store.write(move |tx| tx.event_append(at, &draft)).await.unwrap();
}

#[tokio::test]
async fn a_story_tells_who_is_above_how_it_stood_and_what_it_spent() {
    let world = World::new();
    let boss = enlisted(&world, None).await;
    let lead = enlisted(&world, Some(boss)).await;
    let id = enlisted(&world, Some(lead)).await;
    let child = enlisted(&world, Some(id)).await;
    world
        .ok(id, "mcp__mail__send", json!({ "toAgentId": lead, "subject": "s", "body": "b" }))
        .await;
    world.ok(id, "mcp__mail__list_inbox", json!({})).await;
    let start = world.engine.now().as_millis();
    let moved = |state| EventData::AgentStateChanged(AgentStateChanged::to(state));
    let warning = "half of its budget is spent".to_owned();
    for (data, after) in [
        (moved(AgentStateName::WaitingReview), 1_000),
        (event_of(EventKind::ReviewRequested), 1_001),
        (event_of(EventKind::ReviewFeedback), 2_000),
        (moved(AgentStateName::Running), 2_001),
        (event_of(EventKind::AgentAsked), 3_000),
        (EventData::AgentWarned(AgentWarned { warning }), 4_000),
        (event_of(EventKind::PullOpened), 5_000),
        (event_of(EventKind::AgentFinished), 6_000),
    ] {
        tell(&world, id, data, start + after).await;
    }
    let spend = move |tx: &mut store::Tx<'_>| {
        for (hours, cents) in [(0, 10.0), (1, 25.0)] {
            let at = Timestamp::from_millis(start + hours * 3_600_000);
            tx.spend_add(
                id,
                "m",
                SpendAmount { money: Usd::from_dollars(cents / 100.0), ..SpendAmount::default() },
                at,
            )?;
        }
        let at = Timestamp::from_millis(start + 6_000);
        let state = AgentState::Ended { outcome: Outcome::Succeeded, reason: String::new(), at };
        tx.agent_advance(id, &state, at)?;
        Ok::<_, StoreError>(())
    };
    world.store.write(spend).await.unwrap();

    let story = serde_json::to_value(world.engine.agent_story(id).await.unwrap()).unwrap();
    assert_eq!(
        story["crumbs"],
        json!([{ "id": boss, "role": "worker" }, { "id": lead, "role": "worker" }])
    );
    let states: Vec<&Value> =
        story["segments"].as_array().unwrap().iter().map(|part| &part["state"]).collect();
    assert_eq!(states, ["running", "waiting_review", "running"]);
    let marks: Vec<(&str, &str)> = story["marks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|mark| (mark["kind"].as_str().unwrap(), mark["text"].as_str().unwrap()))
        .collect();
    let wanted = [
        ("start", "start"),
        ("review", "review 1"),
        ("feedback", "needs work"),
        ("question", "requests Bash"),
        ("warning", "half of its budget is spent"),
        ("pull", "#7"),
        ("end", "succeeded"),
    ];
    assert_eq!(marks, wanted);
    let spent: Vec<&Value> =
        story["spend"].as_array().unwrap().iter().map(|point| &point["usd"]).collect();
    assert_eq!(spent, [&json!(0.0), &json!(0.1), &json!(0.35)]);
    assert_eq!(story["counts"], json!({ "calls": 2, "mail": 1, "children": 1 }));
    assert_eq!(story["children"][0]["id"], json!(child));
    assert_eq!(story["row"]["id"], json!(id));
    assert!(!story["calls"].as_array().unwrap().is_empty(), "{story}");
    assert_eq!(
        (&story["claim"], &story["pull"], &story["context"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
}

#[tokio::test]
async fn a_claim_and_a_worktree_are_told() {
    let project = Project::with(LINES);
    let world = &project.world;
    let task = json!({ "title": "Change the lines", "slug": "change" });
    world.ok(Who::Operator, "mcp__task__create", task).await;
    let id = world.enlist_for("worker", "change".parse().unwrap()).await;
    project.worktree(id, Some("main")).await;
    let start = json!({ "taskId": "change", "status": "IN_PROGRESS" });
    world.ok(id, "mcp__task__update_status", start).await;
    let story = serde_json::to_value(world.engine.agent_story(id).await.unwrap()).unwrap();
    assert_eq!(story["claim"]["number"], 1, "{story}");
    assert_eq!(story["branch"], format!("adjutant/{id}"));
    let task = &story["row"]["task"];
    assert_eq!((&task["number"], &task["title"]), (&json!(1), &json!("Change the lines")));
    let state = world.store.read(|tx| tx.worktree_of(id)).unwrap().unwrap().state;
    assert_eq!(state, WorktreeState::There);
}
