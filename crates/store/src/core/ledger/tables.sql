CREATE SCHEMA IF NOT EXISTS adjutant;
CREATE TABLE IF NOT EXISTS adjutant.meta (
    -- Of these tables.
    version INT NOT NULL
);
CREATE TABLE IF NOT EXISTS adjutant.home (
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    -- It grows with each owner: the fence.
    epoch      BIGINT NOT NULL,
    -- The server that owns the home, and where it can be reached.
    owner      TEXT,
    owner_url  TEXT,
    -- By this database's clock, and by nobody else's.
    expires_at TIMESTAMPTZ NOT NULL,
    -- The last commit, and where the audit chain and the events stand after it.
    seq        BIGINT NOT NULL,
    audit      BIGINT NOT NULL,
    head       TEXT NOT NULL,
    event      BIGINT NOT NULL,
    -- Agents that wait for a place, and those that have one, for whoever adds machines.
    queued     INT NOT NULL DEFAULT 0,
    running    INT NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE TABLE IF NOT EXISTS adjutant.log (
    home  TEXT NOT NULL,
    seq   BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    at    TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    -- 0: writes; 1: a migration of the state.
    kind  SMALLINT NOT NULL,
    body  BYTEA NOT NULL,
    PRIMARY KEY (home, seq)
);
CREATE TABLE IF NOT EXISTS adjutant.snapshot_part (
    home TEXT NOT NULL,
    seq  BIGINT NOT NULL,
    part INT NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (home, seq, part)
);
CREATE TABLE IF NOT EXISTS adjutant.snapshot (
    home   TEXT NOT NULL,
    seq    BIGINT NOT NULL,
    -- The schema of the state in it.
    schema INT NOT NULL,
    parts  INT NOT NULL,
    bytes  BIGINT NOT NULL,
    sha256 TEXT NOT NULL,
    at     TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    -- Written last: the snapshot is whole.
    PRIMARY KEY (home, seq)
);
