//! Pull requests on a real repository, with a real remote and a GitHub that holds every request against GitHub's own
//! description: opened once whatever happens, refused with the reason, and approved by a reviewer.

mod crashes;
mod follow;
mod issues;
mod secrets;

use std::fs;
use std::path::PathBuf;

use model::review::PullState;
use serde_json::{Value, json};
use testkit::github::{FakeGitHub, Fault};
use testkit::{Agent, Http, Server, World};

use crate::crew::{in_order, repository, settled, sh, until};
use crate::kill::{answer, cast, draft, ended, events, until_is};

const TOOL: &str = "mcp__review__create_pull_request";
/// The key with which the webhook is signed.
const KEY: &str = "a key between GitHub and us";

const ASK: &str = "{{instructions}}\n";

const STORY: &str = r#"
scenarios:
  deliver:
    steps:
      - write: {path: feature.txt, text: "one\n"}
      - write: {path: REVIEW_FEEDBACK.md, text: "mend it\n"}
      - commit: Add the feature
      - &deliver
        call: create_pull_request
        with: {title: Add the feature, description: It is new.}
        expect: {status: done, instance_status: PR_CREATED, pr_number: 1, base_branch: main}
      - run: [sh, -c, '! test -e REVIEW_FEEDBACK.md']
      - result: {summary: delivered}
  reviewed:
    steps:
      - write: {path: feature.txt, text: "one\n"}
      - commit: Add the feature
      - call: request_review
        with: {reviewer_prompt: refuse}
      - call: mail_list_inbox
        with: {waitSeconds: 100}
        until: {mails: [{subject: 'Review 1: needs_work'}]}
        save: inbox
      - call: mail_read
        with: {mailId: '{{inbox.mails.0.id}}'}
      - run: [test, -f, REVIEW_FEEDBACK.md]
      - write: {path: feature.txt, text: "two\n"}
      - commit: Mend it
      - call: request_review
        with: {reviewer_prompt: approve}
      - call: mail_list_inbox
        with: {waitSeconds: 100}
        until: {mails: [{subject: 'Review 2: approved, pull request #1'}]}
      - run: [sh, -c, '! test -e REVIEW_FEEDBACK.md']
      - result: {summary: approved}
  leave:
    steps:
      - write: {path: feature.txt, text: "one\n"}
      - commit: Add the feature
      - call: request_review
        with: {reviewer_prompt: late}
      - result: {summary: gone before the approval}
    attempts:
      2:
        - fail: there was nothing to go on for
  refuse:
    steps:
      - call: send_feedback
        with: {feedback: Mend it., feedback_type: needs_work}
  approve:
    steps:
      - &approve
        call: create_pull_request
        with: {title: Add the feature, description: It was reviewed.}
        expect: {status: done, instance_status: PR_CREATED, pr_number: 1}
      - *approve
      - call: send_feedback
        with: {feedback: too late, feedback_type: needs_work}
        fails: INVALID_AGENT_STATE
      - sleep: 100
  late:
    steps:
      - run: [sh, -c, 'until [ -e "$ADJUTANT_HOME/go" ]; do sleep 0.02; done']
      - *approve
  asks:
    steps:
      - write: {path: feature.txt, text: "one\n"}
      - commit: Add the feature
      - call: request_review
        with: {reviewer_prompt: praise}
      - result: {summary: gone before the approval}
    attempts:
      2:
        - fail: there was nothing to go on for
  praise:
    steps:
      - call: send_feedback
        with: {feedback: It holds., feedback_type: approved}
        expect: {status: done}
  plan:
    steps:
      - call: create_issues
        with: {document: PLAN.md}
        expect: {status: done, issues: [{number: 1, title: Read the file}, {number: 2, title: Write it}]}
      - result: {summary: planned}
  show:
    steps:
      - run: [sh, -c, 'env > "$ADJUTANT_HOME/environment.txt"']
      - write: {path: feature.txt, text: "one\n"}
      - commit: Add the feature
      - *deliver
      - result: {summary: shown}
"#;

/// A project under git with a remote that git takes for one on GitHub, and that GitHub.
struct Stage {
    world: World,
    github: FakeGitHub,
    remote: PathBuf,
}

async fn stage(variables: &[(&str, &str)]) -> Stage {
    let mut world = crate::world().await;
    let github = FakeGitHub::start().await.unwrap();
    github.repo("o", "r", "main");
    let remote = world.scratch().join("remote.git");
    let config = world.scratch().join("gitconfig");
    let own = format!("[url \"{}\"]\n\tinsteadOf = https://github.com/o/r.git\n", remote.display());
    fs::write(&config, own).unwrap();
    let (config, api, token) = (config.display().to_string(), github.url(), github.token());
    for (name, value) in [
        ("GIT_CONFIG_GLOBAL", config.as_str()),
        ("ADJUTANT_GITHUB_API_URL", &api),
        // Anyone who asks of its own accord would take what is meant for others.
        ("ADJUTANT_GITHUB_POLL_SECONDS", "0"),
        ("ADJUTANT_LIMITS_GRACE", "300"),
        ("GITHUB_TOKEN", token),
        ("GITHUB_WEBHOOK_SECRET", KEY),
    ]
    .iter()
    .chain(variables)
    {
        world.set(name, *value);
    }
    fs::write(world.project().join("crew.yaml"), STORY).unwrap();
    fs::write(world.home().join("review.md"), ASK).unwrap();
    cast(&world, "coder", "category: coding\nworktree: fresh");
    cast(&world, "planner", "category: planning");
    cast(&world, "reviewer", "category: review");
    repository(&world).await;
    let with_remote = "git init -q --bare -b main \"$TMPDIR/remote.git\"
        git remote add origin https://github.com/o/r.git && git push -q origin main";
    sh(&world, with_remote).await;
    Stage { world, github, remote }
}

impl Stage {
    async fn git(&self, script: &str) -> String {
        sh(&self.world, script).await
    }

    /// An agent that somebody else runs, on a branch of its own with a commit.
    async fn coder(&self, branch: &str) -> Agent {
        let dir = self.world.scratch().join(branch);
        let dir = dir.display();
        self.git(&format!("git worktree add -q '{dir}' -b {branch} main")).await;
        self.commit(branch, "one").await;
        self.world.enlist("coder", &["--cwd", &dir.to_string()]).await.unwrap()
    }

    async fn commit(&self, branch: &str, line: &str) {
        let dir = self.world.scratch().join(branch);
        let (dir, add) = (dir.display(), format!("echo {line} >> feature.txt && git add -A"));
        self.git(&format!("cd '{dir}' && {add} && git commit -q -m 'Add {line}'")).await;
    }

    /// Where a branch of the remote stands.
    async fn there(&self, branch: &str) -> String {
        let remote = self.remote.display();
        self.git(&format!("git --git-dir='{remote}' rev-parse -q --verify {branch} || true")).await
    }

    /// How often something was asked to be opened.
    fn asked(&self) -> usize {
        self.github.requests().iter().filter(|seen| seen.method == "POST").count()
    }

    async fn settled(&self) {
        settled(&self.world).await;
    }

    /// All is in order in the world, and GitHub is content.
    async fn in_order(self) {
        in_order(&self.world).await;
        self.github.finish().unwrap();
    }
}

fn request() -> Value {
    json!({ "title": "Add it", "description": "It is new.", "base_branch": "main" })
}

fn as_agent(server: &Server, agent: &Agent) -> Http {
    Http::new(&server.url, &agent.token)
}

#[tokio::test]
async fn a_pull_request_is_opened_once_however_often_it_is_asked_for() {
    let stage = stage(&[]).await;
    let server = stage.world.up().await.unwrap();
    let coder = stage.coder("work").await;
    let http = as_agent(&server, &coder);
    let first = http.call(TOOL, request()).await.unwrap().unwrap();
    let [pull] = &stage.github.pulls()[..] else { panic!("one pull request") };
    let told = (pull.title.as_str(), pull.body.as_str(), pull.head.as_str(), pull.base.as_str());
    assert_eq!(told, ("Add it", "It is new.", "work", "main"));
    assert_eq!(
        first,
        json!({
            "pr_number": pull.number, "pr_url": first["pr_url"], "branch_name": "work",
            "base_branch": "main", "instance_status": "PR_CREATED", "status": "done",
        })
    );
    assert!(first["pr_url"].as_str().unwrap().contains("o/r/pull/1"), "{first}");
    assert_eq!(stage.there("work").await, stage.git("git rev-parse work").await);
    // Again, with more, under the other name, and without saying where to.
    stage.commit("work", "two").await;
    let again = json!({ "title": "Another", "description": "Other words." });
    assert_eq!(http.call("mcp__review__create_pr", again).await.unwrap().unwrap(), first);
    assert_eq!(stage.there("work").await, stage.git("git rev-parse work").await);
    let typed =
        ["tool", "create_pr", "--as", &coder.id, "--title", "x", "--description", "y", "--json"];
    assert_eq!(stage.world.run(&typed).await.unwrap().ok().unwrap().json().unwrap(), first);
    let both = [http.call(TOOL, request()), http.call(TOOL, request())];
    for answer in futures_util::future::join_all(both).await {
        assert_eq!(answer.unwrap().unwrap(), first);
    }
    assert_eq!(stage.asked(), 1);
    assert_eq!(events(&stage.world, "pull.opened").await.len(), 1);
    let shown = http.with_token(stage.world.operator().await.unwrap());
    let shown = shown.get(&format!("/api/agents/{}", coder.id)).await.unwrap().1;
    assert_eq!(shown["reviewStatus"], "PR_CREATED");
    stage.in_order().await;
}

#[tokio::test]
async fn a_lost_answer_and_a_rate_limit_are_waited_out() {
    let stage = stage(&[]).await;
    let server = stage.world.up().await.unwrap();
    let coder = stage.coder("work").await;
    // It looks, it opens, and nobody hears that it is open.
    stage.github.fail_next(Fault::Garbage("[]".to_owned()));
    stage.github.fail_next(Fault::LoseAnswer);
    let answer = as_agent(&server, &coder).call(TOOL, request()).await.unwrap().unwrap();
    assert_eq!((&answer["pr_number"], stage.asked()), (&json!(1), 1), "{answer}");
    let other = stage.coder("other").await;
    let soon = host::clock::Clock::System.now().after_seconds(2);
    let before = stage.github.requests().len();
    stage.github.fail_next(Fault::RateLimited(soon));
    let answer = as_agent(&server, &other).call(TOOL, request()).await.unwrap().unwrap();
    assert_eq!((&answer["pr_number"], &answer["status"]), (&json!(2), &json!("done")), "{answer}");
    let seen = &stage.github.requests()[before..];
    assert_eq!(seen[0].status, Some(403));
    assert!(
        seen[1..].iter().all(|seen| seen.status.is_some_and(|status| status < 300)),
        "{seen:?}"
    );
    assert!(host::clock::Clock::System.now() >= soon.after_seconds(-1), "it was not hurried");
    stage.in_order().await;
}

#[tokio::test]
async fn what_cannot_be_opened_is_refused_with_the_reason_and_nothing_is_pushed() {
    let stage = stage(&[]).await;
    let server = stage.world.up().await.unwrap();
    let coder = stage.coder("work").await;
    let http = as_agent(&server, &coder);
    let refused = async |input: Value| http.call(TOOL, input).await.unwrap().unwrap_err();
    let dir = stage.world.scratch().join("work");
    let dir = dir.display();

    stage.git(&format!("cd '{dir}' && echo x > stray.txt && echo y >> feature.txt")).await;
    let error = refused(request()).await;
    assert_eq!((&error["code"], &error["error"]), (&json!("CONFLICT"), &json!("CONFLICT")));
    assert_eq!(error["files"], json!(["feature.txt", "stray.txt"]), "{error}");
    stage.git(&format!("cd '{dir}' && rm stray.txt && git checkout -q feature.txt")).await;

    stage.git(&format!("cd '{dir}' && git checkout -q --detach")).await;
    let error = refused(request()).await;
    assert_eq!(error["message"], "no branch is checked out where you work");
    stage.git(&format!("cd '{dir}' && git checkout -q work")).await;

    let error = refused(json!({ "title": "x", "description": "y", "base_branch": "work" })).await;
    assert_eq!(
        error["message"],
        "`work` is a target branch and cannot be the source of a pull request"
    );
    stage.git("git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/work").await;
    let error = refused(request()).await;
    assert_eq!(
        error["message"],
        "`work` is a target branch and cannot be the source of a pull request"
    );
    stage.git("git remote set-head origin -d").await;
    let error = refused(json!({ "title": "x", "description": "y", "base_branch": "a..b" })).await;
    assert_eq!((&error["code"], &error["field"]), (&json!("INVALID_INPUT"), &json!("base_branch")));

    stage.git(&format!("cd '{dir}' && git reset -q --hard main")).await;
    let error = refused(request()).await;
    assert_eq!(
        (&error["code"], &error["tool_name"]),
        (&json!("CONFLICT"), &json!("create_pull_request"))
    );
    assert_eq!(error["message"], "there are no commits for a pull request");
    // The reviewer's file alone is nothing either.
    stage
        .git(&format!(
            "cd '{dir}' && echo x > REVIEW_FEEDBACK.md && git add -A && git commit -q -m F"
        ))
        .await;
    assert_eq!(refused(request()).await["message"], "there are no commits for a pull request");
    stage.commit("work", "two").await;

    stage.git("git remote rename origin elsewhere").await;
    let error = refused(request()).await;
    assert_eq!(error["message"], "the project has no remote `origin`", "{error}");
    stage.git("git remote rename elsewhere origin && git remote set-url origin /srv/r.git").await;
    let error = refused(request()).await;
    assert!(error["message"].as_str().unwrap().contains("no repository on a server"), "{error}");
    stage.git("git remote set-url origin https://github.com/o/r.git").await;

    assert_eq!((stage.there("work").await.as_str(), stage.asked()), ("", 0));
    stage.github.branch("o", "r", "work", testkit::github::Branch::Ahead);
    stage.github.branch("o", "r", "main", testkit::github::Branch::Ahead);
    let error =
        refused(json!({ "title": "x", "description": "y", "base_branch": "release" })).await;
    assert_eq!(error["message"], "o/r has no branch `release` to merge into", "{error}");
    stage.github.branch("o", "r", "work", testkit::github::Branch::Even);
    assert_eq!(refused(request()).await["message"], "there are no commits for a pull request");
    assert_eq!(stage.github.pulls(), []);
    stage.git(&format!("git worktree remove --force '{dir}' && git branch -q -D work")).await;
    stage.in_order().await;
}

#[tokio::test]
async fn who_may_not_or_has_no_branch_is_told_so() {
    let stage = stage(&[("ADJUTANT_GITHUB_TOKEN_VARIABLE", "OTHER_TOKEN")]).await;
    let server = stage.world.up().await.unwrap();
    let operator = Http::new(&server.url, stage.world.operator().await.unwrap());
    let refused = async |http: &Http| http.call(TOOL, request()).await.unwrap().unwrap_err();
    let error = refused(&operator).await;
    assert_eq!(error["code"], "INVALID_AGENT_STATE");
    assert!(error["suggestions"][0].as_str().unwrap().contains("--as"), "{error}");
    let planner = stage.world.enlist("planner", &[]).await.unwrap();
    let error = refused(&as_agent(&server, &planner)).await;
    assert!(error["message"].as_str().unwrap().contains("no branch of its own"), "{error}");
    let worker = stage.world.enlist("worker", &[]).await.unwrap();
    assert_eq!(refused(&as_agent(&server, &worker)).await["code"], "PERMISSION_DENIED");
    // The token is where nobody looks for it.
    let coder = stage.coder("work").await;
    let error = refused(&as_agent(&server, &coder)).await;
    assert_eq!(error["code"], "PERMISSION_DENIED");
    assert!(error["suggestions"][0].as_str().unwrap().contains("github.tokenVariable"), "{error}");
    assert_eq!((stage.there("work").await.as_str(), stage.github.requests().len()), ("", 0));
    stage.in_order().await;
}

#[tokio::test]
async fn the_token_is_not_taken_to_a_host_that_is_not_the_configured_one() {
    let stage = stage(&[("ADJUTANT_GITHUB_API_URL", "https://ghe.example.com/api/v3")]).await;
    let server = stage.world.up().await.unwrap();
    let coder = stage.coder("work").await;
    let error = as_agent(&server, &coder).call(TOOL, request()).await.unwrap().unwrap_err();
    assert_eq!(error["code"], "CONFLICT");
    assert_eq!(
        error["message"],
        "the remote `origin` is on `github.com`, not on the GitHub at `https://ghe.example.com/api/v3`"
    );
    assert_eq!(stage.there("work").await, "");
    stage.in_order().await;
}

#[tokio::test]
async fn a_merged_pull_request_is_not_opened_again_but_newer_work_is() {
    let stage = stage(&[]).await;
    let server = stage.world.up().await.unwrap();
    let http = as_agent(&server, &stage.coder("work").await);
    let first = http.call(TOOL, request()).await.unwrap().unwrap();
    stage.github.set_pull_state(1, PullState::Merged);
    stage.git("git push -q origin work:main").await;
    let error = http.call(TOOL, request()).await.unwrap().unwrap_err();
    assert_eq!(error["message"], "there are no commits for a pull request");
    stage.commit("work", "two").await;
    let second = http.call(TOOL, request()).await.unwrap().unwrap();
    assert_eq!((&first["pr_number"], &second["pr_number"]), (&json!(1), &json!(2)));
    assert_eq!((stage.asked(), &second["instance_status"]), (2, &json!("PR_CREATED")));
    stage.in_order().await;
}

#[tokio::test]
async fn a_reviewer_opens_the_coders_branch_and_the_feedback_file_is_gone() {
    let stage = stage(&[]).await;
    let coder = draft(&stage.world, "coder", "reviewed").await;
    let over = answer(&stage.world, &["await", &coder]).await;
    assert_eq!(
        (&over["state"], &over["result"]["summary"]),
        (&json!("succeeded"), &json!("approved")),
        "{over}"
    );
    let branch = format!("adjutant/{coder}");
    let [pull] = &stage.github.pulls()[..] else { panic!("one pull request") };
    assert_eq!((pull.head.as_str(), pull.base.as_str()), (branch.as_str(), "main"));
    let there = stage.there(&branch).await;
    assert_eq!(there, stage.git(&format!("git rev-parse {branch}")).await);
    assert_eq!(
        stage.git(&format!("git ls-tree --name-only {there} | tr '\\n' ' '")).await,
        ".gitignore crew.yaml feature.txt"
    );
    assert_eq!(
        stage.git(&format!("git log -1 --format=%s {there}")).await,
        "Remove REVIEW_FEEDBACK.md"
    );
    let reviews: Vec<Value> = events(&stage.world, "review.ended").await;
    let [first, last] = &reviews[..] else { panic!("{reviews:?}") };
    assert_eq!(
        (&first["data"]["state"], &last["data"]["state"]),
        (&json!("feedback"), &json!("approved"))
    );
    assert_eq!(last["data"]["failed"], false);
    let opened = &events(&stage.world, "pull.opened").await[0];
    assert_eq!(
        (&opened["agentId"], &opened["data"]["openedBy"]),
        (&json!(coder), &last["data"]["reviewerId"])
    );
    // It did not end by itself.
    until_is(&stage.world, last["data"]["reviewerId"].as_str().unwrap(), "succeeded").await;
    assert_eq!(stage.asked(), 1);
    stage.in_order().await;
}

#[tokio::test]
async fn a_coder_that_waits_without_a_process_is_done_when_its_work_is_approved() {
    let stage = stage(&[]).await;
    let coder = draft(&stage.world, "coder", "leave").await;
    until_is(&stage.world, &coder, "waiting_review").await;
    let runs = stage.world.state_dir().join("runs").join(&coder);
    until("its process has ended", || runs.join("1/exit.json").exists()).await;
    fs::write(stage.world.home().join("go"), "").unwrap();
    assert_eq!(ended(&stage.world, &coder).await, "succeeded");
    assert!(!runs.join("2").exists(), "there was nothing to start it again for");
    let reason = crate::kill::reason(&stage.world, &coder).await;
    assert_eq!(reason, "Review 1: approved, pull request #1");
    stage.settled().await;
    stage.in_order().await;
}

#[tokio::test]
async fn a_person_decides_where_an_approval_cannot_open_a_pull_request() {
    let stage = stage(&[]).await;
    stage.git("git remote set-url origin https://elsewhere.example/o/r.git").await;
    let ran = answer(&stage.world, &["run", "--role", "coder", "asks"]).await;
    assert_eq!(
        (&ran["state"], &ran["taskState"]),
        (&json!("succeeded"), &json!("review")),
        "{ran}"
    );
    assert_eq!(stage.asked(), 0);
    // The remote is not on GitHub, so that nothing was to be opened.
    let mail = answer(&stage.world, &["mail"]).await.to_string();
    assert!(mail.contains("Review Passed: TAS-1"), "{mail}");
    stage.git("git remote set-url origin https://github.com/o/r.git").await;
    stage.github.fail_next(Fault::Refuse(401, "Bad credentials".to_owned()));
    let ran = answer(&stage.world, &["run", "--role", "coder", "asks"]).await;
    assert_eq!(
        (&ran["state"], &ran["taskState"]),
        (&json!("succeeded"), &json!("review")),
        "{ran}"
    );
    let mail = answer(&stage.world, &["mail"]).await;
    let passed = mail["mails"].as_array().unwrap().iter();
    let passed = passed.filter(|mail| mail["subject"].as_str().unwrap().contains("Passed: TAS-2"));
    let [passed] = &passed.collect::<Vec<_>>()[..] else { panic!("{mail}") };
    assert!(passed["body"].as_str().unwrap().contains("No pull request was opened"), "{passed}");
    settled(&stage.world).await;
}
