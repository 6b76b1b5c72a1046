-- What an agent without a cap of its own holds of the caps above it until it ends.
ALTER TABLE budget ADD COLUMN reserved_nanos INTEGER;
ALTER TABLE budget ADD COLUMN reserved_tokens INTEGER;

-- Earlier versions stored whatever an agent claimed to have used, and one absurd figure made every sum
-- fail. An amount that nobody can have spent becomes the most that one report may claim today: a
-- million dollars, a thousand million tokens.
UPDATE spend SET nanos = 1000000000000000 WHERE nanos > 1000000000000000;
UPDATE spend SET nanos = 0 WHERE nanos < -1000000000000000;
UPDATE spend SET tokens_in = 1000000000 WHERE tokens_in > 1000000000000000;
UPDATE spend SET tokens_out = 1000000000 WHERE tokens_out > 1000000000000000;
UPDATE spend SET cache_read = 1000000000 WHERE cache_read > 1000000000000000;
UPDATE spend SET cache_write = 1000000000 WHERE cache_write > 1000000000000000;

UPDATE run SET cost_nanos = 1000000000000000 WHERE cost_nanos > 1000000000000000;
UPDATE run SET cost_nanos = 0 WHERE cost_nanos < 0;
UPDATE run SET tokens_in = 1000000000 WHERE tokens_in > 1000000000000000;
UPDATE run SET tokens_out = 1000000000 WHERE tokens_out > 1000000000000000;
UPDATE run SET cache_read = 1000000000 WHERE cache_read > 1000000000000000;
UPDATE run SET cache_write = 1000000000 WHERE cache_write > 1000000000000000;

UPDATE budget SET spent_nanos = 1000000000000000 WHERE spent_nanos > 1000000000000000;
UPDATE budget SET spent_nanos = 0 WHERE spent_nanos < 0;
UPDATE budget SET spent_tokens = 1000000000 WHERE spent_tokens > 1000000000000000;

UPDATE iteration SET spent_nanos = 1000000000000000 WHERE spent_nanos > 1000000000000000;
UPDATE iteration SET spent_nanos = 0 WHERE spent_nanos < 0;
