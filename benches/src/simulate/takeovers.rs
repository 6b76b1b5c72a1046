//! A year of failures: for how long homes have no owner that answers.
//!
//! Homes of a dead server wait for their lease to run out, then for a core of a server that still lives and for a
//! PostgreSQL that sends them, then for their snapshot and their log. A home that another server follows needs neither.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::assumed::{
    CORES, LEASE, LOG_LENGTH, LOOK_INTERVAL, POSTGRES_LIFE, PROMOTION, RESTORES, SERVER_LIFE,
    SNAPSHOT, ZONE_LIFE,
};
use super::chance::Chance;
use super::fleet::Fleet;
use super::measured::{LOG_OF_CALL, RECONNECT, REPLAY, RESTORE, TAKE};

const DAYS: f64 = 365.0;
/// Part of the servers that a zone has.
const ZONE: f64 = 1.0 / 3.0;

/// State of a home at another server before that takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standby {
    /// Everything: it follows the log
    Following,
    /// Nothing: it restores the newest snapshot and reads the log behind it
    Cold,
}

/// Times without an owner that answers, in seconds.
#[derive(Debug, Clone, Default)]
pub(super) struct Outages {
    times: Vec<f64>,
}

impl Outages {
    fn add(&mut self, time: f64) {
        self.times.push(time);
    }

    fn sorted(mut self) -> Self {
        self.times.sort_by(f64::total_cmp);
        self
    }

    /// The time that so many of a hundred homes stay below.
    pub(super) fn percentile(&self, percent: usize) -> f64 {
        let last = self.times.len().saturating_sub(1);
        self.times.get(last * percent / 100).copied().unwrap_or_default()
    }

    /// The longest.
    pub(super) fn longest(&self) -> f64 {
        self.times.last().copied().unwrap_or_default()
    }

    fn sum(&self) -> f64 {
        self.times.iter().sum()
    }
}

/// Failures of a fleet in a year.
#[derive(Debug, Clone)]
pub(super) struct Year {
    /// Deaths of single servers
    pub(super) deaths: usize,
    /// Outages of homes whose server died alone
    pub(super) server: Outages,
    /// Outages of homes whose server died with a third of all
    pub(super) zone: Outages,
    /// Failovers of PostgreSQL
    pub(super) failovers: usize,
    /// Outages of homes whose PostgreSQL failed over
    pub(super) postgres: Outages,
    /// Part of the year in which a home answers
    pub(super) availability: f64,
}

/// Lives through a year. The zone dies at least once, so that there is something to see.
pub(super) fn year(fleet: &Fleet, standby: Standby, seed: u64) -> Year {
    let mut chance = Chance::new(seed);
    let (servers, postgres) = (fleet.servers(), fleet.postgres());
    let deaths = happenings(&mut chance, SERVER_LIFE.value / servers);
    let mut server = Outages::default();
    for _ in 0..deaths {
        let lost = fleet.homes / servers;
        take_over(&mut chance, fleet, standby, lost, servers - 1.0, &mut server);
    }
    let zones = happenings(&mut chance, ZONE_LIFE.value).max(1);
    let mut zone = Outages::default();
    for _ in 0..zones {
        let left = (servers * (1.0 - ZONE)).ceil();
        take_over(&mut chance, fleet, standby, fleet.homes * ZONE, left, &mut zone);
    }
    let failovers = happenings(&mut chance, POSTGRES_LIFE.value / postgres);
    let mut away = Outages::default();
    for _ in 0..failovers {
        each(fleet.homes / postgres, |_| {
            // Nobody can take the home meanwhile, so its owner goes on.
            away.add(PROMOTION.value + chance.between(0.0, RECONNECT.value));
        });
    }
    let lost = server.sum() + zone.sum() + away.sum();
    let availability = 1.0 - lost / (fleet.homes * DAYS * 86_400.0);
    Year {
        deaths,
        server: server.sorted(),
        zone: zone.sorted(),
        failovers,
        postgres: away.sorted(),
        availability,
    }
}

/// Number of times that something happens in a year.
fn happenings(chance: &mut Chance, mean_days: f64) -> usize {
    let mut day = chance.time_until(mean_days);
    let mut count = 0;
    while day < DAYS {
        count += 1;
        day += chance.time_until(mean_days);
    }
    count
}

/// Runs something for each of so many.
fn each(count: f64, mut work: impl FnMut(u32)) {
    let (mut number, mut left) = (0, count);
    while left > 0.0 {
        work(number);
        number += 1;
        left -= 1.0;
    }
}

/// Workers, each with the time at which it is free, in microseconds.
struct Workers(BinaryHeap<Reverse<u64>>);

impl Workers {
    fn new(count: f64) -> Self {
        let mut all = BinaryHeap::new();
        each(count.max(1.0), |_| all.push(Reverse(0)));
        Self(all)
    }

    /// The time at which the next one is free; it is taken away until it is [given back](Self::busy_until).
    fn next(&mut self) -> f64 {
        seconds(self.0.pop().map_or(0, |Reverse(free)| free))
    }

    fn busy_until(&mut self, time: f64) {
        self.0.push(Reverse(micros(time)));
    }
}

fn seconds(micros: u64) -> f64 {
    std::time::Duration::from_micros(micros).as_secs_f64()
}

fn micros(seconds: f64) -> u64 {
    let time = std::time::Duration::from_secs_f64(seconds.max(0.0));
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Takes over homes of servers that died at the same moment, by those that are left.
fn take_over(
    chance: &mut Chance,
    fleet: &Fleet,
    standby: Standby,
    lost: f64,
    servers_left: f64,
    outages: &mut Outages,
) {
    let mut cores = Workers::new(servers_left * CORES.value);
    let mut senders = Workers::new(fleet.postgres() * RESTORES.value);
    let mut free: Vec<f64> = Vec::new();
    each(lost, |_| {
        // The lease was renewed at some moment of its first third.
        let expires = chance.between(LEASE.value * 2.0 / 3.0, LEASE.value);
        free.push(expires + chance.between(0.0, LOOK_INTERVAL.value));
    });
    free.sort_by(f64::total_cmp);
    for found in free {
        let core = cores.next();
        let mut begun = found.max(core);
        if standby == Standby::Cold {
            let sender = senders.next();
            begun = begun.max(sender);
            let log = chance.between(0.0, LOG_LENGTH.value);
            let restored = begun + SNAPSHOT.value / RESTORE.value;
            let replayed = restored + log * 1e6 / LOG_OF_CALL.value / REPLAY.value;
            senders.busy_until(replayed);
            begun = replayed;
        }
        let answers = begun + TAKE.value;
        cores.busy_until(answers);
        outages.add(answers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_year_repeats_itself_and_a_home_that_is_followed_waits_for_its_lease() {
        let fleet = Fleet::of(1_000);
        let [one, other] = [16, 16].map(|seed| year(&fleet, Standby::Following, seed));
        assert_eq!(one.server.times, other.server.times);
        assert!(one.deaths > 0 && one.failovers > 0, "{one:?}");
        let longest = LEASE.value + LOOK_INTERVAL.value + TAKE.value;
        assert!(one.server.longest() <= longest, "{one:?}");
        assert!(one.server.percentile(50) <= one.server.percentile(99));
        assert!((0.999..1.0).contains(&one.availability), "{}", one.availability);
        let cold = year(&fleet, Standby::Cold, 16);
        assert!(cold.server.percentile(50) > one.server.percentile(50));
        assert!(cold.zone.longest() > cold.zone.percentile(50));
    }

    #[test]
    fn homes_wait_for_one_another_where_there_are_fewer_workers() {
        let mut workers = Workers::new(2.0);
        for (free, until) in [(0.0, 3.0), (0.0, 5.0), (3.0, 4.0), (4.0, 9.0)] {
            assert!((workers.next() - free).abs() < 1e-6);
            workers.busy_until(until);
        }
    }
}
