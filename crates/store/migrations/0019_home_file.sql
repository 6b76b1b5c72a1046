-- Configuration, roles and templates of a home in PostgreSQL, which no server's disk has for the others. On one machine
-- they are files, and this is empty.
CREATE TABLE home_file (
    path       TEXT PRIMARY KEY,
    body       BLOB NOT NULL,
    changed_at INTEGER NOT NULL
);

-- What all servers of a home have to know, such as the hash of the operator's token.
CREATE TABLE home_value (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

-- The machine that has the run folder of the present attempt; absent on one machine.
ALTER TABLE run ADD COLUMN machine TEXT;
