-- Agents that Adjutant runs itself: what each was asked, how far its output was read, what came of it.
CREATE TABLE run (
    agent_id     TEXT PRIMARY KEY,
    prompt       TEXT NOT NULL,
    -- What it is about, in a line.
    summary      TEXT NOT NULL,
    -- Everything else it was asked with, as JSON.
    wish         TEXT NOT NULL,
    resumed_from TEXT,
    -- The model that answers it.
    model        TEXT,
    -- The name by which a later process goes on with the conversation.
    conversation TEXT,
    -- How far its output was read, and what the reader remembered there.
    segment      INTEGER NOT NULL,
    position     INTEGER NOT NULL,
    notes        TEXT,
    -- The wish to end it, remembered before it is done.
    stop_outcome TEXT,
    stop_reason  TEXT,
    started_at   INTEGER,
    -- When it must be over, whoever set the bound.
    deadline_at  INTEGER,
    -- How long its earlier attempts ran.
    ran_ms       INTEGER NOT NULL,
    result       TEXT,
    -- What it used itself. Unknown costs are null.
    cost_nanos   INTEGER,
    tokens_in    INTEGER NOT NULL,
    tokens_out   INTEGER NOT NULL,
    cache_read   INTEGER NOT NULL,
    cache_write  INTEGER NOT NULL
);
CREATE INDEX run_resumed ON run (resumed_from) WHERE resumed_from IS NOT NULL;

CREATE INDEX agent_queued ON agent (depth DESC, number) WHERE state = 'queued';
CREATE INDEX agent_by_parent ON agent (parent_id, number) WHERE parent_id IS NOT NULL;
CREATE INDEX agent_by_task ON agent (task_id, number) WHERE task_id IS NOT NULL;

-- What an agent and all that it started may spend, and have spent. An absent cap is none.
CREATE TABLE budget (
    agent_id     TEXT PRIMARY KEY,
    cap_nanos    INTEGER,
    cap_tokens   INTEGER,
    cap_agents   INTEGER,
    cap_seconds  INTEGER,
    spent_nanos  INTEGER NOT NULL,
    spent_tokens INTEGER NOT NULL,
    spent_agents INTEGER NOT NULL,
    -- 1 once its own cap was passed and only a warning was wanted.
    warned       INTEGER NOT NULL
);

-- What was spent, by the hour: what plots are made of.
CREATE TABLE spend (
    agent_id    TEXT NOT NULL,
    model       TEXT NOT NULL,
    hour        INTEGER NOT NULL,
    nanos       INTEGER NOT NULL,
    tokens_in   INTEGER NOT NULL,
    tokens_out  INTEGER NOT NULL,
    cache_read  INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    PRIMARY KEY (agent_id, model, hour)
);
CREATE INDEX spend_by_hour ON spend (hour);

-- Which tools an agent used, ours and its own, and how it went.
CREATE TABLE tool_use (
    agent_id TEXT NOT NULL,
    tool     TEXT NOT NULL,
    calls    INTEGER NOT NULL,
    errors   INTEGER NOT NULL,
    micros   INTEGER NOT NULL,
    PRIMARY KEY (agent_id, tool)
);

-- What an agent asked a person, and by which letter.
CREATE TABLE question (
    agent_id TEXT NOT NULL,
    request  TEXT NOT NULL,
    mail_id  TEXT NOT NULL,
    tool     TEXT NOT NULL,
    asked_at INTEGER NOT NULL,
    -- `allow`, or `deny` and why.
    answer   TEXT,
    PRIMARY KEY (agent_id, request)
);
CREATE INDEX question_by_mail ON question (mail_id);

-- Answers to calls that came with a key: the same call again gets the same answer.
CREATE TABLE answered (
    principal TEXT NOT NULL,
    key       TEXT NOT NULL,
    tool      TEXT NOT NULL,
    input     TEXT NOT NULL,
    output    TEXT NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (principal, key)
);
CREATE INDEX answered_by_time ON answered (at);
