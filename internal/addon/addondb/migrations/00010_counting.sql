-- Transactions that add to one row wait for each other's commit on PostgreSQL. Each sum is the
-- total of its parts.
ALTER TABLE numbers RENAME TO whole_numbers;
CREATE TABLE numbers (
    day      text NOT NULL,
    measure  text NOT NULL,
    currency text NOT NULL,
    part     bigint NOT NULL,
    value    bigint NOT NULL,
    PRIMARY KEY (day, measure, currency, part)
);
INSERT INTO numbers (day, measure, currency, part, value) SELECT day, measure, currency, 0, value FROM whole_numbers;
DROP TABLE whole_numbers;

-- From when on an order may be read: one that the store did not return waits.
ALTER TABLE orders RENAME COLUMN seen_at TO due_at;
