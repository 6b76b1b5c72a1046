-- What is to be done outside: remembered before, and done as often as it takes.
CREATE TABLE errand (
    number     INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    kind       TEXT NOT NULL,
    -- Errands of one lane are run one after the other.
    lane       TEXT NOT NULL,
    -- Whom it concerns, and who asked.
    agent_id   TEXT,
    caller_id  TEXT,
    -- What is wanted, and what is known of it so far, as JSON.
    wish       TEXT NOT NULL,
    notes      TEXT,
    -- How often it was begun, and when it may be begun again.
    tries      INTEGER NOT NULL,
    due_at     INTEGER NOT NULL,
    -- What came of it, as JSON: an answer, or an error with its code.
    answer     TEXT,
    error      TEXT,
    created_at INTEGER NOT NULL,
    ended_at   INTEGER
);
CREATE INDEX errand_open ON errand (number) WHERE ended_at IS NULL;
CREATE INDEX errand_by_agent ON errand (agent_id, number) WHERE agent_id IS NOT NULL;

-- Worktrees that Adjutant made, each on a branch of its own.
CREATE TABLE worktree (
    number      INTEGER PRIMARY KEY,
    -- Who works in it, or worked in it last.
    agent_id    TEXT NOT NULL UNIQUE,
    path        TEXT NOT NULL,
    branch      TEXT NOT NULL,
    -- The commit it began from, and the branch its work is meant for.
    base        TEXT NOT NULL,
    target      TEXT,
    -- wanted, there, going, gone
    state       TEXT NOT NULL,
    -- 1 once it is to be taken away as soon as nobody works in it.
    unwanted    INTEGER NOT NULL,
    -- Where the branch stood when the worktree was taken away, and what was left uncommitted in it.
    head        TEXT,
    rescued     TEXT,
    created_at  INTEGER NOT NULL,
    gone_at     INTEGER
);
CREATE INDEX worktree_there ON worktree (number) WHERE state <> 'gone';

-- Which reviewer looks at which coder's work, for which time, and how it went.
CREATE TABLE review (
    number      INTEGER PRIMARY KEY,
    coder_id    TEXT NOT NULL,
    reviewer_id TEXT NOT NULL UNIQUE,
    iteration   INTEGER NOT NULL,
    branch      TEXT NOT NULL,
    -- The commit that is looked at.
    commit_hash TEXT NOT NULL,
    message     TEXT,
    -- preparing, open, feedback, approved, silent, timed_out, undone
    state       TEXT NOT NULL,
    -- 1 if it counts as a failed one.
    failed      INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    ended_at    INTEGER
);
CREATE INDEX review_by_coder ON review (coder_id, iteration);
CREATE INDEX review_open ON review (number) WHERE ended_at IS NULL;

-- What a reviewer told a coder, and the commit by which it came.
CREATE TABLE feedback (
    number      INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    reviewer_id TEXT NOT NULL,
    coder_id    TEXT NOT NULL,
    kind        TEXT NOT NULL,
    priority    TEXT,
    body        TEXT NOT NULL,
    items       TEXT NOT NULL,
    mail_id     TEXT,
    -- Null until it is merged.
    commit_hash TEXT,
    created_at  INTEGER NOT NULL
);
CREATE INDEX feedback_by_coder ON feedback (coder_id, number);
CREATE INDEX feedback_by_reviewer ON feedback (reviewer_id);
CREATE INDEX feedback_waiting ON feedback (coder_id) WHERE commit_hash IS NULL;

-- How many more reviews than usual a coder may ask for.
CREATE TABLE review_allowance (
    coder_id TEXT PRIMARY KEY,
    more     INTEGER NOT NULL
);

CREATE TABLE pull_request (
    number     INTEGER PRIMARY KEY,
    -- Whose branch it is, and who opened it.
    agent_id   TEXT NOT NULL,
    opened_by  TEXT,
    epic_id    TEXT,
    repository TEXT NOT NULL,
    pull       INTEGER NOT NULL,
    url        TEXT NOT NULL,
    branch     TEXT NOT NULL,
    base       TEXT NOT NULL,
    title      TEXT NOT NULL,
    -- open, merged, closed
    state      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (repository, pull)
);
CREATE INDEX pull_by_agent ON pull_request (agent_id, number);
CREATE INDEX pull_open ON pull_request (number) WHERE state = 'open';

CREATE TABLE github_issue (
    number     INTEGER PRIMARY KEY,
    -- What it is recognised by when it is asked for again.
    marker     TEXT NOT NULL UNIQUE,
    agent_id   TEXT,
    repository TEXT NOT NULL,
    issue      INTEGER NOT NULL,
    url        TEXT NOT NULL,
    title      TEXT NOT NULL,
    created_at INTEGER NOT NULL
);

-- Approved work on its way into the branch it is meant for.
CREATE TABLE merge (
    number      INTEGER PRIMARY KEY,
    id          TEXT NOT NULL UNIQUE,
    task_id     TEXT NOT NULL,
    agent_id    TEXT,
    approved_by TEXT,
    branch      TEXT NOT NULL,
    target      TEXT NOT NULL,
    -- The commit that was approved, and the one it was merged as.
    commit_hash TEXT NOT NULL,
    merged_hash TEXT,
    -- queued, merging, merged, sent_back, held
    state       TEXT NOT NULL,
    -- Why it was sent back or is held, and what goes with it, as JSON.
    reason      TEXT,
    details     TEXT,
    created_at  INTEGER NOT NULL,
    ended_at    INTEGER
);
CREATE INDEX merge_open ON merge (number) WHERE ended_at IS NULL;
CREATE INDEX merge_by_task ON merge (task_id, number);

-- Files that an agent edits and others leave alone, for a while.
CREATE TABLE reservation (
    number     INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    agent_id   TEXT NOT NULL,
    pattern    TEXT NOT NULL,
    reason     TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
);
CREATE INDEX reservation_by_agent ON reservation (agent_id);
CREATE INDEX reservation_by_end ON reservation (expires_at);

-- When the process of an agent that waits for a review ended; null while it runs.
ALTER TABLE run ADD COLUMN parked_at INTEGER;
-- What its next attempt is told instead of its prompt.
ALTER TABLE run ADD COLUMN next_prompt TEXT;

CREATE INDEX agent_supervisors ON agent (number) WHERE category = 'supervisor' AND ended_at IS NULL;
