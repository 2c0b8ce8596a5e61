-- Purchases of one-time products. Of their items, days is what one grants, 0 for ever, and quantity how many were bought
-- and not refunded. Both are 0 for subscriptions.
ALTER TABLE purchases ADD COLUMN one_time boolean NOT NULL DEFAULT false;
ALTER TABLE purchase_items ADD COLUMN days bigint NOT NULL DEFAULT 0;
ALTER TABLE purchase_items ADD COLUMN quantity bigint NOT NULL DEFAULT 0;
