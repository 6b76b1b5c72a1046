-- The order in which agents were asked for. It was that of SQLite's own row numbers, which a copy need not keep.
ALTER TABLE slack_order ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
UPDATE slack_order SET number = numbered.number
    FROM (SELECT agent, ROW_NUMBER() OVER (ORDER BY rowid) AS number FROM slack_order) AS numbered
    WHERE numbered.agent = slack_order.agent;
CREATE UNIQUE INDEX slack_order_number ON slack_order (number);
DROP INDEX slack_order_thread;
CREATE INDEX slack_order_thread ON slack_order (thread, number);
