-- Columns of the board list the newest task of a priority first.
DROP INDEX task_board;
CREATE INDEX task_board ON task (state, priority, number DESC);
