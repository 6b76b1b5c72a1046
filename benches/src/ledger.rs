//! Mails a second through a store whose log is in PostgreSQL: beside SQLite alone, over a network that takes half a
//! millisecond, and with a standby that every commit waits for. Then the replay of all that, and a snapshot.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use model::agent::AgentState;
use model::{AgentId, MailId, Timestamp};
use store::{
    AuditDraft, EventDraft, Follower, LedgerAddress, LedgerClient, NewAgent, NewHome, NewMail,
    Owner, Recipient, Sender, Store, StoreError, TakeOutcome, Tx,
};
use testkit::postgres::Postgres;
use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;
use wire::event::{EventData, MailRead};

use crate::Scale;
use crate::homes::{self, CommitRate, HomeCost};
use crate::report::say;

const HOME: &str = "hm_bench";
/// Delay of each direction of the network.
const ONE_WAY_DELAY: Duration = Duration::from_micros(250);
const NOW: Timestamp = Timestamp::from_millis(1_763_208_309_042);
/// Longer than a bench takes.
pub(crate) const LEASE: Duration = Duration::from_secs(3600);

/// Place of the log that commits wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogPlace {
    /// None: SQLite alone
    Nowhere,
    /// PostgreSQL on this machine
    Local,
    /// The same, half a millisecond away
    Network,
    /// PostgreSQL with a synchronous standby, half a millisecond away
    Standby,
}

impl LogPlace {
    const ALL: [Self; 4] = [Self::Nowhere, Self::Local, Self::Network, Self::Standby];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Nowhere => "SQLite alone",
            Self::Local => "PostgreSQL",
            Self::Network => "PostgreSQL, 0.5 ms away",
            Self::Standby => "PostgreSQL, 0.5 ms away, with a synchronous standby",
        }
    }
}

/// Mails a second.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MessageRate {
    pub(crate) place: LogPlace,
    pub(crate) clients: usize,
    pub(crate) per_second: f64,
}

/// Figures of a home in PostgreSQL.
#[derive(Debug)]
pub(crate) struct LedgerCost {
    pub(crate) rates: Vec<MessageRate>,
    /// Operations that a follower replays a second
    pub(crate) replayed: f64,
    /// Size of the snapshot, in megabytes
    pub(crate) snapshot: f64,
    /// Time to restore the snapshot, in seconds
    pub(crate) restored: f64,
    /// Commits of many homes in one PostgreSQL
    pub(crate) commits: Vec<CommitRate>,
    /// A home of the real program, where it was built
    pub(crate) home: Option<HomeCost>,
}

/// Measures everything. Blocks; not to be called on a thread of an asynchronous runtime.
pub(crate) fn measure(scale: &Scale) -> Result<LedgerCost> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut rates = Vec::new();
    let mut replay = None;
    for place in LogPlace::ALL {
        let bench = PlaceUnderTest::start(place)?;
        for clients in scale.clients.iter().copied() {
            say(&format!("letters with {}, {clients} clients", place.name()));
            let per_second = letters(&runtime, &bench.store, clients, scale.time)?;
            rates.push(MessageRate { place, clients, per_second });
        }
        if place == LogPlace::Local {
            replay = Some(bench.replay()?);
        }
        runtime.block_on(bench.store.close());
    }
    let (replayed, snapshot, restored) = replay.context("nothing was replayed")?;
    let commits = homes::commits(&runtime, scale.time)?;
    Ok(LedgerCost { rates, replayed, snapshot, restored, commits, home: None })
}

/// A store, and the servers behind it.
struct PlaceUnderTest {
    store: Store,
    folder: tempfile::TempDir,
    address: Option<String>,
    _servers: Vec<Postgres>,
}

impl PlaceUnderTest {
    fn start(place: LogPlace) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("state.db");
        if place == LogPlace::Nowhere {
            let store = Store::open(&file)?;
            return Ok(Self { store, folder, address: None, _servers: Vec::new() });
        }
        let postgres = Postgres::start(&["shared_buffers = '128MB'"])?;
        let mut servers = Vec::new();
        if place == LogPlace::Standby {
            servers.push(postgres.standby(&[])?);
            postgres.set("synchronous_standby_names", "*")?;
        }
        let port = match place {
            LogPlace::Network | LogPlace::Standby => delaying_proxy(postgres.port())?,
            LogPlace::Nowhere | LogPlace::Local => postgres.port(),
        };
        let address = format!("postgres://adjutant@127.0.0.1:{port}/postgres");
        servers.push(postgres);
        let mut client = client_of(&address)?;
        client.make_tables()?;
        let new = NewHome { id: HOME, name: "bench", from: None, scratch: folder.path() };
        client.create_home(&new, |_| Ok(()))?;
        client.restore(HOME, &file)?;
        let owner = Owner { id: "bench".into(), url: "http://localhost".into(), lease: LEASE };
        let TakeOutcome::Taken(home) = client.take("bench", &owner)? else {
            bail!("somebody else owns the home")
        };
        let store = Store::open_owned(&file, &[], *home)?;
        Ok(Self { store, folder, address: Some(address), _servers: servers })
    }

    /// Replays the log from its beginning, and restores a snapshot of its end.
    fn replay(&self) -> Result<(f64, f64, f64)> {
        say("replaying the log, then a snapshot");
        let mut client = client_of(self.address.as_deref().context("there is no log")?)?;
        let file = self.folder.path().join("replica.db");
        client.restore(HOME, &file)?;
        let mut follower = Follower::open(&file, HOME)?;
        let begun = Instant::now();
        follower.catch_up(&mut client)?;
        let seconds = begun.elapsed().as_secs_f64();
        drop(follower);
        let replica = Store::open(&file)?;
        let operations = replica.read(|tx| tx.event_last())? / 2;
        let copy = self.folder.path().join("copy.db");
        replica.ledger_copy(&copy)?;
        let bytes = client.upload(&copy)?.bytes;
        let begun = Instant::now();
        client.restore(HOME, &self.folder.path().join("restored.db"))?;
        let restored = begun.elapsed().as_secs_f64();
        Ok((number(operations) / seconds, number(bytes) / 1e6, restored))
    }
}

fn client_of(address: &str) -> Result<LedgerClient> {
    Ok(LedgerClient::new(LedgerAddress::parse(address)?)?)
}

fn number(count: i64) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Mails that so many clients send a second, each after the answer to the one before.
fn letters(runtime: &Runtime, store: &Store, clients: usize, time: Duration) -> Result<f64> {
    letters_of_homes(runtime, &vec![store.clone(); clients], time)
}

/// The same, with a client for each of these stores.
pub(crate) fn letters_of_homes(runtime: &Runtime, stores: &[Store], time: Duration) -> Result<f64> {
    static NEXT_LETTER: AtomicU64 = AtomicU64::new(1);
    let sent = Arc::new(AtomicU64::new(0));
    let begun = Instant::now();
    runtime.block_on(async {
        let mut sending = tokio::task::JoinSet::new();
        for (client, store) in stores.iter().enumerate() {
            let (store, sent) = (store.clone(), Arc::clone(&sent));
            sending.spawn(async move {
                let agent = AgentId::from_bits(NEXT_LETTER.fetch_add(1, Ordering::Relaxed));
                let token = format!("token-{agent}-{client}");
                let new = sender(agent, &token);
                store.write(move |tx| tx.agent_insert(&new, NOW)).await?;
                while begun.elapsed() < time {
                    let mail = MailId::from_bits(NEXT_LETTER.fetch_add(1, Ordering::Relaxed));
                    let token = token.clone();
                    store.write(move |tx| letter(tx, &token, agent, mail)).await?;
                    sent.fetch_add(1, Ordering::Relaxed);
                }
                Ok::<_, StoreError>(())
            });
        }
        while let Some(done) = sending.join_next().await {
            done??;
        }
        anyhow::Ok(())
    })?;
    let seconds = begun.elapsed().as_secs_f64();
    Ok(number(sent.load(Ordering::Relaxed).cast_signed()) / seconds)
}

/// Writes a mail as `mail_send` does: the caller by its token, the mail, two events, the audit row.
fn letter(tx: &mut Tx<'_>, token: &str, agent: AgentId, mail: MailId) -> Result<(), StoreError> {
    tx.agent_by_token(token)?;
    let new = NewMail {
        id: mail,
        from: Sender::Agent(agent, "worker".into()),
        to: Recipient::Agent(agent),
        subject: "How far the parser is".into(),
        body: "The lexer is done, and its tests pass. Next are expressions.".into(),
        reply_to: None,
    };
    tx.mail_insert(&new, NOW)?;
    for _ in 0..2 {
        let data = EventData::MailRead(MailRead { mail_id: mail });
        tx.event_append(NOW, &EventDraft { agent: Some(agent), task: None, data })?;
    }
    tx.agent_touch(agent, NOW)?;
    tx.audit_append(&AuditDraft {
        at: NOW,
        agent: Some(agent),
        by_operator: false,
        tool: "mcp__mail__send".into(),
        input: format!(r#"{{"body":"The lexer is done.","subject":"How far","to":"{agent}"}}"#),
        code: None,
        output: format!(r#"{{"mailId":"{mail}"}}"#),
        duration_micros: 250,
        git_commit: None,
    })?;
    Ok(())
}

fn sender(id: AgentId, token: &str) -> NewAgent {
    NewAgent {
        id,
        role: "worker".into(),
        category: "worker".into(),
        kind: "enlisted".into(),
        parent: None,
        depth: 0,
        task: None,
        epic: None,
        session: None,
        iteration: None,
        state: AgentState::Running,
        cwd: None,
        token_hash: Some(token.to_owned()),
    }
}

/// Starts a proxy that holds back what it passes on, and returns its port. It lives as long as the bench.
fn delaying_proxy(to: u16) -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let port = listener.local_addr()?.port();
    thread::spawn(move || {
        while let Ok((client, _)) = listener.accept() {
            let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, to)) else { continue };
            for (from, to) in [(&client, &server), (&server, &client)] {
                if let (Ok(from), Ok(to)) = (from.try_clone(), to.try_clone()) {
                    pass_on(from, to);
                }
            }
        }
    });
    Ok(port)
}

/// Passes everything on after a delay, in order.
fn pass_on(mut from: TcpStream, mut to: TcpStream) {
    // Best effort: without it the figures are worse.
    drop(to.set_nodelay(true));
    let (read, delayed) = channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || {
        let mut bytes = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            let part = bytes.get(..count).unwrap_or_default().to_vec();
            if read.send((Instant::now() + ONE_WAY_DELAY, part)).is_err() {
                return;
            }
        }
    });
    thread::spawn(move || {
        for (due, bytes) in delayed {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        // Who is there no more needs no goodbye.
        drop(to.shutdown(Shutdown::Write));
    });
}
