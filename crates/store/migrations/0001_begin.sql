-- Ids and JSON as text, times as integer milliseconds, no booleans: the same tables fit PostgreSQL.

CREATE TABLE agent (
    number         INTEGER PRIMARY KEY,
    id             TEXT NOT NULL UNIQUE,
    role           TEXT NOT NULL,
    category       TEXT NOT NULL,
    kind           TEXT NOT NULL,
    parent_id      TEXT,
    depth          INTEGER NOT NULL,
    task_id        TEXT,
    epic_id        TEXT,
    session        TEXT,
    state          TEXT NOT NULL,
    reason         TEXT,
    limited_until  INTEGER,
    attempt        INTEGER NOT NULL,
    cwd            TEXT,
    tmux_session   TEXT,
    token_hash     TEXT,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    last_active_at INTEGER NOT NULL,
    ended_at       INTEGER
);
CREATE UNIQUE INDEX agent_by_token ON agent (token_hash) WHERE token_hash IS NOT NULL;
CREATE INDEX agent_live ON agent (number) WHERE ended_at IS NULL;
CREATE INDEX agent_by_epic ON agent (epic_id, category) WHERE ended_at IS NULL;

CREATE TABLE epic (
    number           INTEGER PRIMARY KEY,
    id               TEXT NOT NULL UNIQUE,
    title            TEXT NOT NULL,
    description      TEXT,
    linear_issue_id  TEXT,
    linear_issue_url TEXT,
    state            TEXT NOT NULL,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    completed_at     INTEGER
);
CREATE UNIQUE INDEX epic_by_linear ON epic (linear_issue_id) WHERE linear_issue_id IS NOT NULL;

CREATE TABLE session (
    name         TEXT PRIMARY KEY,
    iteration    INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    completed_at INTEGER
);

CREATE TABLE iteration (
    session    TEXT NOT NULL,
    number     INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at   INTEGER,
    summary    TEXT,
    PRIMARY KEY (session, number)
);

CREATE TABLE task (
    number            INTEGER PRIMARY KEY,
    id                TEXT NOT NULL UNIQUE,
    slug              TEXT NOT NULL UNIQUE,
    session           TEXT NOT NULL,
    title             TEXT NOT NULL,
    description       TEXT,
    state             TEXT NOT NULL,
    reason            TEXT,
    priority          INTEGER NOT NULL,
    epic_id           TEXT,
    assigned_agent_id TEXT,
    claim_agent_id    TEXT,
    claim_attempt     INTEGER,
    claim_number      INTEGER NOT NULL,
    attempts          INTEGER NOT NULL,
    -- How many tasks it depends on, so that most lists need not ask which.
    needs             INTEGER NOT NULL,
    worktree_path     TEXT,
    branch_name       TEXT,
    pr_url            TEXT,
    iteration         INTEGER NOT NULL,
    -- The title as it is compared with others; null once the task is closed.
    content_key       TEXT,
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL
);
CREATE INDEX task_by_state ON task (state, number);
CREATE INDEX task_by_epic ON task (epic_id, number) WHERE epic_id IS NOT NULL;
CREATE INDEX task_next ON task (session, state, priority, number);
CREATE INDEX task_by_session ON task (session, number);
CREATE INDEX task_claimed ON task (claim_agent_id) WHERE claim_agent_id IS NOT NULL;
CREATE INDEX task_by_content ON task (session, content_key) WHERE content_key IS NOT NULL;

CREATE TABLE task_dependency (
    task_number  INTEGER NOT NULL,
    needs_number INTEGER NOT NULL,
    PRIMARY KEY (task_number, needs_number)
);
CREATE INDEX task_needed_by ON task_dependency (needs_number, task_number);

CREATE TABLE task_comment (
    number      INTEGER PRIMARY KEY,
    task_number INTEGER NOT NULL,
    agent_id    TEXT,
    body        TEXT NOT NULL,
    created_at  INTEGER NOT NULL
);
CREATE INDEX comment_by_task ON task_comment (task_number, number);

-- Which agents worked on a task, and what came of it.
CREATE TABLE dispatch (
    task_number INTEGER NOT NULL,
    agent_id    TEXT NOT NULL,
    role        TEXT NOT NULL,
    started_at  INTEGER NOT NULL,
    ended_at    INTEGER,
    status      TEXT,
    result      TEXT,
    PRIMARY KEY (task_number, agent_id)
);
CREATE INDEX dispatch_by_agent ON dispatch (agent_id);

CREATE TABLE note (
    number     INTEGER PRIMARY KEY,
    session    TEXT NOT NULL,
    kind       TEXT NOT NULL,
    content    TEXT NOT NULL,
    iteration  INTEGER NOT NULL,
    agent_id   TEXT,
    created_at INTEGER NOT NULL
);
CREATE INDEX note_by_session ON note (session, number);
CREATE INDEX note_by_kind ON note (session, kind, number);

CREATE TABLE mail (
    number        INTEGER PRIMARY KEY,
    id            TEXT NOT NULL UNIQUE,
    from_agent_id TEXT,
    from_category TEXT,
    -- The agent it is for, or `human`.
    recipient     TEXT NOT NULL,
    subject       TEXT NOT NULL,
    body          TEXT NOT NULL,
    reply_to      TEXT,
    created_at    INTEGER NOT NULL,
    read_at       INTEGER
);
CREATE INDEX mail_inbox ON mail (recipient, number);
CREATE INDEX mail_unread ON mail (recipient, number) WHERE read_at IS NULL;

CREATE TABLE event (
    number   INTEGER PRIMARY KEY,
    kind     TEXT NOT NULL,
    at       INTEGER NOT NULL,
    agent_id TEXT,
    task_id  TEXT,
    data     TEXT NOT NULL
);
CREATE INDEX event_by_kind ON event (kind, number);

-- One row a call, or two where a call touches the outside. `hash` covers `body` and the hash before
-- it; the other columns repeat what is in `body`, for look-ups.
CREATE TABLE audit (
    number   INTEGER PRIMARY KEY,
    at       INTEGER NOT NULL,
    agent_id TEXT,
    tool     TEXT NOT NULL,
    code     TEXT,
    body     TEXT NOT NULL,
    hash     TEXT NOT NULL
);
-- Where an agent's or a tool's rows are, in blocks of 1,024. An index with an entry for every row
-- would be the greater part of what each call writes.
CREATE TABLE audit_block (
    key   TEXT NOT NULL,
    block INTEGER NOT NULL,
    PRIMARY KEY (key, block)
);
CREATE INDEX audit_failures ON audit (agent_id, tool, at) WHERE code IS NOT NULL;

-- Letters about failures that were sent already, so that nobody gets the same twice.
CREATE TABLE escalation (
    agent_id TEXT NOT NULL,
    tool     TEXT NOT NULL,
    at       INTEGER NOT NULL,
    PRIMARY KEY (agent_id, tool)
);

-- Sessions of the older protocol era: whose they are, and what is needed to go on after a restart.
CREATE TABLE mcp_session (
    id         TEXT PRIMARY KEY,
    principal  TEXT NOT NULL,
    opening    TEXT NOT NULL,
    created_at INTEGER NOT NULL
);
CREATE INDEX mcp_session_by_principal ON mcp_session (principal);

CREATE TABLE mcp_subscription (
    session_id TEXT NOT NULL,
    uri        TEXT NOT NULL,
    PRIMARY KEY (session_id, uri)
);
