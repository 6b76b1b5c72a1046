//! Assumptions about the crews and the machines, and the constants of the program that the simulation needs.

use super::measured::{Given, given};

/// Size of a crew.
pub(super) const AGENTS_OF_HOME: Given = given("live agents of a home", 50.0, "", "a team's crew");
/// Pace of an agent.
pub(super) const CALL_INTERVAL: Given =
    given("an agent's calls, one in", 10.0, "s", "an agent thinks between its calls");
/// Peak.
pub(super) const PEAK: Given =
    given("calls at the peak, times the mean", 3.0, "", "office hours of one continent");
/// Reserve.
pub(super) const HEADROOM: Given = given(
    "use of a machine that is planned for",
    50.0,
    "%",
    "the rest is for failures and for the unforeseen",
);
/// Cores of a server.
pub(super) const CORES: Given = given("cores of a server", 16.0, "", "a usual machine");
/// Memory of a server.
pub(super) const SERVER_MEMORY: Given = given("memory of a server", 64.0, "GB", "a usual machine");
/// Connections of a PostgreSQL.
pub(super) const MAX_CONNECTIONS: Given =
    given("connections of a PostgreSQL", 1_000.0, "", "without a pooler in front of it");
/// Disk of a PostgreSQL.
pub(super) const DISK: Given = given("disk of a PostgreSQL", 2_000.0, "GB", "a usual volume");
/// Throughput of its disk.
pub(super) const DISK_RATE: Given =
    given("what that disk and a standby take", 100.0, "MB/s", "a usual volume");
/// Size of a home.
pub(super) const SNAPSHOT: Given =
    given("size of a home's snapshot", 60.0, "MB", "that of 39,000 operations");
/// Length of the log after which a snapshot is made.
pub(super) const LOG_LENGTH: Given =
    given("log after which a snapshot is made", 268.0, "MB", "the program");
/// Lease.
pub(super) const LEASE: Given = given("lease", 5.0, "s", "the program's default");
/// Interval at which a server looks for homes.
pub(super) const LOOK_INTERVAL: Given =
    given("a server looks for homes without an owner every", 0.25, "s", "the program");
/// Restores at once.
pub(super) const RESTORES: Given = given(
    "snapshots that a PostgreSQL sends at once at the measured speed",
    2.0,
    "",
    "one a core, as measured",
);
/// Life of a server.
pub(super) const SERVER_LIFE: Given = given("a server dies every", 90.0, "days", "pessimistic");
/// Life of a zone.
pub(super) const ZONE_LIFE: Given =
    given("a third of the servers dies at once every", 365.0, "days", "a zone, a bad rollout");
/// Life of a PostgreSQL.
pub(super) const POSTGRES_LIFE: Given =
    given("a PostgreSQL fails over every", 60.0, "days", "patches and failures");
/// Promotion.
pub(super) const PROMOTION: Given =
    given("until its standby is promoted", 15.0, "s", "Patroni with a short lease");

/// All of them, as the page lists them.
pub(super) const ALL: [Given; 18] = [
    AGENTS_OF_HOME,
    CALL_INTERVAL,
    PEAK,
    HEADROOM,
    CORES,
    SERVER_MEMORY,
    MAX_CONNECTIONS,
    DISK,
    DISK_RATE,
    SNAPSHOT,
    LOG_LENGTH,
    LEASE,
    LOOK_INTERVAL,
    RESTORES,
    SERVER_LIFE,
    ZONE_LIFE,
    POSTGRES_LIFE,
    PROMOTION,
];
