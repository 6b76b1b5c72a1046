//! Hosts that die, end and join, while clients write.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;
use testkit::Http;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{Hosts, titles};
use crate::cluster::ANSWER_TIMEOUT;
use crate::crew::{role, scene};
use crate::kill::{draft, until_is};

/// Homes and rounds: `make drill` asks for the full count.
fn size() -> (usize, usize) {
    #[expect(clippy::disallowed_methods, reason = "of the drill, and not of the program")]
    let is_full = std::env::var("ADJUTANT_DRILL_ROUNDS").is_ok();
    if is_full { (50, 3) } else { (6, 1) }
}

/// A client that makes tasks in a home over hosts that stay, and notes what it was told.
struct Writer {
    home: String,
    hosts: Vec<Http>,
}

/// Answers that a writer got.
#[derive(Debug, Default)]
struct Told {
    titles: Vec<String>,
    /// Longest time from one answer to the next
    gap: Duration,
}

impl Writer {
    async fn run(self, told: Arc<Mutex<BTreeMap<String, Told>>>, end: CancellationToken) {
        let Self { home, hosts } = self;
        let mut last = Instant::now();
        let mut at = 0;
        for number in 0.. {
            let title = format!("{home}-{number}-{:?}", last.elapsed());
            let body = json!({ "toolName": "mcp__task__create", "input": { "title": title } });
            let key = title.replace(|sign: char| !sign.is_ascii_alphanumeric(), "-");
            loop {
                let headers = [("idempotency-key", key.as_str())];
                let sent = hosts[at].post_with("/mcp/execute", &body, &headers);
                let answer = timeout(ANSWER_TIMEOUT, sent).await;
                if let Ok(Ok((status, answer))) = &answer
                    && *status == 200
                {
                    assert_eq!(answer["success"], true, "{answer}");
                    break;
                }
                // Nobody has answered: the same again, over another host.
                at = (at + 1) % hosts.len();
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            let mut told = told.lock().unwrap();
            let told = told.entry(home.clone()).or_default();
            told.titles.push(title);
            told.gap = told.gap.max(last.elapsed());
            last = Instant::now();
            if end.is_cancelled() {
                return;
            }
        }
    }
}

/// Figures of a time during which clients wrote.
struct Figures {
    answered: usize,
    gaps: Vec<Duration>,
}

impl Figures {
    fn shown(&self) -> String {
        let count = self.gaps.len();
        format!(
            "{} tasks answered; longest time without an answer: median {} ms, most {} ms over {count} homes",
            self.answered,
            self.gaps[count / 2].as_millis(),
            self.gaps[count - 1].as_millis()
        )
    }
}

impl Hosts {
    /// Does something while clients write into every home over these hosts, and checks that all they were told is there,
    /// once. `all` are the hosts that own homes in the end.
    async fn while_written<T>(
        &mut self,
        over: &[usize],
        act: impl AsyncFnOnce(&mut Self) -> T,
        all: &[usize],
    ) -> (T, Figures) {
        self.until_answered(over).await;
        let (told, end) =
            (Arc::<Mutex<BTreeMap<String, Told>>>::default(), CancellationToken::new());
        let writers = self.homes.iter().map(|home| Writer {
            home: home.clone(),
            hosts: over.iter().map(|number| self.http(*number, home)).collect(),
        });
        // Tasks of their own: acting on hosts waits for programs.
        let tasks = TaskTracker::new();
        let writing: Vec<_> =
            writers.map(|writer| tasks.spawn(writer.run(Arc::clone(&told), end.clone()))).collect();
        let done = act(self).await;
        end.cancel();
        for written in join_all(writing).await {
            written.unwrap();
        }
        let told = std::mem::take(&mut *told.lock().unwrap());
        self.expect_there(&told, all);
        let mut gaps: Vec<Duration> = told.values().map(|told| told.gap).collect();
        gaps.sort_unstable();
        let answered = told.values().map(|told| told.titles.len()).sum();
        (done, Figures { answered, gaps })
    }

    fn expect_there(&self, told: &BTreeMap<String, Told>, hosts: &[usize]) {
        for (home, told) in told {
            let owner = self
                .postgres
                .sql(&format!("SELECT owner_url FROM adjutant.home WHERE name = '{home}'"));
            let owner = owner.unwrap();
            let host =
                hosts.iter().find(|number| owner.starts_with(&self.host(**number).url)).unwrap();
            let there = titles(&self.database(*host, home));
            for title in &told.titles {
                assert_eq!(there.get(title), Some(&1), "{title} on host {host}");
            }
        }
        let gaps = "SELECT COALESCE(SUM(missing), 0) FROM (
            SELECT MAX(seq) - MIN(seq) + 1 - COUNT(*) AS missing FROM adjutant.log GROUP BY home
        ) AS homes";
        assert_eq!(self.sql(gaps), 0, "a log has a gap");
        let late = "SELECT COUNT(*) FROM (
            SELECT epoch, MAX(epoch) OVER (PARTITION BY home ORDER BY seq) AS newest
              FROM adjutant.log) AS entries WHERE epoch < newest";
        assert_eq!(self.sql(late), 0, "a server that was replaced has appended");
    }
}

#[expect(clippy::print_stdout, reason = "the figures are the point")]
fn say(line: &str) {
    println!("{line}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_homes_of_a_host_that_dies_are_owned_again_by_the_others() {
    let (count, rounds) = size();
    let mut hosts = Hosts::with_homes(count).await;
    let each = i64::try_from(count / 3).unwrap();
    for _ in 0..3 {
        hosts.add().await;
    }
    hosts.until_all_owned(&[0, 1, 2]).await;
    let spread = hosts.until_balanced(&[0, 1, 2], each).await;
    say(&format!("{count} homes over 3 hosts: balanced after {} ms", spread.as_millis()));
    for round in 0..rounds {
        let lost = round % 3;
        let left: Vec<usize> = (0..3).filter(|number| *number != lost).collect();
        let owned = hosts.owned_by(lost);
        let act = async |hosts: &mut Hosts| {
            hosts.lose(lost).await;
            hosts.until_all_owned(&left).await
        };
        let (took, figures) = hosts.while_written(&left, act, &left).await;
        say(&format!(
            "host killed with {owned} homes, lease 2 s: all owned again after {} ms; {}",
            took.as_millis(),
            figures.shown()
        ));
        hosts.start(lost).await;
        hosts.until_balanced(&[0, 1, 2], each).await;
    }
    hosts.stop_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_joins_gets_its_share_and_one_that_ends_hands_all_over() {
    let (count, _) = size();
    let mut hosts = Hosts::with_homes(count).await;
    let total = i64::try_from(count).unwrap();
    let (one, two) = (hosts.add().await, hosts.add().await);
    hosts.until_balanced(&[one, two], total / 2).await;
    let act = async |hosts: &mut Hosts| {
        let began = Instant::now();
        let three = hosts.add().await;
        hosts.until_balanced(&[one, two, three], total / 3).await;
        began.elapsed()
    };
    let (took, figures) = hosts.while_written(&[one, two], act, &[one, two, 2]).await;
    say(&format!(
        "third host joins {count} homes: balanced after {} ms; {}",
        took.as_millis(),
        figures.shown()
    ));

    let leaving = hosts.owned_by(one);
    let act = async |hosts: &mut Hosts| {
        let began = Instant::now();
        hosts.stop(one).await;
        let ended = began.elapsed();
        (ended, ended + hosts.until_all_owned(&[two, 2]).await)
    };
    let ((ended, owned), figures) = hosts.while_written(&[two, 2], act, &[two, 2]).await;
    say(&format!(
        "host with {leaving} homes asked to end: gone after {} ms, all owned after {} ms; {}",
        ended.as_millis(),
        owned.as_millis(),
        figures.shown()
    ));
    hosts.until_balanced(&[two, 2], total / 2).await;

    // The last host has nobody to hand over to, and gives its homes up at once.
    hosts.stop(two).await;
    hosts.until_all_owned(&[2]).await;
    let began = Instant::now();
    hosts.stop(2).await;
    say(&format!(
        "last host with {count} homes asked to end: gone after {} ms",
        began.elapsed().as_millis()
    ));
    let owned = "SELECT COUNT(*) FROM adjutant.home WHERE owner IS NOT NULL";
    assert_eq!(hosts.sql(owned), 0, "homes that wait for their lease");
}

const SCENARIOS: &str = r#"
scenarios:
  stay: {steps: [{append: {path: ran.txt, text: "{{agent}}\n"}}, {sleep: 1000}]}
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_home_in_which_an_agent_runs_is_not_moved_for_balance() {
    let world = scene(SCENARIOS, &[]).await;
    role(&world, "runner", "category: worker\nagent: script\nscript: crew.yaml");
    let mut hosts = Hosts::made_in(world, 2).await;
    let project = hosts.folder(0).join("homes/home-00/project");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(project.join("crew.yaml"), SCENARIOS).unwrap();
    let one = hosts.add().await;
    hosts.until_owned(&[(one, 2)]).await;
    hosts.until_answered(&[one]).await;
    let mut far = testkit::World::bare(crate::BINARY).unwrap();
    far.set("ADJUTANT_URL", format!("{}/homes/home-00", hosts.host(one).url));
    far.set("ADJUTANT_TOKEN", &hosts.token);
    let agent = draft(&far, "runner", "stay").await;
    until_is(&far, &agent, "running").await;
    let two = hosts.add().await;
    hosts.until_owned(&[(one, 1), (two, 1)]).await;
    let stayed = format!(
        "SELECT COUNT(*) FROM adjutant.home
          WHERE name = 'home-00' AND epoch = 1 AND owner_url LIKE '{}/%'",
        hosts.host(one).url
    );
    assert_eq!(hosts.sql(&stayed), 1);
    until_is(&far, &agent, "running").await;
    far.run(&["kill", &agent]).await.unwrap().ok().unwrap();
    hosts.stop_all().await;
}

impl Hosts {
    /// Waits until each of these hosts owns its share, one home more or less, and together all of them.
    async fn until_balanced(&self, hosts: &[usize], share: i64) -> Duration {
        let began = Instant::now();
        super::until("balance", async || {
            let owned: Vec<i64> = hosts.iter().map(|number| self.owned_by(*number)).collect();
            let total: i64 = owned.iter().sum();
            owned.iter().all(|count| (share..=share + 1).contains(count))
                && total == i64::try_from(self.homes.len()).unwrap()
        })
        .await;
        began.elapsed()
    }
}
