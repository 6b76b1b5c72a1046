-- Whether approved work is merged as one commit.
ALTER TABLE merge ADD COLUMN squash INTEGER NOT NULL DEFAULT 0;
