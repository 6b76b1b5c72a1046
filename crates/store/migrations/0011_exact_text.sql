-- Texts that had secrets in them, as they were written: for the addressee alone, and for a day at most.
-- Everywhere else in the record the secrets are redacted.
CREATE TABLE exact_text (
    -- What the text belongs to: the id of a mail, a task or an agent, or `loop:<number>`, `plan:<number>`.
    subject TEXT NOT NULL,
    field   TEXT NOT NULL,
    text    TEXT NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (subject, field)
);
CREATE INDEX exact_text_at ON exact_text (at);
