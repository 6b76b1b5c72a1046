-- In which iteration of its session an agent works.
ALTER TABLE agent ADD COLUMN iteration INTEGER;

-- Who worked in an iteration, how that ended, what it cost, and which task was begun in it.
ALTER TABLE iteration ADD COLUMN agent_id TEXT;
ALTER TABLE iteration ADD COLUMN outcome TEXT;
ALTER TABLE iteration ADD COLUMN reason TEXT;
ALTER TABLE iteration ADD COLUMN spent_nanos INTEGER;
ALTER TABLE iteration ADD COLUMN task_number INTEGER;
ALTER TABLE iteration ADD COLUMN commit_hash TEXT;

-- Sessions that Adjutant runs: one agent after the other on the same specification.
CREATE TABLE loop (
    number        INTEGER PRIMARY KEY,
    session       TEXT NOT NULL UNIQUE,
    -- running, paused, completed, limit, failed, stopped, over_budget
    state         TEXT NOT NULL,
    -- What it does at the moment, and how far it is in that: which hook comes next.
    phase         TEXT NOT NULL,
    step          INTEGER NOT NULL,
    -- The run of that hook which was begun, if one was, and how many there were.
    hook_run      INTEGER,
    hook_runs     INTEGER NOT NULL,
    -- pause or stop, where somebody wants it.
    wish          TEXT,
    -- Why it waits or ended.
    why           TEXT,
    -- The iteration it is in or had last, and the first one that is not made yet.
    iteration     INTEGER NOT NULL,
    next          INTEGER NOT NULL,
    agent_id      TEXT,
    -- The last iteration it may have; null is no limit.
    last          INTEGER,
    failures      INTEGER NOT NULL,
    most_failures INTEGER NOT NULL,
    role          TEXT NOT NULL,
    kind          TEXT,
    cwd           TEXT,
    extra         TEXT,
    spec_path     TEXT,
    spec          TEXT NOT NULL,
    -- Null is the one built in.
    template      TEXT,
    -- 1 where each iteration is committed.
    commits       INTEGER NOT NULL,
    cap_nanos     INTEGER,
    -- Completed tasks were looked for in every event up to this number.
    seen          INTEGER NOT NULL,
    -- What the next agent is told of a failure, as JSON.
    recovery      TEXT,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    ended_at      INTEGER
);
CREATE INDEX loop_live ON loop (number) WHERE state = 'running' OR phase = 'closing';

-- Words for the next agent: a person's, and what hooks said.
CREATE TABLE loop_message (
    number       INTEGER PRIMARY KEY,
    session      TEXT NOT NULL,
    -- operator, or the moment of the hook.
    source       TEXT NOT NULL,
    body         TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    -- The iteration whose agent was told.
    iteration    INTEGER,
    delivered_at INTEGER
);
CREATE INDEX loop_message_waiting ON loop_message (session, number) WHERE delivered_at IS NULL;
CREATE INDEX loop_message_list ON loop_message (session, number);
