//! The same with a remote on GitHub: a reviewer's approval opens the pull request, and its merge completes the task.

use model::review::PullState;
use testkit::github::FakeGitHub;
use testkit::projects::RealProject;

use super::{begin, gets_a_reviewed_change};
use crate::crew::{settled, sh};
use crate::kill::events;
use crate::main_flow::state;

#[tokio::test]
async fn a_newcomer_with_github_gets_a_pull_request_for_a_python_library() {
    gets_a_pull_request(RealProject::Python).await;
}

#[tokio::test]
async fn a_newcomer_with_github_gets_a_pull_request_for_an_npm_package() {
    gets_a_pull_request(RealProject::Npm).await;
}

#[tokio::test]
async fn a_newcomer_with_github_gets_a_pull_request_for_a_crate() {
    gets_a_pull_request(RealProject::Cargo).await;
}

#[tokio::test]
async fn a_newcomer_with_github_gets_a_pull_request_for_a_go_module() {
    gets_a_pull_request(RealProject::Go).await;
}

/// A reviewer's approval opens a pull request, whose merge completes the task.
async fn gets_a_pull_request(project: RealProject) {
    let github = FakeGitHub::start().await.unwrap();
    github.repo("o", "r", "main");
    let mut newcomer = begin(project).await;
    let remote = newcomer.world.scratch().join("remote.git").display().to_string();
    let own = format!("[url \"{remote}\"]\n\tinsteadOf = https://github.com/o/r.git\n");
    let config = newcomer.world.scratch().join("gitconfig");
    std::fs::write(&config, own).unwrap();
    for (name, value) in [
        ("GIT_CONFIG_GLOBAL", config.display().to_string()),
        ("ADJUTANT_GITHUB_API_URL", github.url()),
        ("ADJUTANT_GITHUB_POLL_SECONDS", "1".to_owned()),
        ("GITHUB_TOKEN", github.token().to_owned()),
    ] {
        newcomer.world.set(name, value);
    }
    let publish = format!(
        "git init -q --bare -b main '{remote}'
        git remote add origin https://github.com/o/r.git && git push -q origin main"
    );
    sh(&newcomer.world, &publish).await;
    gets_a_reviewed_change(&mut newcomer).await;
    let [pull] = &github.pulls()[..] else { panic!("one pull request: {:?}", github.pulls()) };
    assert_eq!((pull.title.as_str(), pull.base.as_str()), ("Tidy the sources", "main"));
    assert!(pull.body.contains("I ran its tests."), "{}", pull.body);
    // Somebody merges it on the web page.
    let merge = format!("git --git-dir='{remote}' update-ref refs/heads/main '{}'", pull.head);
    sh(&newcomer.world, &merge).await;
    github.set_pull_state(1, PullState::Merged);
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
    while events(&newcomer.world, "pull.changed").await.is_empty() {
        assert!(tokio::time::Instant::now() < deadline, "nobody asks GitHub");
    }
    settled(&newcomer.world).await;
    assert_eq!(state(&newcomer.world, "TAS-1").await, "completed");
    let (file, _) = project.harmless_change();
    let log = format!("git --git-dir='{remote}' log -1 --format=%s --name-only main");
    assert_eq!(sh(&newcomer.world, &log).await, format!("Tidy the sources\n\n{file}"));
    github.finish().unwrap();
}
