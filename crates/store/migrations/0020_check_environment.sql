-- What the person had in the shell who approved work in review, as JSON: names of variables, and of some a fingerprint.
-- The values are in the memory of the server alone.
CREATE TABLE check_environment (
    task_id TEXT PRIMARY KEY,
    body    TEXT NOT NULL
);

-- Names of the variables that the server had for a loop's hooks when a person last started it, as a JSON array.
ALTER TABLE loop ADD COLUMN environment TEXT NOT NULL DEFAULT '[]';
