-- Plans that somebody runs to their end: documents whose steps are tasks.
CREATE TABLE plan (
    number         INTEGER PRIMARY KEY,
    name           TEXT NOT NULL UNIQUE,
    title          TEXT NOT NULL,
    -- Where its file was, what it said, and the hash of that.
    path           TEXT NOT NULL,
    text           TEXT NOT NULL,
    hash           TEXT NOT NULL,
    -- running, completed, failed, stopped, over_budget
    state          TEXT NOT NULL,
    -- Why it is over.
    why            TEXT,
    -- Who runs it: in which role, as which kind where somebody chose one.
    role           TEXT NOT NULL,
    kind           TEXT,
    -- The task of whoever runs it, beside those of the steps.
    task_id        TEXT NOT NULL,
    -- Whoever runs it, or ran it last.
    coordinator_id TEXT NOT NULL,
    -- Coordinators in a row under whom no step was closed, and how many steps were when the last of them began.
    tries          INTEGER NOT NULL,
    closed         INTEGER NOT NULL,
    -- What all of it may cost; null is no cap.
    cap_nanos      INTEGER,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    ended_at       INTEGER
);
CREATE INDEX plan_live ON plan (number) WHERE ended_at IS NULL;
CREATE INDEX plan_by_hash ON plan (hash, number);

-- Everybody who ever ran a plan.
CREATE TABLE plan_coordinator (
    agent_id    TEXT PRIMARY KEY,
    plan_number INTEGER NOT NULL,
    begun_at    INTEGER NOT NULL
);
CREATE INDEX plan_coordinator_by_plan ON plan_coordinator (plan_number, begun_at);

-- The steps of a plan. What they say and how they stand is their task's.
CREATE TABLE plan_step (
    plan_number INTEGER NOT NULL,
    number      INTEGER NOT NULL,
    task_id     TEXT NOT NULL,
    -- In which role, and what whoever works on it may spend, where the plan says so.
    role        TEXT,
    cap_nanos   INTEGER,
    PRIMARY KEY (plan_number, number)
);
CREATE INDEX plan_step_by_task ON plan_step (task_id);
