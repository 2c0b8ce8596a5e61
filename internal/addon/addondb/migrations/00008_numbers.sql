-- What happened to purchases of the real store, without test purchases, by day (UTC). The measures
-- active, grace and on_hold are changes of the number of purchases in that state; revenue and
-- refunds are in hundredths of their currency, the others count and have the currency ''.
CREATE TABLE numbers (
    day      text NOT NULL, -- 2026-01-31
    measure  text NOT NULL,
    currency text NOT NULL,
    value    bigint NOT NULL,
    PRIMARY KEY (day, measure, currency)
);

-- Orders of the real store, without test purchases, and what was paid for them.
CREATE TABLE orders (
    order_id    text PRIMARY KEY,
    purchase_id bigint NOT NULL,
    seen_at     text NOT NULL,
    read_at     text,            -- NULL while it has to be read
    tries       bigint NOT NULL, -- readings that failed
    day         text NOT NULL,   -- on which it was paid, '' before it was read
    currency    text NOT NULL,
    amount      bigint NOT NULL, -- in hundredths
    refunded    bigint NOT NULL,
    refund_day  text NOT NULL    -- '' for none
);
CREATE INDEX orders_unread ON orders (seen_at) WHERE read_at IS NULL;
CREATE INDEX orders_of_purchase ON orders (purchase_id);

INSERT INTO orders (order_id, purchase_id, seen_at, tries, day, currency, amount, refunded, refund_day)
SELECT h.order_id, min(h.purchase_id), min(h.at), 0, '', '', 0, 0, '' FROM purchase_history h JOIN purchases p ON p.id = h.purchase_id
WHERE h.order_id <> '' AND p.environment = 'production' GROUP BY h.order_id;

INSERT INTO numbers (day, measure, currency, value)
SELECT substr(status_since, 1, 10), status, '', count(*) FROM purchases
WHERE environment = 'production' AND superseded_by IS NULL AND status IN ('active', 'grace', 'on_hold') GROUP BY substr(status_since, 1, 10), status;

INSERT INTO numbers (day, measure, currency, value)
SELECT substr(created_at, 1, 10), 'new', '', count(*) FROM purchases
WHERE environment = 'production' AND NOT retires AND status NOT IN ('pending', 'failed') GROUP BY substr(created_at, 1, 10);
