-- Commits that the record names and no branch reaches any more, as a person has accepted.
CREATE TABLE lost_commit (
    hash       TEXT PRIMARY KEY,
    settled_at INTEGER NOT NULL
);
