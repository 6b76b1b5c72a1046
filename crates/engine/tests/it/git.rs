//! What agents changed, and how it is put on top of what others did, in a real repository.

use std::fs;
use std::path::PathBuf;

use engine::Recruit;
use model::AgentId;
use model::review::ReviewState;
use serde_json::{Value, json};
use store::{NewReview, ReviewChange};

use crate::support::Who;
use crate::support::repository::{Project, commit, git};

const DIFF: &str = "mcp__git__get_diff";
const COMMIT: &str = "mcp__git__commit";
const REBASE: &str = "mcp__git__rebase";
const LINES: &str = "one\ntwo\nthree\nfour\nfive\nsix\n";

impl Project {
    /// An agent with a worktree of its own.
    async fn agent(&self, role: &str, parent: Option<AgentId>) -> (AgentId, PathBuf) {
        let recruit = Recruit { role: role.into(), task: None, epic: None, cwd: None, parent };
        let id = self.world.engine.enlist(recruit).await.unwrap().agent;
        (id, self.worktree(id, Some("main")).await)
    }
}

#[tokio::test]
async fn the_callers_own_work_is_shown_against_what_it_is_meant_for() {
    let project = Project::with(LINES);
    let world = &project.world;
    let (worker, dir) = project.agent("worker", None).await;
    let one = commit(&dir, "new.txt", "a\nb\n", "Add it");
    let two = commit(&dir, "lines.txt", "one\nTWO\nthree\nfour\nfive\nsix\n", "Change it");
    commit(&project.root, "others.txt", "x\n", "What others did");
    fs::write(dir.join("open.txt"), "not yet\n").unwrap();
    let shown = world.ok(worker, DIFF, json!({})).await;
    assert_eq!(
        shown["files"],
        json!([
            { "path": "lines.txt", "status": "changed", "additions": 1, "deletions": 1 },
            { "path": "new.txt", "status": "added", "additions": 2, "deletions": 0 },
        ])
    );
    assert_eq!(
        shown["commits"],
        json!([
            { "hash": two, "subject": "Change it" }, { "hash": one, "subject": "Add it" },
        ])
    );
    let branch = format!("adjutant/{worker}");
    assert_eq!((&shown["head"], &shown["branch"]), (&json!(two), &json!(branch)));
    assert_eq!((&shown["baseName"], &shown["truncated"]), (&json!("main"), &json!(false)));
    assert_eq!((&shown["agentId"], &shown["worktreeGone"]), (&json!(worker), &json!(false)));
    let diff = shown["diff"].as_str().unwrap();
    assert!(diff.contains("-two\n+TWO\n") && !diff.contains("others.txt"), "{diff}");
    assert_eq!(shown.get("uncommitted"), None);

    let input = json!({ "uncommitted": true, "maxBytes": 20, "base": one });
    let shown = world.ok(worker, DIFF, input).await;
    assert_eq!((&shown["base"], &shown["truncated"]), (&json!(one), &json!(true)));
    assert_eq!(shown["diff"].as_str().unwrap().len(), 20);
    assert_eq!(shown["files"].as_array().unwrap().len(), 1);
    assert_eq!(shown["uncommitted"]["files"][0]["path"], "open.txt");
    assert_eq!(shown["uncommitted"]["truncated"], true);
    let refusal =
        world.refused(worker, DIFF, json!({ "base": "nowhere" }), "RESOURCE_NOT_FOUND").await;
    assert_eq!(refusal.body["details"]["field"], "base");
}

#[tokio::test]
async fn work_of_others_is_for_those_above_who_review_it_and_who_lead_its_epic() {
    let project = Project::with(LINES);
    let world = &project.world;
    let boss = world.enlist("orchestrator").await;
    let (worker, dir) = project.agent("worker", Some(boss)).await;
    let head = commit(&dir, "new.txt", "a\n", "Add it");
    let stranger = world.enlist("worker").await;
    let input = json!({ "agentId": worker });
    world.refused(stranger, DIFF, input.clone(), "PERMISSION_DENIED").await;
    assert_eq!(world.ok(boss, DIFF, input.clone()).await["head"], head.as_str());
    assert_eq!(world.ok(Who::Operator, DIFF, input.clone()).await["head"], head.as_str());
    assert_eq!(world.ok(Who::As(worker), DIFF, json!({})).await["head"], head.as_str());

    let (reviewer, _) = project.agent("review", None).await;
    world.refused(reviewer, DIFF, input.clone(), "PERMISSION_DENIED").await;
    let (commit_hash, now) = (head.clone(), world.engine.now());
    let write = move |tx: &mut store::Tx<'_>| {
        let branch = format!("adjutant/{worker}");
        let (coder, commit, message) = (worker, commit_hash.clone(), None);
        tx.review_insert(
            &NewReview { coder, reviewer, iteration: 1, branch, commit, message },
            now,
        )?;
        tx.review_set(reviewer, ReviewChange { state: ReviewState::Open, failed: false }, now)
    };
    world.store.write(write).await.unwrap();
    commit(&dir, "later.txt", "b\n", "After it was handed in");
    let shown = world.ok(reviewer, DIFF, json!({})).await;
    assert_eq!((&shown["agentId"], &shown["head"]), (&json!(worker), &json!(head)), "{shown}");
    assert_eq!(shown["files"].as_array().unwrap().len(), 1, "what it was asked to look at");
    assert_eq!(world.ok(reviewer, DIFF, input).await["files"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn reviewers_of_an_epic_see_the_work_on_its_tasks() {
    let project = Project::with(LINES);
    let world = &project.world;
    let epic = world.ok(Who::Operator, "mcp__epic__create", json!({ "title": "e" })).await;
    let task = json!({ "title": "t", "slug": "t", "epicId": epic["id"] });
    world.ok(Who::Operator, "mcp__task__create", task).await;
    let by_task = json!({ "taskId": "t" });
    let refusal = world.refused(Who::Operator, DIFF, by_task.clone(), "INVALID_AGENT_STATE").await;
    assert!(refusal.message().contains("no agent has worked on TAS-1"), "{refusal:?}");
    let worker = world.enlist_for("worker", "t".parse().unwrap()).await;
    let dir = project.worktree(worker, Some("main")).await;
    let start = json!({ "taskId": "t", "status": "IN_PROGRESS" });
    world.ok(worker, "mcp__task__update_status", start).await;
    let head = commit(&dir, "new.txt", "a\n", "Add it");
    let epic = Some(epic["id"].as_str().unwrap().parse().unwrap());
    let recruit =
        |role: &str| Recruit { role: role.into(), task: None, epic, cwd: None, parent: None };
    for role in ["review", "supervisor"] {
        let inside = world.engine.enlist(recruit(role)).await.unwrap().agent;
        assert_eq!(world.ok(inside, DIFF, by_task.clone()).await["head"], head.as_str());
    }
    let beside = world.engine.enlist(recruit("worker")).await.unwrap().agent;
    world.refused(beside, DIFF, by_task, "PERMISSION_DENIED").await;
    let both = json!({ "taskId": "t", "agentId": worker });
    world.refused(Who::Operator, DIFF, both, "INVALID_INPUT").await;
}

#[tokio::test]
async fn where_the_worktree_is_gone_its_branch_is_shown() {
    let project = Project::with(LINES);
    let world = &project.world;
    let (worker, dir) = project.agent("worker", None).await;
    let head = commit(&dir, "new.txt", "a\n", "Add it");
    git(&project.root, &["worktree", "remove", "--force", &dir.display().to_string()]);
    let shown = world.ok(worker, DIFF, json!({ "uncommitted": true })).await;
    assert_eq!((&shown["head"], &shown["worktreeGone"]), (&json!(head), &json!(true)));
    assert_eq!(shown.get("uncommitted"), None, "there is nowhere to look");
    git(&project.root, &["branch", "-q", "-D", &format!("adjutant/{worker}")]);
    let refusal = world.refused(worker, DIFF, json!({}), "RESOURCE_NOT_FOUND").await;
    assert!(refusal.message().contains("is gone, and so is `adjutant/sp_"), "{refusal:?}");
}

#[tokio::test]
async fn who_has_no_worktree_or_no_repository_is_told_so() {
    let project = Project::with(LINES);
    let world = &project.world;
    let worker = world.enlist("worker").await;
    for tool in [DIFF, REBASE] {
        let refusal = world.refused(worker, tool, json!({}), "INVALID_AGENT_STATE").await;
        assert!(refusal.message().contains("has no worktree"), "{refusal:?}");
        let refusal = world.refused(Who::Operator, tool, json!({}), "INVALID_AGENT_STATE").await;
        assert!(refusal.message().contains("not an agent"), "{refusal:?}");
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let cwd = Some(elsewhere.path().display().to_string());
    let recruit = Recruit { role: "worker".into(), task: None, epic: None, cwd, parent: None };
    let alone = world.engine.enlist(recruit.clone()).await.unwrap().agent;
    for tool in [DIFF, REBASE] {
        let refusal = world.refused(alone, tool, json!({}), "INVALID_AGENT_STATE").await;
        assert!(refusal.message().contains("git repository"), "{refusal:?}");
    }
    // A folder of its own, on a branch that somebody else made: compared with the project's.
    let path = elsewhere.path().join("own");
    git(&project.root, &["worktree", "add", "-q", "-b", "own", &path.display().to_string()]);
    let head = commit(&path, "new.txt", "a\n", "Add it");
    let cwd = Some(path.display().to_string());
    let own = world.engine.enlist(Recruit { cwd, ..recruit }).await.unwrap().agent;
    let shown = world.ok(own, DIFF, json!({})).await;
    assert_eq!((&shown["head"], &shown["base"]), (&json!(head), &json!(project.first)));
    assert_eq!((&shown["baseName"], &shown["branch"]), (&json!("main"), &json!("own")));
    let refusal = world.refused(own, REBASE, json!({}), "INVALID_INPUT").await;
    assert_eq!(refusal.body["details"]["field"], "onto");
}

#[tokio::test]
async fn work_is_put_on_top_of_what_others_did() {
    let project = Project::with(LINES);
    let world = &project.world;
    let (worker, dir) = project.agent("worker", None).await;
    let before = commit(&dir, "new.txt", "a\n", "Add it");
    let main = commit(&project.root, "others.txt", "x\n", "What others did");
    let done = world.ok(worker, REBASE, json!({})).await;
    assert_eq!((&done["moved"], &done["status"]), (&json!(true), &json!("done")));
    assert_eq!(
        (&done["onto"], &done["branch"]),
        (&json!("main"), &json!(format!("adjutant/{worker}")))
    );
    assert_ne!(done["head"], before.as_str());
    assert_eq!(done["head"], git(&dir, &["rev-parse", "HEAD"]).as_str());
    assert_eq!(git(&dir, &["rev-parse", "HEAD^"]), main);
    assert!(dir.join("others.txt").exists() && dir.join("new.txt").exists());
    assert_eq!(git(&dir, &["status", "--porcelain"]), "");
    let worktree = world.store.read(|tx| tx.worktree_of(worker)).unwrap().unwrap();
    assert_eq!(worktree.base, main, "its own work begins there now");
    let again = world.ok(worker, REBASE, json!({ "onto": "main" })).await;
    assert_eq!((&again["moved"], &again["head"]), (&json!(false), &done["head"]));
    assert_eq!(again.get("next"), None);

    for (input, code) in [
        (json!({ "onto": "nowhere" }), "RESOURCE_NOT_FOUND"),
        (json!({ "onto": format!("adjutant/{worker}") }), "INVALID_INPUT"),
        (json!({ "onto": "--exec=true" }), "RESOURCE_NOT_FOUND"),
    ] {
        let refusal = world.refused(worker, REBASE, input, code).await;
        assert_eq!(refusal.body["details"]["field"], "onto", "{refusal:?}");
    }
}

#[tokio::test]
async fn what_does_not_fit_is_named_with_file_and_lines_and_nothing_is_changed() {
    let project = Project::with(LINES);
    let world = &project.world;
    let (worker, dir) = project.agent("worker", None).await;
    let before = commit(&dir, "lines.txt", "one\ntwo\nmine\nfour\nfive\nsix\n", "Mine");
    commit(&project.root, "lines.txt", "one\ntwo\ntheirs\nfour\nfive\nsix\n", "Theirs");
    let refusal = world.refused(worker, REBASE, json!({}), "CONFLICT").await;
    let conflicts = &refusal.body["details"]["conflicts"];
    assert_eq!(
        (&conflicts[0]["file"], &conflicts[0]["kind"]),
        (&json!("lines.txt"), &json!("content"))
    );
    assert_eq!(conflicts[0]["lines"][0]["from"], 3, "{conflicts}");
    assert!(refusal.body["suggestions"].to_string().contains("git rebase main"), "{refusal:?}");
    assert_eq!(git(&dir, &["rev-parse", "HEAD"]), before);
    assert_eq!(git(&dir, &["status", "--porcelain", "--branch"]), format!("## adjutant/{worker}"));

    fs::write(dir.join("lines.txt"), "open\n").unwrap();
    let refusal = world.refused(worker, REBASE, json!({}), "CONFLICT").await;
    assert_eq!(refusal.body["details"]["files"], json!(["lines.txt"]));
    assert_eq!(fs::read_to_string(dir.join("lines.txt")).unwrap(), "open\n");
    git(&dir, &["checkout", "-q", "--detach", "-f"]);
    let refusal = world.refused(worker, REBASE, json!({}), "CONFLICT").await;
    assert!(refusal.message().contains("no branch is checked out"), "{refusal:?}");
}

#[tokio::test]
async fn a_task_that_was_held_up_goes_on_only_by_its_workers_word() {
    let project = Project::with(LINES);
    let world = &project.world;
    world.ok(Who::Operator, "mcp__task__create", json!({ "title": "t", "slug": "t" })).await;
    let worker = world.enlist_for("worker", "t".parse().unwrap()).await;
    let dir = project.worktree(worker, Some("main")).await;
    for status in ["IN_PROGRESS", "BLOCKED"] {
        let input = json!({ "taskId": "t", "status": status });
        world.ok(worker, "mcp__task__update_status", input).await;
    }
    commit(&dir, "new.txt", "a\n", "Add it");
    commit(&project.root, "others.txt", "x\n", "What others did");
    let done: Value = world.ok(worker, REBASE, json!({})).await;
    assert!(done["next"].as_str().unwrap().contains("TAS-1 is BLOCKED still"), "{done}");
    let task = world.ok(worker, "mcp__task__get", json!({ "taskId": "t" })).await;
    assert_eq!(task["state"], "BLOCKED");
}

#[tokio::test]
async fn uncommitted_work_is_committed_in_its_authors_name() {
    let project = Project::with(LINES);
    let world = &project.world;
    let (worker, dir) = project.agent("worker", None).await;
    let before = git(&dir, &["rev-parse", "HEAD"]);
    let nothing = world.ok(worker, COMMIT, json!({ "message": "Nothing" })).await;
    assert_eq!((&nothing["committed"], &nothing["head"]), (&json!(false), &json!(before)));

    fs::write(dir.join("new.txt"), "a\n").unwrap();
    fs::write(dir.join("lines.txt"), "one\n").unwrap();
    fs::write(dir.join(".gitignore"), "*.log\n").unwrap();
    fs::write(dir.join("noise.log"), "x\n").unwrap();
    let done = world.ok(worker, COMMIT, json!({ "message": "Add it\n\nFor a reason." })).await;
    assert_eq!((&done["committed"], &done["status"]), (&json!(true), &json!("done")));
    assert_eq!(done["files"], json!([".gitignore", "lines.txt", "new.txt"]));
    assert_eq!(done["branch"], format!("adjutant/{worker}"));
    assert_eq!(done["head"], git(&dir, &["rev-parse", "HEAD"]).as_str());
    assert_eq!(git(&dir, &["rev-parse", "HEAD^"]), before);
    assert_eq!(git(&dir, &["status", "--porcelain"]), "");
    assert_eq!(
        git(&dir, &["log", "-1", "--format=%an <%ae>"]),
        format!("worker <{worker}@localhost>")
    );
    assert_eq!(git(&dir, &["log", "-1", "--format=%B"]).trim(), "Add it\n\nFor a reason.");
    assert!(git(&dir, &["ls-files"]).lines().all(|file| file != "noise.log"));

    for message in ["", " \n"] {
        let refusal =
            world.refused(worker, COMMIT, json!({ "message": message }), "INVALID_INPUT").await;
        assert_eq!(refusal.body["details"]["field"], "message");
    }
    git(&dir, &["checkout", "-q", "--detach"]);
    let refusal = world.refused(worker, COMMIT, json!({ "message": "x" }), "CONFLICT").await;
    assert!(refusal.message().contains("no branch is checked out"), "{refusal:?}");
}

#[tokio::test]
async fn nothing_is_committed_in_the_projects_own_checkout() {
    let project = Project::with(LINES);
    let world = &project.world;
    fs::create_dir(project.root.join("sub")).unwrap();
    fs::write(project.root.join("sub/theirs.txt"), "the user's own\n").unwrap();
    for cwd in [project.root.clone(), project.root.join("sub")] {
        let cwd = Some(cwd.display().to_string());
        let recruit = Recruit { role: "worker".into(), task: None, epic: None, cwd, parent: None };
        let agent = world.engine.enlist(recruit).await.unwrap().agent;
        let input = json!({ "message": "Take it" });
        let refusal = world.refused(agent, COMMIT, input, "INVALID_AGENT_STATE").await;
        assert!(refusal.message().contains("project's own checkout"), "{refusal:?}");
    }
    assert_eq!(git(&project.root, &["rev-parse", "HEAD"]), project.first);
}

#[tokio::test]
async fn an_unfinished_merge_is_not_committed() {
    let project = Project::with(LINES);
    let world = &project.world;
    let (worker, dir) = project.agent("worker", None).await;
    let before = commit(&dir, "lines.txt", "mine\n", "Mine");
    commit(&project.root, "lines.txt", "theirs\n", "Theirs");
    fs::write(dir.join("merging.sh"), "git merge -q main || true\n").unwrap();
    git(&dir, &["-c", "alias.try=!sh merging.sh", "try"]);
    fs::remove_file(dir.join("merging.sh")).unwrap();
    let refusal = world.refused(worker, COMMIT, json!({ "message": "x" }), "CONFLICT").await;
    assert!(refusal.body["suggestions"].to_string().contains("git merge --abort"), "{refusal:?}");
    assert_eq!(git(&dir, &["rev-parse", "HEAD"]), before);
}

#[tokio::test]
async fn the_guard_holds_for_commits_by_the_server_too() {
    let project = Project::guarded(LINES);
    let world = &project.world;
    let (holder, _) = project.agent("worker", None).await;
    let (worker, dir) = project.agent("worker", None).await;
    let reserve = json!({ "paths": ["new.*"] });
    world.ok(holder, "mcp__files__reserve", reserve).await;
    fs::write(dir.join("new.txt"), "a\n").unwrap();
    let refusal = world.refused(worker, COMMIT, json!({ "message": "x" }), "CONFLICT").await;
    assert!(refusal.message().contains(&format!("reserved by {holder}")), "{refusal:?}");
    assert_eq!(git(&dir, &["status", "--porcelain"]), "?? new.txt");
    world.ok(holder, "mcp__files__release", json!({ "paths": ["new.*"] })).await;
    assert_eq!(world.ok(worker, COMMIT, json!({ "message": "x" })).await["committed"], true);
}
