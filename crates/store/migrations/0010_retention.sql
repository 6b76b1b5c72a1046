-- Parts of the audit chain that were moved into archives. Each entry repeats what its own row of the
-- chain says; what is left of the chain begins behind the newest one.
CREATE TABLE audit_checkpoint (
    -- The last row in the archive, and its hash.
    last_row  INTEGER PRIMARY KEY,
    last_hash TEXT NOT NULL,
    first_row INTEGER NOT NULL,
    -- Name and SHA-256 of the archive file.
    archive   TEXT NOT NULL,
    sha256    TEXT NOT NULL,
    -- The row of the chain that records the cut.
    audit_row INTEGER NOT NULL
);

-- Events up to this number may have been removed.
CREATE TABLE event_floor (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    number INTEGER NOT NULL
);

CREATE INDEX delivery_delivered ON delivery (ended_at) WHERE state = 'delivered';
