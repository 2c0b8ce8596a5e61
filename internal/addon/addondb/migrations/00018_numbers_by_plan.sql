-- +goose Up
-- Sums by product and base plan. What was counted before this has neither.
ALTER TABLE numbers RENAME TO numbers_of_all;
CREATE TABLE numbers (
    day      text NOT NULL,
    measure  text NOT NULL,
    currency text NOT NULL,
    product  text NOT NULL, -- '' for money, and for what was counted before
    plan     text NOT NULL,
    part     bigint NOT NULL,
    value    bigint NOT NULL,
    PRIMARY KEY (day, measure, currency, product, plan, part)
);
INSERT INTO numbers (day, measure, currency, product, plan, part, value) SELECT day, measure, currency, '', '', part, value FROM numbers_of_all;
DROP TABLE numbers_of_all;

-- The purchases of now move from the sums without a product to those of their product.
INSERT INTO numbers (day, measure, currency, product, plan, part, value)
SELECT substr(p.status_since, 1, 10), p.status, '', i.product_id, i.base_plan_id, 0, count(*)
FROM purchases p JOIN purchase_items i ON i.purchase_id = p.id
    AND i.position = coalesce((SELECT min(c.position) FROM purchase_items c WHERE c.purchase_id = p.id AND c.counts AND c.package_id <> 0), 0)
WHERE p.environment = 'production' AND p.superseded_by IS NULL AND p.status IN ('active', 'grace', 'on_hold')
GROUP BY substr(p.status_since, 1, 10), p.status, i.product_id, i.base_plan_id;
INSERT INTO numbers (day, measure, currency, product, plan, part, value)
SELECT day, measure, '', '', '', 0, -sum(value) FROM numbers WHERE product <> '' GROUP BY day, measure
ON CONFLICT (day, measure, currency, product, plan, part) DO UPDATE SET value = numbers.value + excluded.value;

-- The base plans of the store's catalogue.
CREATE TABLE plans (
    product_id   text NOT NULL,
    base_plan_id text NOT NULL,
    period       text NOT NULL, -- between two payments, in ISO 8601
    PRIMARY KEY (product_id, base_plan_id)
);
