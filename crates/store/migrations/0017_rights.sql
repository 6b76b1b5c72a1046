-- What agents may do, as JSON, each time that the settings said something else. A live agent is bound by the rights at its
-- beginning and by all later ones.
CREATE TABLE rights (
    number      INTEGER PRIMARY KEY,
    body        TEXT NOT NULL,
    recorded_at INTEGER NOT NULL
);

ALTER TABLE agent ADD COLUMN rights INTEGER NOT NULL DEFAULT 0;
