-- Slack: what people said to us. A channel and a time stamp are Slack's own name of a message.
CREATE TABLE slack_message (
    number     INTEGER PRIMARY KEY,
    channel    TEXT NOT NULL,
    ts         TEXT NOT NULL,
    -- The message with which its thread begins.
    thread     TEXT NOT NULL,
    user_id    TEXT NOT NULL,
    text       TEXT NOT NULL,
    -- When it is acted on, with what was said just before and after; none once it was.
    due_at     INTEGER,
    created_at INTEGER NOT NULL,
    UNIQUE (channel, ts)
);
CREATE INDEX slack_message_due ON slack_message (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX slack_message_waiting ON slack_message (channel, thread, user_id) WHERE due_at IS NOT NULL;
CREATE INDEX slack_message_by ON slack_message (channel, user_id) WHERE due_at IS NOT NULL;

-- Threads that are ours: each is one task and keeps its role.
CREATE TABLE slack_thread (
    number     INTEGER PRIMARY KEY,
    channel    TEXT NOT NULL,
    ts         TEXT NOT NULL,
    -- Who began it.
    user_id    TEXT NOT NULL,
    -- Both are missing while it is not known who is to do it; then the text waits.
    role       TEXT,
    task       TEXT,
    cwd        TEXT,
    text       TEXT,
    -- Replies up to this one were read.
    seen       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    UNIQUE (channel, ts)
);
CREATE INDEX slack_thread_task ON slack_thread (task) WHERE task IS NOT NULL;
CREATE INDEX slack_thread_changed ON slack_thread (changed_at);

-- Agents that somebody in Slack asked for, and the message that did.
CREATE TABLE slack_order (
    agent   TEXT PRIMARY KEY,
    thread  INTEGER NOT NULL,
    ts      TEXT NOT NULL,
    user_id TEXT NOT NULL,
    -- The reaction that the message carries.
    mark    TEXT
);
CREATE INDEX slack_order_thread ON slack_order (thread);

-- Channels and direct messages in which we were spoken to.
CREATE TABLE slack_channel (
    channel TEXT PRIMARY KEY,
    -- Messages up to this one were read.
    seen    TEXT NOT NULL
);

-- What we say, one row a message or a reaction. Those of one thread are sent one after the other.
CREATE TABLE slack_out (
    number     INTEGER PRIMARY KEY,
    -- What we know it by in Slack.
    id         TEXT NOT NULL UNIQUE,
    channel    TEXT NOT NULL,
    thread     TEXT NOT NULL,
    -- post, mark, unmark
    kind       TEXT NOT NULL,
    -- The text, or the message that gets or loses a reaction.
    body       TEXT NOT NULL,
    -- In whose name, or which reaction.
    name       TEXT,
    -- The letter that it tells of.
    mail       TEXT,
    -- pending, sent, dead
    state      TEXT NOT NULL,
    attempts   INTEGER NOT NULL,
    -- When it is tried; only the first of a thread that is pending has a time.
    due_at     INTEGER,
    -- When a try began of which nobody knows how it ended.
    begun_at   INTEGER,
    last_error TEXT,
    created_at INTEGER NOT NULL,
    ended_at   INTEGER
);
CREATE INDEX slack_out_due ON slack_out (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX slack_out_line ON slack_out (channel, thread, number) WHERE state = 'pending';
CREATE INDEX slack_out_state ON slack_out (state, number);
CREATE INDEX slack_out_mail ON slack_out (channel, thread, number) WHERE mail IS NOT NULL;

-- How far the events were looked at.
CREATE TABLE slack_cursor (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    events INTEGER NOT NULL
);
