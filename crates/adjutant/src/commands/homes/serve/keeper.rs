//! The loop of `adjutant serve`: tells the other hosts that this one is there, and keeps a server for each home that it
//! is to own, or prepares to.
//!
//! It blocks, on a thread of its own. A PostgreSQL that is away changes nothing: the servers know by themselves for how
//! long they may answer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use engine::{Code, HomeHosts, HostTurn};
use model::placement::{HostNote, Placements};
use tokio::time::Instant;

use super::board::Board;
use super::child::{Launcher, Slot};
use crate::cli_error::CliError;
use crate::terminal::render::{Render, name};

/// Interval at which a host says that it is there and looks at the homes.
const TURN_INTERVAL: Duration = Duration::from_millis(100);
/// The same while a home is on its way from one host to another, whichever these are: requests for it have to follow.
const MOVING_INTERVAL: Duration = Duration::from_millis(25);
/// Time after the last home was on its way during which one may not have arrived.
const ARRIVAL_TIME: Duration = Duration::from_secs(3);
/// Shortest silence after which a host counts as gone.
const MIN_SILENCE: Duration = Duration::from_secs(1);
/// Time for the other hosts to prepare for the homes of one that ends.
const LEAVE_LIMIT: Duration = Duration::from_secs(15);
/// Time for the servers to end after that.
const END_LIMIT: Duration = Duration::from_secs(20);
/// Interval at which a problem that lasts is reported again.
const PROBLEM_INTERVAL: Duration = Duration::from_secs(10);

/// Order to the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeeperOrder {
    /// Hand the homes over, and end
    Leave,
}

/// Keeps the homes of a host.
pub(super) struct HomeKeeper {
    hosts: HomeHosts,
    launcher: Launcher,
    board: Arc<Board>,
    render: Render,
    turn: HostTurn,
    /// By id of the home
    slots: BTreeMap<String, Slot>,
    /// Hosts and homes as they were last read
    seen: Option<Placements>,
    /// When a home was seen on its way last
    moved_at: Option<Instant>,
    /// Why it has not been seen since, and when that was reported
    problem: Option<(String, Instant)>,
}

impl HomeKeeper {
    pub(super) fn new(
        hosts: HomeHosts,
        launcher: Launcher,
        board: Arc<Board>,
        render: Render,
        note: HostNote,
        lease: Duration,
    ) -> Self {
        let limit = MIN_SILENCE.max(lease / 2);
        let turn = HostTurn { note, limit, changes: Vec::new() };
        Self {
            hosts,
            launcher,
            board,
            render,
            turn,
            slots: BTreeMap::new(),
            seen: None,
            moved_at: None,
            problem: None,
        }
    }

    /// Serves homes until it is told to leave, and then hands them over.
    pub(super) fn run(mut self, orders: &Receiver<KeeperOrder>) -> Result<(), CliError> {
        if self.refuse_namesake(orders)? == Some(KeeperOrder::Leave) {
            return Ok(());
        }
        loop {
            self.turn();
            match orders.recv_timeout(self.interval()) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(KeeperOrder::Leave) | Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.leave(orders);
        Ok(())
    }

    /// Refuses to serve at the address of another host: requests for one would reach the other. One that has just been
    /// killed is forgotten in a moment. Returns an order that came meanwhile.
    fn refuse_namesake(
        &mut self,
        orders: &Receiver<KeeperOrder>,
    ) -> Result<Option<KeeperOrder>, CliError> {
        let until = Instant::now() + self.turn.limit * 2;
        loop {
            match self.hosts.namesake(&self.turn) {
                Ok(None) => return Ok(None),
                Ok(Some(other)) if Instant::now() >= until => {
                    let (url, id) = (&self.turn.note.url, &other.id);
                    let said = format!("another host says that it is at {url} ({id})");
                    return Err(CliError::new(Code::Conflict, said)
                        .hint("name the address of this one with `--url`")
                        .hint("two of one machine need a `--port` and a `--state` each"));
                }
                Ok(Some(_)) => {}
                Err(error) if error.is_away() => self.note_problem(&error.to_string()),
                Err(error) => return Err(error.into()),
            }
            match orders.recv_timeout(TURN_INTERVAL) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(KeeperOrder::Leave) | Err(RecvTimeoutError::Disconnected) => {
                    return Ok(Some(KeeperOrder::Leave));
                }
            }
        }
    }

    fn turn(&mut self) {
        let now = Instant::now();
        let me = self.turn.note.id.clone();
        if let Some(seen) = &self.seen {
            let is_ready = |slot: &Slot| slot.url().is_some();
            let ready = self.slots.iter().filter(|(_, slot)| is_ready(slot));
            let prepared: BTreeSet<String> = ready.map(|(id, _)| id.clone()).collect();
            self.turn.changes = seen.changes(&me, &prepared);
        }
        match self.hosts.turn(&self.turn) {
            Ok(seen) => {
                if self.problem.take().is_some() {
                    tracing::info!("PostgreSQL answers again");
                }
                if seen.homes.is_empty() && self.seen.is_none() {
                    self.say_that_there_are_none();
                }
                if seen.is_moving() {
                    self.moved_at = Some(now);
                }
                self.seen = Some(seen);
            }
            Err(error) => self.note_problem(&error.to_string()),
        }
        self.keep_servers(&me, now);
        let problem = self.problem.as_ref().map(|(why, _)| why.as_str());
        self.board.show(&self.turn.note, self.seen.as_ref(), &self.slots, &self.launcher, problem);
    }

    /// Time until the next look at the homes.
    fn interval(&self) -> Duration {
        let is_moving = self.moved_at.is_some_and(|at| at.elapsed() < ARRIVAL_TIME);
        if is_moving { MOVING_INTERVAL } else { TURN_INTERVAL }
    }

    /// Starts the servers that are missing, and ends those that are not wanted any more.
    fn keep_servers(&mut self, me: &str, now: Instant) {
        let Some(seen) = &self.seen else { return };
        let mut wanted = BTreeSet::new();
        for home in seen.homes.iter().filter(|home| Placements::concerns(home, me)) {
            wanted.insert(home.id.as_str());
            let slot = self.slots.entry(home.id.clone()).or_insert_with(|| Slot::new(&home.name));
            if slot.is_ending() {
                // It comes back once it has ended.
                slot.end(now);
            } else {
                slot.keep_up(&self.launcher, now);
            }
        }
        self.slots.retain(|id, slot| wanted.contains(id.as_str()) || !slot.end(now));
    }

    /// Hands the homes over: first to hosts that have prepared for them, then to any that take them.
    fn leave(&mut self, orders: &Receiver<KeeperOrder>) {
        let began = Instant::now();
        self.turn.note.leaving = true;
        tracing::info!(homes = self.slots.len(), "handing the homes over");
        let me = self.turn.note.id.clone();
        loop {
            self.turn();
            let has_others = self
                .seen
                .as_ref()
                .is_some_and(|seen| seen.live().any(|host| host.id != me && !host.leaving));
            let is_urgent = began.elapsed() >= LEAVE_LIMIT || self.problem.is_some();
            if self.slots.is_empty() || !has_others || is_urgent {
                break;
            }
            // A second signal means that nobody wants to wait.
            match orders.recv_timeout(MOVING_INTERVAL) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(KeeperOrder::Leave) | Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let left = self.slots.len();
        for slot in self.slots.values_mut() {
            slot.end(Instant::now());
        }
        if let Err(error) = self.hosts.leave(&me) {
            tracing::warn!(%error, "host not removed; the others notice by themselves");
        }
        let until = Instant::now() + END_LIMIT;
        while !self.slots.is_empty() && Instant::now() < until {
            self.slots.retain(|_, slot| !slot.end(Instant::now()));
            std::thread::sleep(Duration::from_millis(10));
        }
        let millis = began.elapsed().as_millis();
        tracing::info!(left, millis, "all homes are handed over");
    }

    fn say_that_there_are_none(&self) {
        let said = format!("No homes yet. Make one with {}", name("adjutant home create"));
        // The person who started it may have closed the terminal.
        drop(self.render.aside(&said));
    }

    fn note_problem(&mut self, why: &str) {
        let now = Instant::now();
        let known = self
            .problem
            .as_ref()
            .filter(|(text, at)| text == why && now.duration_since(*at) < PROBLEM_INTERVAL);
        if known.is_none() {
            tracing::warn!(problem = why, "homes not looked at; retrying");
            self.problem = Some((why.to_owned(), now));
            self.board.wait(why);
        }
    }
}
