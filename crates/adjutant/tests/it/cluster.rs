//! A home in a real PostgreSQL with servers of its own processes: what is kept when one of them, or PostgreSQL, goes away.

mod addresses;
mod agents;
mod crash_points;
mod disk;
mod drills;
mod effects;
mod failovers;
mod files;
mod homes;
mod hosts;
mod network;
mod outages;
mod upgrades;
mod view;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::postgres::Postgres;
use testkit::{Http, Server, World};
use tokio::time::{Instant, interval, timeout};

/// Name of the home.
const NAME: &str = "shop";
/// Seconds of the lease: the shortest that can be configured.
const LEASE: &str = "2";
/// How long a test waits for something that must happen.
const PATIENCE: Duration = Duration::from_secs(60);
/// Wait for the answer of a server that may be stopped.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);

/// A home, and the machines that may serve it: each has a project, a state folder and a user of its own.
pub(crate) struct Cluster {
    postgres: Postgres,
    machines: Vec<Machine>,
    token: String,
}

/// A machine, with the server that runs on it.
struct Machine {
    world: World,
    /// Where its server listens, once it has been started; that does not change
    url: String,
    /// Where clients reach it, if that is not where it says that it listens
    front: Option<String>,
    server: Option<Server>,
}

impl Cluster {
    /// A home with the tasks and mails that a single machine had, and so many servers of it.
    async fn start(count: usize) -> Self {
        let first = crate::world().await;
        let cluster = Self::import(first, count).await;
        cluster.serve().await
    }

    /// Moves the home of a machine into a new PostgreSQL, and prepares others. No server is started.
    async fn import(first: World, count: usize) -> Self {
        let postgres = Postgres::start(&[]).unwrap();
        let address = postgres.address();
        let mut cluster = Self::import_into(first, postgres, &address).await;
        while cluster.machines.len() < count {
            cluster.join(crate::world().await);
        }
        cluster
    }

    /// Moves the home of a machine into a PostgreSQL under this address. No server is started.
    async fn import_into(mut first: World, postgres: Postgres, address: &str) -> Self {
        first.set("ADJUTANT_CLUSTER_LEASE", LEASE);
        // The first start makes the database that is imported.
        let server = first.up().await.unwrap();
        assert_eq!(server.stop().await.unwrap(), Some(0));
        let import = ["home", "import", NAME, "--database", address, "--json"];
        let imported = first.run(&import).await.unwrap().ok().unwrap().json().unwrap();
        assert_eq!((&imported["name"], &imported["imported"]), (&json!(NAME), &json!(true)));
        let token = imported["token"].as_str().unwrap().to_owned();
        Self { postgres, machines: vec![Machine::new(first)], token }
    }

    /// Prepares another machine for the home.
    fn join(&mut self, mut world: World) {
        world.set("ADJUTANT_CLUSTER_LEASE", LEASE);
        world.set("ADJUTANT_TOKEN", &self.token);
        fs::copy(self.machines[0].config(), world.home().join("config.yaml")).unwrap();
        self.machines.push(Machine::new(world));
    }

    /// Starts a server on each machine, the first machine's first.
    async fn serve(mut self) -> Self {
        for machine in &mut self.machines {
            machine.up().await;
        }
        self
    }

    /// A client of the server of a machine.
    fn http(&self, machine: usize) -> Http {
        Http::new(&self.machines[machine].url, &self.token)
    }

    /// What a server says it is to the home; nothing if it gives no answer.
    async fn role(&self, machine: usize) -> Option<String> {
        let http = self.http(machine);
        let (_, health) = timeout(ANSWER_TIMEOUT, http.get("/healthz")).await.ok()?.ok()?;
        health["role"].as_str().map(str::to_owned)
    }

    /// Waits until one of these machines owns the home, and says which.
    async fn owner_of(&self, machines: &[usize]) -> usize {
        let deadline = Instant::now() + PATIENCE;
        let mut look = interval(Duration::from_millis(20));
        loop {
            for machine in machines {
                if self.role(*machine).await.as_deref() == Some("owner") {
                    return *machine;
                }
            }
            assert!(Instant::now() < deadline, "nobody takes the home");
            look.tick().await;
        }
    }

    async fn owner(&self) -> usize {
        self.owner_of(&self.others(usize::MAX)).await
    }

    /// All machines but one.
    fn others(&self, one: usize) -> Vec<usize> {
        (0..self.machines.len()).filter(|machine| *machine != one).collect()
    }

    /// Waits until a server says that it is this to the home.
    async fn until_is(&self, machine: usize, role: &str) {
        let deadline = Instant::now() + PATIENCE;
        let mut look = interval(Duration::from_millis(20));
        while self.role(machine).await.as_deref() != Some(role) {
            assert!(Instant::now() < deadline, "server {machine} does not become {role}");
            look.tick().await;
        }
    }

    /// Number of the home's owner among all that it had.
    fn epoch(&self) -> i64 {
        self.sql("SELECT epoch FROM adjutant.home")
    }

    fn sql(&self, select: &str) -> i64 {
        self.postgres.sql(select).unwrap().parse().unwrap()
    }

    /// Waits until the file of a machine has every commit of the log.
    async fn until_caught_up(&self, machine: usize) {
        let path = self.machines[machine].database();
        let deadline = Instant::now() + PATIENCE;
        let mut look = interval(Duration::from_millis(20));
        loop {
            let seq = self.sql("SELECT seq FROM adjutant.home");
            // A connection of its own each time: the file may have been set aside since.
            let file = rusqlite::Connection::open(&path).unwrap();
            let had = file.query_row("SELECT seq FROM log_position", [], |row| row.get(0));
            if had.is_ok_and(|had: i64| had >= seq) {
                return;
            }
            assert!(Instant::now() < deadline, "server {machine} does not catch up");
            look.tick().await;
        }
    }

    /// Asks the server of a machine to enlist an agent of a role, and returns the status of the answer.
    async fn enlist(&self, machine: usize, role: &str) -> u16 {
        let (status, _) =
            self.http(machine).post("/api/agents", &json!({ "role": role })).await.unwrap();
        status.as_u16()
    }

    /// Asks the server of a machine for a document, which it must give.
    async fn get(&self, machine: usize, path: &str) -> Value {
        let (status, answer) = self.http(machine).get(path).await.unwrap();
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    /// Checks that the home is whole: its chain, its events, the log, and the file of every machine.
    async fn expect_whole(&self) {
        let owner = self.owner().await;
        let verdict = self.get(owner, "/api/audit/verify").await;
        assert_eq!(verdict["ok"], true, "{verdict}");
        let file = rusqlite::Connection::open(self.machines[owner].database()).unwrap();
        for table in ["event", "audit"] {
            let count = format!("SELECT COUNT(*), MIN(number), MAX(number) FROM {table}");
            let (count, first, last): (i64, i64, i64) = file
                .query_row(&count, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
                .unwrap();
            assert_eq!((first, last), (1, count), "the numbers of {table} have a gap");
        }
        drop(file);
        // Each owner's entries come after those of the one before.
        let late = self.sql(
            "SELECT COUNT(*) FROM (SELECT epoch, MAX(epoch) OVER (ORDER BY seq) AS newest
               FROM adjutant.log) AS entries WHERE epoch < newest",
        );
        assert_eq!(late, 0, "a server that was replaced has appended");
        let gaps = self.sql("SELECT MAX(seq) - MIN(seq) + 1 - COUNT(*) FROM adjutant.log");
        assert_eq!(gaps, 0, "the log has a gap");
        for (number, machine) in self.machines.iter().enumerate() {
            self.until_caught_up(number).await;
            let checked = machine.world.run(&["home", "check", "--json"]).await.unwrap();
            let verdict = checked.ok().unwrap().json().unwrap();
            assert_eq!(verdict["ok"], true, "{verdict}");
            assert!(verdict["compared"].is_i64(), "{verdict}");
        }
    }
}

impl Machine {
    fn new(world: World) -> Self {
        Self { world, url: String::new(), front: None, server: None }
    }

    fn config(&self) -> PathBuf {
        self.world.home().join("config.yaml")
    }

    /// The file in which it follows the home.
    fn database(&self) -> PathBuf {
        self.world.state_dir().join("home.db")
    }

    /// Starts its server, and waits until that knows who owns the home.
    async fn up(&mut self) {
        let server = self.world.up().await.unwrap();
        self.serves(server);
    }

    /// The same, with its log in a file.
    async fn up_logging_to(&mut self, log: &Path) {
        let server = self.world.up_logging_to(log).await.unwrap();
        self.serves(server);
    }

    fn serves(&mut self, server: Server) {
        let url = self.front.clone().unwrap_or_else(|| server.url.clone());
        if !self.url.is_empty() {
            assert_eq!(url, self.url, "it comes back where it was");
        }
        self.url = url;
        self.server = Some(server);
    }

    /// Waits until its server ends as one does that has lost its home.
    async fn expect_fenced(&mut self) {
        let mut server = self.server.take().unwrap();
        let ended = timeout(PATIENCE, server.ended()).await;
        assert_eq!(ended.unwrap().unwrap().code(), Some(75), "a fenced server ends");
    }

    fn pid(&self) -> u32 {
        self.server.as_ref().unwrap().pid().unwrap()
    }

    async fn kill(&mut self) {
        self.server.take().unwrap().kill().await.unwrap();
    }

    /// Asks its server to end, which it must do well.
    async fn stop(&mut self) {
        assert_eq!(self.server.take().unwrap().stop().await.unwrap(), Some(0));
    }

    /// Stops its server as a machine that hangs does, and waits until none of its threads runs.
    async fn freeze(&self) {
        self.signal("STOP").await;
        let (pid, deadline) = (self.pid(), Instant::now() + PATIENCE);
        let mut look = interval(Duration::from_millis(1));
        while !host::process::is_stopped(pid) {
            assert!(Instant::now() < deadline, "server {pid} does not stop");
            look.tick().await;
        }
    }

    /// Sends its server a signal by name.
    async fn signal(&self, name: &str) {
        crate::crew::sh(&self.world, &format!("kill -{name} {}", self.pid())).await;
    }
}
