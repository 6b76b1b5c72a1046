//! The measured figures, with where each was measured. `bench --ledger` measures all but the last two again; the drills
//! of `crates/adjutant/tests/it/cluster` print the times of takeovers.

/// A figure and where it comes from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Given {
    pub(super) what: &'static str,
    pub(super) value: f64,
    pub(super) unit: &'static str,
    pub(super) source: &'static str,
}

/// Makes a figure.
pub(super) const fn given(
    what: &'static str,
    value: f64,
    unit: &'static str,
    source: &'static str,
) -> Given {
    Given { what, value, unit, source }
}

/// Commits of many homes in one PostgreSQL.
pub(super) const COMMITS: Given = given(
    "commits of 64 homes in one PostgreSQL",
    1_900.0,
    "/s",
    "the statement of a commit from 64 connections, on two cores beside much other work",
);
/// Operations of one home.
pub(super) const ONE_HOME: Given = given(
    "operations of one home, 64 clients",
    4_929.0,
    "/s",
    "the prototype, PostgreSQL 0.5 ms away, median of three",
);
/// Duration of a commit.
pub(super) const COMMIT_TIME: Given =
    given("a commit", 1.6, "ms", "the prototype, 1 client, PostgreSQL 0.5 ms away");
/// Log of a call.
pub(super) const LOG_OF_CALL: Given =
    given("log of a call, before compression", 2_410.0, "bytes", "2,000 calls, half of them reads");
/// PostgreSQL's own log.
pub(super) const WAL_OF_COMMIT: Given =
    given("PostgreSQL's own log of a commit", 4_170.0, "bytes", "the same, 12 calls a commit");
/// Renewals of a lease.
pub(super) const RENEWALS: Given =
    given("renewals of the lease of a home at rest", 1.25, "/s", "30 s at rest, lease of 5 s");
/// Connections.
pub(super) const CONNECTIONS: Given =
    given("connections of a home's owner", 2.0, "", "the same home");
/// Memory.
pub(super) const MEMORY: Given = given(
    "memory of a home's process",
    45.0,
    "MB",
    "resident after 2,000 calls; 28 MB are its own, the rest is shared with others",
);
/// Processor time of a call.
pub(super) const PROCESSOR: Given =
    given("processor time of a server for a call", 0.14, "ms", "2,000 calls of 16 clients");
/// Use of a core at rest.
pub(super) const IDLE_LOAD: Given =
    given("use of a core by a home at rest", 0.07, "%", "30 s at rest");
/// Replay.
pub(super) const REPLAY: Given =
    given("operations that are replayed", 13_400.0, "/s", "the prototype, 39,061 operations");
/// Restoring a snapshot.
pub(super) const RESTORE: Given =
    given("a snapshot that is restored", 60.0, "MB/s", "the prototype, 62 MB in about a second");
/// Opening a home that has everything.
pub(super) const TAKE: Given = given(
    "taking a home whose log is read",
    0.35,
    "s",
    "drill: the owner is asked to end, until the other answers (0.23 to 0.35 s)",
);
/// Following a PostgreSQL that fails over.
pub(super) const RECONNECT: Given = given(
    "from the promotion to the next answer, at the most",
    1.1,
    "s",
    "30 failovers with the prototype (median 0.36 s)",
);

/// All of them, as the page lists them.
pub(super) const ALL: [Given; 14] = [
    COMMITS,
    ONE_HOME,
    COMMIT_TIME,
    LOG_OF_CALL,
    WAL_OF_COMMIT,
    RENEWALS,
    CONNECTIONS,
    MEMORY,
    PROCESSOR,
    IDLE_LOAD,
    REPLAY,
    RESTORE,
    TAKE,
    RECONNECT,
];
