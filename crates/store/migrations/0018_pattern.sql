-- The calls that the answer `always` to a question covers.
ALTER TABLE question ADD COLUMN pattern TEXT;
