//! Many homes of one PostgreSQL on several hosts: each is `adjutant serve`, with a server process for each home that it owns.

mod drills;
mod refusals;
mod ways;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use testkit::postgres::Postgres;
use testkit::{Http, Server, World};
use tokio::time::{Instant, interval};

use super::{LEASE, PATIENCE};

/// Homes of one PostgreSQL, and the hosts that serve them.
struct Hosts {
    postgres: Postgres,
    /// Where the homes were made; its operator's token is that of all of them
    world: World,
    token: String,
    homes: Vec<String>,
    /// By number; none where a host has ended
    running: Vec<Option<Host>>,
    folders: TempDir,
}

/// `adjutant serve`, as a process.
struct Host {
    server: Server,
    state: PathBuf,
    url: String,
}

impl Hosts {
    /// Homes without any host.
    async fn with_homes(count: usize) -> Self {
        Self::made_in(crate::world().await, count).await
    }

    /// Homes with the configuration and roles of a project.
    async fn made_in(mut world: World, count: usize) -> Self {
        // Each server has a connection for its log and one for its lease.
        let postgres = Postgres::start(&["max_connections = 400"]).unwrap();
        world.set("ADJUTANT_CLUSTER_LEASE", LEASE);
        let token = world.operator().await.unwrap();
        let folders = TempDir::new().unwrap();
        let (homes, running) = (Vec::new(), Vec::new());
        let mut hosts = Self { postgres, world, token, homes, running, folders };
        for number in 0..count {
            hosts.create(&format!("home-{number:02}")).await;
        }
        hosts
    }

    async fn create(&mut self, home: &str) {
        let address = self.postgres.address();
        let create = ["home", "create", home, "--database", &address];
        self.world.run(&create).await.unwrap().ok().unwrap();
        self.homes.push(home.to_owned());
    }

    /// State folder of a host.
    fn folder(&self, number: usize) -> PathBuf {
        self.folders.path().join(format!("host-{number}"))
    }

    /// Starts another host.
    async fn add(&mut self) -> usize {
        let number = self.running.len();
        self.running.push(None);
        self.start(number).await;
        number
    }

    /// Starts a host, with the state that it had before.
    async fn start(&mut self, number: usize) {
        let (state, address) = (self.folder(number), self.postgres.address());
        let folder = state.to_str().unwrap();
        let arguments =
            ["serve", "--database", &address, "--state", folder, "--port", "0", "--lease", LEASE];
        let server = self.world.start(&arguments).await.unwrap();
        let url = server.url.clone();
        self.running[number] = Some(Host { server, state, url });
    }

    fn host(&self, number: usize) -> &Host {
        self.running[number].as_ref().unwrap()
    }

    /// A client of a home, over a host.
    fn http(&self, number: usize, home: &str) -> Http {
        Http::new(format!("{}/homes/{home}", self.host(number).url), &self.token)
    }

    /// Status of a host.
    async fn status(&self, number: usize) -> Value {
        let state = self.host(number).state.display().to_string();
        let asked = ["serve", "status", "--state", &state, "--json"];
        self.world.run(&asked).await.unwrap().ok().unwrap().json().unwrap()
    }

    fn sql(&self, select: &str) -> i64 {
        self.postgres.sql(select).unwrap().parse().unwrap()
    }

    /// Number of homes that a host owns at this moment.
    fn owned_by(&self, number: usize) -> i64 {
        self.sql(&format!(
            "SELECT COUNT(*) FROM adjutant.home WHERE owner_url LIKE '{}/homes/%'
                AND expires_at > clock_timestamp()",
            self.host(number).url
        ))
    }

    /// Waits until hosts own so many homes each, and nobody else any, and returns how long that took.
    async fn until_owned(&self, wanted: &[(usize, i64)]) -> Duration {
        let began = Instant::now();
        let mut look = interval(Duration::from_millis(20));
        loop {
            look.tick().await;
            let owned = wanted.iter().map(|(number, _)| (*number, self.owned_by(*number)));
            let owned: Vec<_> = owned.collect();
            if owned == wanted {
                return began.elapsed();
            }
            assert!(began.elapsed() < PATIENCE, "{owned:?} are owned, {wanted:?} are expected");
        }
    }

    /// Waits until all homes are owned by these hosts, however they share them, and returns how long that took.
    async fn until_all_owned(&self, by: &[usize]) -> Duration {
        let began = Instant::now();
        let mut look = interval(Duration::from_millis(20));
        loop {
            look.tick().await;
            let owned: i64 = by.iter().map(|number| self.owned_by(*number)).sum();
            if owned == i64::try_from(self.homes.len()).unwrap() {
                return began.elapsed();
            }
            assert!(began.elapsed() < PATIENCE, "{owned} of {} are owned", self.homes.len());
        }
    }

    /// Waits until each of these hosts answers for every home: a server that has just taken one needs a moment.
    async fn until_answered(&self, by: &[usize]) {
        for number in by {
            for home in &self.homes {
                let http = self.http(*number, home);
                until("an answer", async || {
                    http.get("/api/tasks").await.is_ok_and(|(status, _)| status == 200)
                })
                .await;
            }
        }
    }

    /// Kills a host with all its processes, as the loss of its machine does. Nothing hands a home over.
    async fn lose(&mut self, number: usize) {
        let servers = self.server_pids(number).await;
        let host = self.running[number].take().unwrap();
        let pid = host.server.pid().unwrap();
        // It would start them again, and they would hear of its end.
        crate::crew::sh(&self.world, &format!("kill -STOP {pid}")).await;
        for server in servers {
            host::process::kill(server).unwrap();
        }
        host.server.kill().await.unwrap();
    }

    async fn server_pids(&self, number: usize) -> Vec<u32> {
        let status = self.status(number).await;
        let pids = status["homes"].as_array().unwrap().iter().map(|home| home["pid"].as_u64());
        pids.flatten().map(|pid| u32::try_from(pid).unwrap()).collect()
    }

    /// Asks a host to end, which it must do well.
    async fn stop(&mut self, number: usize) {
        let host = self.running[number].take().unwrap();
        assert_eq!(host.server.stop().await.unwrap(), Some(0));
    }

    async fn stop_all(&mut self) {
        for number in 0..self.running.len() {
            if self.running[number].is_some() {
                self.stop(number).await;
            }
        }
    }

    /// The file in which a host has the state of a home.
    fn database(&self, number: usize, home: &str) -> PathBuf {
        self.folder(number).join("homes").join(home).join("state/home.db")
    }
}

/// Waits until something is so.
pub(super) async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    let mut look = interval(Duration::from_millis(20));
    while !is_so().await {
        assert!(Instant::now() < deadline, "{what} does not happen");
        look.tick().await;
    }
}

/// Titles of the tasks in a file, with how often each is there.
fn titles(database: &Path) -> std::collections::HashMap<String, usize> {
    let file = rusqlite::Connection::open(database).unwrap();
    let mut asked = file.prepare("SELECT title FROM task").unwrap();
    let mut titles = std::collections::HashMap::new();
    for title in asked.query_map([], |row| row.get::<_, String>(0)).unwrap() {
        *titles.entry(title.unwrap()).or_default() += 1;
    }
    titles
}
