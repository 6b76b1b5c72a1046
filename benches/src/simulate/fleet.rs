//! Homes, servers and PostgreSQL instances that a number of agents needs, and the limit that decides.

use super::assumed::{
    AGENTS_OF_HOME, CALL_INTERVAL, CORES, DISK, DISK_RATE, HEADROOM, LOG_LENGTH, MAX_CONNECTIONS,
    PEAK, SERVER_MEMORY, SNAPSHOT,
};
use super::measured::{
    COMMIT_TIME, COMMITS, CONNECTIONS, IDLE_LOAD, LOG_OF_CALL, MEMORY, ONE_HOME, PROCESSOR,
    RENEWALS, WAL_OF_COMMIT,
};

/// A resource of a machine, and how many machines it alone would need.
#[derive(Debug, Clone, Copy)]
pub(super) struct Need {
    pub(super) resource: &'static str,
    pub(super) machines: f64,
}

/// The machines that serve so many agents.
#[derive(Debug, Clone)]
pub(super) struct Fleet {
    pub(super) agents: f64,
    pub(super) homes: f64,
    /// Calls a second, on average
    pub(super) calls: f64,
    /// Commits a second at the peak, of all homes
    pub(super) commits: f64,
    /// The log of a day, in gigabytes
    pub(super) log_of_day: f64,
    /// Instances that each resource of a PostgreSQL needs, the hungriest first
    pub(super) postgres_needs: Vec<Need>,
    /// The same of a server
    pub(super) server_needs: Vec<Need>,
}

/// Rates of one home at the peak.
struct HomeRates {
    calls: f64,
    commits: f64,
}

fn home_rates() -> HomeRates {
    let calls = AGENTS_OF_HOME.value / CALL_INTERVAL.value * PEAK.value;
    // What comes while a commit is under way shares the next one.
    let commits = calls / (1.0 + calls * COMMIT_TIME.value / 1e3);
    HomeRates { calls, commits }
}

/// Part of what one home can do that it does at the peak.
pub(super) fn use_of_one_home() -> f64 {
    home_rates().calls / ONE_HOME.value
}

impl Fleet {
    pub(super) fn of(agents: u32) -> Self {
        let agents = f64::from(agents);
        let homes = (agents / AGENTS_OF_HOME.value).ceil();
        let rates = home_rates();
        let planned = HEADROOM.value / 100.0;
        let calls = homes * rates.calls / PEAK.value;
        // A home that commits needs no renewals; those at rest are counted as if all were.
        let statements = homes * (rates.commits + RENEWALS.value);
        let wal = homes * rates.commits * WAL_OF_COMMIT.value / 1e6;
        // The log up to the snapshot before the newest is kept, and both snapshots.
        let kept = homes * 2.0 * (LOG_LENGTH.value + SNAPSHOT.value) / 1e3;
        let postgres_needs = sorted([
            Need { resource: "commits", machines: statements / (COMMITS.value * planned) },
            Need {
                resource: "connections",
                machines: homes * CONNECTIONS.value / MAX_CONNECTIONS.value,
            },
            Need { resource: "its own log", machines: wal / (DISK_RATE.value * planned) },
            Need { resource: "disk", machines: kept / (DISK.value * planned) },
        ]);
        let processor = homes * (rates.calls * PROCESSOR.value / 1e3 + IDLE_LOAD.value / 100.0);
        let server_needs = sorted([
            Need {
                resource: "memory",
                machines: homes * MEMORY.value / (SERVER_MEMORY.value * 1e3 * planned),
            },
            Need { resource: "processor", machines: processor / (CORES.value * planned) },
        ]);
        Self {
            agents,
            homes,
            calls,
            commits: homes * rates.commits,
            log_of_day: calls * LOG_OF_CALL.value * 86_400.0 / 1e9,
            postgres_needs,
            server_needs,
        }
    }

    /// PostgreSQL instances, without their standbys.
    pub(super) fn postgres(&self) -> f64 {
        most(&self.postgres_needs).max(1.0)
    }

    /// Servers: never fewer than three, so that one may die while another is replaced.
    pub(super) fn servers(&self) -> f64 {
        most(&self.server_needs).max(3.0)
    }
}

fn most(needs: &[Need]) -> f64 {
    needs.first().map_or(0.0, |need| need.machines.ceil())
}

fn sorted<const N: usize>(needs: [Need; N]) -> Vec<Need> {
    let mut needs = needs.to_vec();
    needs.sort_by(|one, other| other.machines.total_cmp(&one.machines));
    needs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_times_as_many_agents_need_a_hundred_times_as_much() {
        let (small, large) = (Fleet::of(100_000), Fleet::of(10_000_000));
        let ratio = large.homes / small.homes;
        assert!((99.0..101.0).contains(&ratio), "{ratio}");
        for (one, other) in [
            (small.postgres(), large.postgres()),
            (small.servers(), large.servers()),
            (small.log_of_day, large.log_of_day),
        ] {
            // Half a machine is a machine.
            assert!(other <= one * 101.0 && other >= one * 60.0, "{one}, {other}");
        }
        let few = Fleet::of(1);
        assert_eq!((few.homes, few.postgres(), few.servers()), (1.0, 1.0, 3.0));
    }
}
