//! The book: every page is done from its first line to its last, and must be as it says.
//!
//! `testkit::book` says how a page is read. `cargo xtask walk BINARY PAGE` does the same by hand, and shows it.

use std::path::{Path, PathBuf};

use testkit::book::{self, Page, PageOutcome};

/// Where the pages are.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// So many blocks of the whole book may say that they cannot be run.
const NOT_RUN: usize = 10;
/// So many blocks may be pictures that nothing is held against.
const PICTURES: usize = 8;

/// A test for each page, and the list of them.
macro_rules! pages {
    ($($test:ident => $page:literal,)*) => {
        $(
            #[tokio::test]
            async fn $test() {
                holds($page).await;
            }
        )*
        const LISTED: &[&str] = &[$($page),*];
    };
}

pages! {
    readme => "README.md",
    contents => "docs/README.md",
    tutorial_first_crew => "docs/tutorial/first-crew.md",
    tutorial_real_project => "docs/tutorial/real-project.md",
    how_to_answer_permissions => "docs/how-to/answer-permissions.md",
    how_to_budgets => "docs/how-to/budgets.md",
    how_to_change_settings => "docs/how-to/change-settings.md",
    how_to_completions => "docs/how-to/completions.md",
    how_to_connect_claude_code => "docs/how-to/connect-claude-code.md",
    how_to_connect_codex => "docs/how-to/connect-codex.md",
    how_to_first_hour => "docs/how-to/first-hour.md",
    how_to_install => "docs/how-to/install.md",
    how_to_install_in_a_client => "docs/how-to/install-in-a-client.md",
    how_to_keep_house => "docs/how-to/keep-house.md",
    how_to_many_homes => "docs/how-to/many-homes.md",
    how_to_merge_queue => "docs/how-to/merge-queue.md",
    how_to_loop => "docs/how-to/loop.md",
    how_to_page => "docs/how-to/page.md",
    how_to_plan => "docs/how-to/plan.md",
    how_to_slack => "docs/how-to/slack.md",
    how_to_pull_requests => "docs/how-to/pull-requests.md",
    how_to_release => "docs/how-to/release.md",
    how_to_report_usage => "docs/how-to/report-usage.md",
    how_to_reserve_files => "docs/how-to/reserve-files.md",
    how_to_resume => "docs/how-to/resume.md",
    how_to_reviews => "docs/how-to/reviews.md",
    how_to_sandbox => "docs/how-to/sandbox.md",
    how_to_scripted_agents => "docs/how-to/scripted-agents.md",
    how_to_templates => "docs/how-to/templates.md",
    how_to_tmux => "docs/how-to/tmux.md",
    how_to_top => "docs/how-to/top.md",
    how_to_two_servers => "docs/how-to/two-servers.md",
    how_to_webhooks => "docs/how-to/webhooks.md",
    how_to_worktrees => "docs/how-to/worktrees.md",
    how_to_write_a_role => "docs/how-to/write-a-role.md",
    explanation_agents => "docs/explanation/agents.md",
    explanation_governance => "docs/explanation/governance.md",
    explanation_office => "docs/explanation/office.md",
    explanation_permissions => "docs/explanation/permissions.md",
    explanation_record => "docs/explanation/record.md",
    explanation_scale => "docs/explanation/scale.md",
}

/// The chores of the tree, which `make tests` has built before.
pub(crate) fn xtask() -> PathBuf {
    testkit::packages::xtask(Path::new(crate::BINARY)).unwrap()
}

async fn played(page: &str) -> PageOutcome {
    let page = Page::read(Path::new(ROOT), page).unwrap_or_else(|error| panic!("{error:#}"));
    book::play(Path::new(crate::BINARY), &page).await.unwrap_or_else(|error| panic!("{error:#}"))
}

async fn holds(page: &str) {
    let played = played(page).await;
    assert!(played.problems.is_empty(), "\n{}\n", played.problems);
}

#[tokio::test]
async fn every_page_has_a_test_of_its_own() {
    let pages = book::pages(Path::new(ROOT)).unwrap();
    let mut missing = Vec::new();
    for page in pages.iter().filter(|page| !LISTED.contains(&page.as_str())) {
        // What is wrong with it is said at once.
        holds(page).await;
        let name = page.trim_start_matches("docs/").trim_end_matches(".md");
        missing.push(format!("    {} => {page:?},", name.replace(['/', '-'], "_").to_lowercase()));
    }
    let gone = LISTED.iter().find(|listed| !pages.iter().any(|page| page == *listed));
    assert_eq!(gone, None, "there is no such page");
    assert!(missing.is_empty(), "add to `pages!` in {}:\n{}", file!(), missing.join("\n"));
}

#[test]
fn little_is_left_out() {
    let (mut left_out, mut pictures) = (Vec::new(), Vec::new());
    for name in book::pages(Path::new(ROOT)).unwrap() {
        let page = Page::read(Path::new(ROOT), &name).unwrap_or_else(|error| panic!("{error:#}"));
        left_out.extend(page.not_run().iter().map(|(line, why)| format!("{name}:{line}: {why}")));
        pictures.extend(page.pictures().iter().map(|line| format!("{name}:{line}")));
    }
    let shown = |what: &str, list: &[String]| format!("{what}:\n{}", list.join("\n"));
    assert!(left_out.len() <= NOT_RUN, "{}", shown("too many blocks are not run", &left_out));
    assert!(pictures.len() <= PICTURES, "{}", shown("too many pictures", &pictures));
}

#[test]
fn no_link_leads_nowhere() {
    let root = Path::new(ROOT);
    let documents = book::documents(root).unwrap();
    let dead: Vec<String> =
        documents.iter().flat_map(|page| book::dead_links(root, page).unwrap()).collect();
    assert!(dead.is_empty(), "\n{}\n", dead.join("\n"));
}

#[test]
fn every_page_can_be_reached_from_the_contents() {
    let contents = std::fs::read_to_string(Path::new(ROOT).join("docs/README.md")).unwrap();
    for page in book::pages(Path::new(ROOT)).unwrap() {
        let Some(path) = page.strip_prefix("docs/").filter(|path| *path != "README.md") else {
            continue;
        };
        assert!(contents.contains(&format!("({path})")), "docs/README.md does not list `{path}`");
    }
}

#[test]
fn every_page_says_where_to_go_next() {
    for name in book::pages(Path::new(ROOT)).unwrap().iter().filter(|name| *name != "README.md") {
        let page = std::fs::read_to_string(Path::new(ROOT).join(name)).unwrap();
        assert!(page.contains("\nNext: ["), "{name}: it should end with `Next: [page](page.md).`");
    }
}

#[tokio::test]
async fn a_page_that_is_not_so_is_found_out() {
    for (page, expected) in [
        ("```console\n$ echo one\ntwo\n```\n", "page.md:2: $ echo one"),
        ("\n```sh\ntrue\nfalse # it fails\n```\n", "page.md:4: $ false"),
        ("```console\n$ true\nerror: none\n```\n", "should have failed"),
        ("```sh\nexit 0\ntrue\n```\n", "it did not end"),
        ("<!-- file: x.json -->\n```json\n{\"a\": 1\n```\n", "page.md:2"),
        ("```yaml\na: 1\n```\n", "nothing is done with this block of `yaml`"),
        ("<!-- fiel: x -->\n", "such a comment is not known"),
        (
            "<!-- setup\nadjutant init\n-->\n<!-- file: .adjutant/config.yaml -->\n```yaml\nrevue: 1\n```\n",
            "unknown key `revue`",
        ),
        (
            "<!-- setup\nadjutant init\n-->\n<!-- file: .adjutant/roles/x.md -->\n```markdown\n---\nnaem: x\n---\n```\n",
            "`name` is missing",
        ),
    ] {
        let found = match Page::parse("page.md", page) {
            Ok(page) => match book::play(Path::new(crate::BINARY), &page).await {
                Ok(played) => played.problems,
                Err(error) => format!("{error:#}"),
            },
            Err(error) => format!("{error:#}"),
        };
        assert!(found.contains(expected), "{expected:?} is not in: {found}");
    }
}

#[tokio::test]
async fn the_walk_goes_as_the_readme_says_and_stumbles_where_it_does_not() {
    let mut world = crate::world().await;
    let xtask = xtask();
    let target = xtask.ancestors().nth(2).unwrap();
    world.set("CARGO_TARGET_DIR", target.display().to_string());
    let cargo = Path::new(env!("CARGO")).parent().unwrap().display().to_string();
    world.set("PATH", format!("{cargo}:/usr/local/bin:/usr/bin:/bin"));
    let walk = |binary: &str| format!("'{ROOT}/tools/walk' '{binary}'");

    let walked = world.shell(&walk(crate::BINARY)).await.unwrap().ok().unwrap();
    assert!(walked.stdout.contains("$ adjutant init\nCreated a home in "), "{}", walked.stdout);
    assert!(walked.stdout.contains("all of it is as the page says"), "{}", walked.stdout);

    // A program that does everything, and none of it.
    std::fs::write(world.project().join("adjutant"), "#!/bin/sh\nmkdir -p .adjutant/roles\n")
        .unwrap();
    world.shell("chmod +x adjutant").await.unwrap().ok().unwrap();
    let stumbled = world.shell(&walk("adjutant")).await.unwrap();
    assert_eq!(stumbled.code, Some(1), "{}", stumbled.stdout);
    assert!(stumbled.stdout.contains("-sp_ID is started as counter"), "{}", stumbled.stdout);
}
