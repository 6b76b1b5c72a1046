-- The last version of each role that could be read, as JSON. Agents of a role whose file is broken or gone keep its rules.
CREATE TABLE role_snapshot (
    name       TEXT PRIMARY KEY,
    body       TEXT NOT NULL,
    updated_at INTEGER NOT NULL
);
