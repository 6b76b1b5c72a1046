-- Who is told of events, by the names that the configuration gives them.
CREATE TABLE webhook (
    name           TEXT PRIMARY KEY,
    -- Every event up to this number has been looked at.
    seen           INTEGER NOT NULL,
    created_at     INTEGER NOT NULL,
    -- When a message was last taken, and when one last was not.
    last_ok_at     INTEGER,
    last_failed_at INTEGER,
    -- What came of the last try; no status where there was no answer.
    last_status    INTEGER,
    last_error     TEXT,
    -- Since when nothing is sent, why, and of which address (its hash) that was said.
    disabled_at    INTEGER,
    disabled_why   TEXT,
    disabled_for   TEXT,
    -- Since when the configuration does not name it.
    gone_at        INTEGER
);

-- Messages to them: those that wait, those that were given up, and the last ones that were taken.
CREATE TABLE delivery (
    number      INTEGER PRIMARY KEY,
    -- What the receiver knows it by, at every try.
    id          TEXT NOT NULL UNIQUE,
    webhook     TEXT NOT NULL,
    event       INTEGER NOT NULL,
    kind        TEXT NOT NULL,
    -- Messages of one line are sent one after the other.
    line        TEXT NOT NULL,
    -- pending, delivered, dead
    state       TEXT NOT NULL,
    attempts    INTEGER NOT NULL,
    -- When it is tried; only the first of a line that is pending has a time.
    due_at      INTEGER,
    last_status INTEGER,
    last_error  TEXT,
    created_at  INTEGER NOT NULL,
    ended_at    INTEGER
);
CREATE INDEX delivery_due ON delivery (webhook, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX delivery_line ON delivery (webhook, line, number) WHERE state = 'pending';
CREATE INDEX delivery_list ON delivery (webhook, state, number);
