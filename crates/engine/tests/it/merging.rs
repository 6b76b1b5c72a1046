//! Approved work on its way into branches, in a real repository. Nothing is checked here: that needs the
//! program itself, and is tried with it.

mod decisions;
mod forecast;
mod review_desk;

use std::fs;
use std::path::{Path, PathBuf};

use model::event::EventKind;
use model::{AgentId, EpicId, TaskRef};
use serde_json::{Value, json};
use store::{Inbox, Mail, Recipient};

use crate::support::Who;
use crate::support::repository::{self, Project, git};

const APPROVE: &str = "mcp__supervisor__approve_task";
const LINES: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

fn commit(dir: &Path, file: &str, text: &str) -> String {
    repository::commit(dir, file, text, &format!("Write {file}"))
}

/// Work that was handed in.
struct Work {
    task: String,
    worker: AgentId,
    dir: PathBuf,
    head: String,
}

impl Project {
    async fn epic(&self) -> EpicId {
        let made = self.world.ok(Who::Operator, "mcp__epic__create", json!({ "title": "E" })).await;
        made["id"].as_str().unwrap().parse().unwrap()
    }

    /// A task, and a worker for it in a worktree of its own that is meant for `target`.
    async fn begun(&self, title: &str, epic: Option<EpicId>, target: Option<&str>) -> Work {
        let slug = title.to_lowercase().replace(' ', "-");
        let input = json!({ "title": title, "epicId": epic, "slug": slug });
        let made = self.world.ok(Who::Operator, "mcp__task__create", input).await;
        let task = made["id"].as_str().unwrap().to_owned();
        let named: TaskRef = task.parse().unwrap();
        let worker = self.world.enlist_for("worker", named.clone()).await;
        let dir = self.worktree(worker, target).await;
        let (path, branch) = (dir.display().to_string(), format!("adjutant/{worker}"));
        let now = self.world.engine.now();
        let write = move |tx: &mut store::Tx<'_>| {
            let found = tx.task_find(&named)?.unwrap();
            tx.task_set_worktree(found.id, &path, &branch, now)
        };
        self.world.store.write(write).await.unwrap();
        Work { task, worker, dir, head: String::new() }
    }

    /// The same, with a file committed, and handed in.
    async fn handed(&self, title: &str, file: &str, text: &str) -> Work {
        let work = self.begun(title, None, Some("main")).await;
        self.hand_in(work, file, text).await
    }

    async fn hand_in(&self, work: Work, file: &str, text: &str) -> Work {
        let head = commit(&work.dir, file, text);
        let input = json!({ "status": "REVIEW" });
        self.world.ok(work.worker, "mcp__task__update_status", input).await;
        Work { head, ..work }
    }

    async fn approve(&self, work: &Work) -> Value {
        self.world.ok(Who::Operator, APPROVE, json!({ "taskId": work.task })).await
    }

    async fn state(&self, work: &Work) -> String {
        self.task(work).await["state"].as_str().unwrap().to_owned()
    }

    async fn task(&self, work: &Work) -> Value {
        self.world.ok(Who::Operator, "mcp__task__get", json!({ "taskId": work.task })).await
    }

    fn letters(&self, to: Recipient) -> Vec<Mail> {
        let store = &self.world.store;
        store.read(|tx| tx.mail_inbox(to, Inbox::All, 0, 100)).unwrap().items
    }

    /// Waits until nothing is left to be done outside.
    async fn settled(&self) {
        let mut last = self.world.store.last_event();
        while !self.world.store.read(|tx| tx.outbox_jobs_open()).unwrap().is_empty() {
            last.changed().await.unwrap();
        }
    }

    /// Nothing is left to be done, and git and the record agree.
    async fn in_order(&self) {
        self.settled().await;
        let engine = self.world.engine.clone();
        let found = tokio::task::spawn_blocking(move || engine.disagreements()).await.unwrap();
        assert_eq!(found.unwrap(), Vec::new());
    }
}

#[tokio::test]
async fn approved_work_is_merged_and_its_agent_can_go() {
    let project = Project::with(LINES);
    let work = project.handed("Add it", "new.txt", "new\n").await;
    let before = git(&project.root, &["rev-parse", "main"]);
    let answer = project.approve(&work).await;
    assert_eq!(answer["status"], "merged", "{answer}");
    let merged = answer["commit"].as_str().unwrap();
    assert_eq!(git(&project.root, &["rev-parse", "main"]), merged);
    let parents = git(&project.root, &["log", "-1", "--format=%P", "main"]);
    assert_eq!(parents, format!("{before} {}", work.head));
    let said = git(&project.root, &["log", "-1", "--format=%s", "main"]);
    assert_eq!(said, "Merge TAS-1: Add it");
    assert_eq!(fs::read_to_string(project.root.join("new.txt")).unwrap(), "new\n");
    let task = project.task(&work).await;
    assert_eq!(task["state"], "COMPLETED");
    let told = task["comments"][0]["body"].as_str().unwrap();
    assert_eq!(told, format!("Merged into `main` as {merged}."));
    let worker = project.world.store.read(|tx| tx.agent_get(work.worker)).unwrap().unwrap();
    assert_eq!(worker.state.name().stored(), "succeeded");
    assert_eq!(project.world.told(EventKind::MergeQueued).len(), 1);
    let changed = project.world.told(EventKind::MergeChanged);
    assert_eq!((changed.len(), &changed[0].data["state"]), (1, &json!("merged")));
    project.in_order().await;
    assert!(!work.dir.exists(), "its worktree is gone");
    let branch = format!("adjutant/{}", work.worker);
    assert_eq!(git(&project.root, &["branch", "--list", &branch]), "", "and so is its branch");
}

#[tokio::test]
async fn an_epics_work_goes_into_its_own_branch_which_is_made_when_it_is_needed() {
    let project = Project::with(LINES);
    let epic = project.epic().await;
    let work = project.begun("Add it", Some(epic), None).await;
    let work = project.hand_in(work, "new.txt", "new\n").await;
    let before = git(&project.root, &["rev-parse", "main"]);
    let answer = project.approve(&work).await;
    assert_eq!(answer["status"], "merged", "{answer}");
    assert_eq!(git(&project.root, &["rev-parse", "main"]), before, "nothing else is touched");
    let branch = format!("adjutant/epic/{epic}");
    assert_eq!(git(&project.root, &["show", &format!("{branch}:new.txt")]), "new");
    project.in_order().await;
}

#[tokio::test]
async fn what_does_not_fit_goes_back_to_a_live_worker_with_files_and_lines() {
    let project = Project::with(LINES);
    let work = project.handed("Two", "lines.txt", &LINES.replace("two", "zwei")).await;
    commit(&project.root, "lines.txt", &LINES.replace("two", "deux"));
    let before = git(&project.root, &["rev-parse", "main"]);
    let answer = project.approve(&work).await;
    assert_eq!(answer["status"], "sent_back", "{answer}");
    let place =
        json!([{ "file": "lines.txt", "kind": "content", "lines": [{ "from": 2, "to": 6 }] }]);
    assert_eq!(answer["conflicts"], place);
    assert_eq!(project.state(&work).await, "IN_PROGRESS");
    assert_eq!(git(&project.root, &["rev-parse", "main"]), before);
    let letters = project.letters(Recipient::Agent(work.worker));
    assert_eq!(letters[0].subject, "Merge Conflict: TAS-1 Two");
    assert!(letters[0].body.contains("- `lines.txt` (content, lines 2-6)"), "{}", letters[0].body);
    assert!(letters[0].body.contains("git_rebase"), "{}", letters[0].body);
    // It goes on where it was, mends it and hands it in again.
    git(&work.dir, &["merge", "-q", "-s", "ours", "main"]);
    project.world.ok(work.worker, "mcp__task__update_status", json!({ "status": "REVIEW" })).await;
    assert_eq!(project.approve(&work).await["status"], "merged");
    project.in_order().await;
}

#[tokio::test]
async fn what_does_not_fit_is_pending_where_nobody_works_on_it_and_its_supervisor_is_told() {
    let project = Project::with(LINES);
    let epic = project.epic().await;
    let boss = project.world.enlist_in("supervisor", epic).await;
    let work = project.begun("Two", Some(epic), Some("main")).await;
    let work = project.hand_in(work, "lines.txt", &LINES.replace("two", "zwei")).await;
    project.world.discharge(work.worker).await;
    commit(&project.root, "lines.txt", &LINES.replace("two", "deux"));
    let answer = project.world.ok(boss, APPROVE, json!({ "taskId": work.task })).await;
    assert_eq!(answer["status"], "sent_back", "{answer}");
    let task = project.task(&work).await;
    assert_eq!((&task["state"], &task["assignedAgentId"]), (&json!("PENDING"), &Value::Null));
    assert_eq!(
        task["branchName"],
        format!("adjutant/{}", work.worker),
        "the next one goes on there"
    );
    let letters = project.letters(Recipient::Agent(boss));
    assert_eq!(letters[0].subject, "Merge Conflict: TAS-1 Two");
    assert_eq!(letters[0].from, Some(work.worker), "nobody gets letters from itself");
    project.in_order().await;
}

#[tokio::test]
async fn changes_in_the_checkout_hold_a_merge_until_it_is_tried_again() {
    let project = Project::with(LINES);
    let work = project.handed("Two", "lines.txt", &LINES.replace("two", "zwei")).await;
    let mine = LINES.replace("seven", "mine");
    fs::write(project.root.join("lines.txt"), &mine).unwrap();
    let answer = project.approve(&work).await;
    assert_eq!(answer["status"], "held", "{answer}");
    let reason = answer["reason"].as_str().unwrap();
    assert!(reason.contains("`lines.txt`") && reason.contains("commit or stash"), "{reason}");
    assert_eq!(project.state(&work).await, "REVIEW");
    assert_eq!(
        fs::read_to_string(project.root.join("lines.txt")).unwrap(),
        mine,
        "nothing is forced"
    );
    let letters = project.letters(Recipient::Human);
    assert_eq!(letters[0].subject, "Merge Held: TAS-1 Two");
    let id = answer["mergeId"].as_str().unwrap().parse().unwrap();
    let queue = project.world.engine.merge_queue(engine::ListScope::Open, 0, 10).unwrap();
    assert_eq!(
        (queue.merges[0].id, queue.merges[0].files.clone()),
        (id, vec!["lines.txt".to_owned()])
    );
    // Still in the way.
    let answer = project.approve(&work).await;
    assert_eq!((&answer["status"], &answer["mergeId"]), (&json!("held"), &json!(id)));
    // What the worker does meanwhile was not approved.
    let later = commit(&work.dir, "later.txt", "later\n");
    git(&project.root, &["checkout", "-q", "--", "lines.txt"]);
    project.world.engine.merge_retry(id).await.unwrap();
    project.settled().await;
    let merged = project.world.store.read(|tx| tx.merge_get(id)).unwrap().unwrap();
    assert_eq!((merged.state.name(), &merged.commit), ("merged", &work.head));
    assert!(!project.root.join("later.txt").exists());
    let branch = format!("adjutant/{}", work.worker);
    assert_eq!(git(&project.root, &["rev-parse", &branch]), later, "and it is not lost");
    let refused = project.world.engine.merge_retry(id).await.unwrap_err();
    assert_eq!(refused.message, format!("`{id}` is merged, not held"));
    project.in_order().await;
}

#[tokio::test]
async fn two_that_are_approved_at_once_are_merged_one_after_the_other() {
    let project = Project::with(LINES);
    let one = project.handed("One", "one.txt", "1\n").await;
    let two = project.handed("Two", "two.txt", "2\n").await;
    let (first, second, again) =
        tokio::join!(project.approve(&one), project.approve(&two), project.approve(&one));
    assert_eq!((&first["status"], &second["status"]), (&json!("merged"), &json!("merged")));
    assert_eq!(first, again, "approving twice is one merge");
    let merges = git(&project.root, &["log", "--merges", "--format=%H", "main"]);
    assert_eq!(merges.lines().count(), 2);
    for file in ["one.txt", "two.txt"] {
        assert!(project.root.join(file).exists(), "{file}");
    }
    project.in_order().await;
}

#[tokio::test]
async fn the_second_of_two_that_do_not_fit_is_sent_back() {
    let project = Project::with(LINES);
    let one = project.handed("One", "lines.txt", &LINES.replace("two", "zwei")).await;
    let two = project.handed("Two", "lines.txt", &LINES.replace("two", "deux")).await;
    let (first, second) = tokio::join!(project.approve(&one), project.approve(&two));
    let mut told = [first["status"].as_str().unwrap(), second["status"].as_str().unwrap()];
    told.sort_unstable();
    // It was in the queue already, so it has its own turn; else it would have been blocked.
    assert_eq!(told, ["merged", "sent_back"]);
    project.in_order().await;
}

#[tokio::test]
async fn who_does_not_fit_any_more_is_blocked_and_told_to_rebase_and_others_are_left_alone() {
    let project = Project::with(LINES);
    let one = project.handed("One", "lines.txt", &LINES.replace("two", "zwei")).await;
    let two = project.handed("Two", "lines.txt", &LINES.replace("two", "deux")).await;
    let three = project.handed("Three", "lines.txt", &LINES.replace("eight", "acht")).await;
    let epic = project.epic().await;
    let elsewhere = project.begun("Four", Some(epic), None).await;
    let elsewhere = project.hand_in(elsewhere, "lines.txt", &LINES.replace("two", "dos")).await;
    let dead = project.handed("Five", "lines.txt", &LINES.replace("two", "due")).await;
    project.world.discharge(dead.worker).await;
    assert_eq!(project.approve(&one).await["status"], "merged");
    let task = project.task(&two).await;
    assert_eq!(task["state"], "BLOCKED");
    let remark = task["comments"][0]["body"].as_str().unwrap();
    assert!(remark.contains("it conflicts with TAS-1") && remark.contains("lines 2-6"), "{remark}");
    let letters = project.letters(Recipient::Agent(two.worker));
    assert_eq!(letters[0].subject, "Rebase Required: TAS-2 Two");
    assert!(letters[0].body.contains("- `lines.txt` (content, lines 2-6)"), "{}", letters[0].body);
    assert!(letters[0].body.contains("`git_rebase`"));
    assert_eq!(project.state(&dead).await, "BLOCKED");
    let human = project.letters(Recipient::Human);
    assert_eq!(human[0].subject, "Rebase Required: TAS-5 Five");
    for work in [&three, &elsewhere] {
        assert_eq!(project.state(work).await, "REVIEW");
        assert!(project.letters(Recipient::Agent(work.worker)).is_empty());
    }
    project.in_order().await;
}

#[tokio::test]
async fn feedback_that_reviewers_left_on_a_branch_stays_there() {
    let project = Project::with(LINES);
    let work = project.begun("Add it", None, Some("main")).await;
    commit(&work.dir, "REVIEW_FEEDBACK.md", "Do it better.\n");
    let work = project.hand_in(work, "new.txt", "new\n").await;
    assert_eq!(project.approve(&work).await["status"], "merged");
    assert!(
        project.root.join("new.txt").exists() && !project.root.join("REVIEW_FEEDBACK.md").exists()
    );
    git(&project.root, &["merge-base", "--is-ancestor", &work.head, "main"]);
    project.in_order().await;
}

#[tokio::test]
async fn what_is_in_already_is_merged_as_it_is_and_what_has_no_target_is_held() {
    let project = Project::with(LINES);
    let work = project.handed("Add it", "new.txt", "new\n").await;
    git(&project.root, &["merge", "-q", "--no-ff", "-m", "By hand", &work.head]);
    let head = git(&project.root, &["rev-parse", "main"]);
    let answer = project.approve(&work).await;
    assert_eq!((&answer["status"], &answer["commit"]), (&json!("merged"), &json!(work.head)));
    assert_eq!(git(&project.root, &["rev-parse", "main"]), head);
    let lost = project.begun("Lost", None, Some("gone")).await;
    let lost = project.hand_in(lost, "lost.txt", "lost\n").await;
    let answer = project.approve(&lost).await;
    assert_eq!(answer["status"], "held", "{answer}");
    assert!(
        answer["reason"].as_str().unwrap().starts_with("the branch `gone` does not exist any more"),
        "{answer}"
    );
    git(&project.root, &["branch", "gone", "main"]);
    assert_eq!(project.approve(&lost).await["status"], "merged");
    project.in_order().await;
}
