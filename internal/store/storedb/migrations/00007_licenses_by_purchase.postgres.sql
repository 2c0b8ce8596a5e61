-- The next purchase's id. SQLite, with its one writer, counts on from the last one.
CREATE SEQUENCE purchase_ids OWNED BY purchases.id;
SELECT setval('purchase_ids', coalesce((SELECT max(id) FROM purchases), 0) + 1, false);

-- Licenses refer to a purchase by its id, which no new key file changes. claim is what
-- the license's file says of the purchase: NULL for the name that this key file makes
-- of its code; a new key file keeps the one of the old.
ALTER TABLE licenses ADD COLUMN purchase_id bigint, ADD COLUMN claim text;
UPDATE licenses SET purchase_id = p.id FROM purchases p WHERE p.code_digest = licenses.code_digest;
ALTER TABLE licenses ALTER COLUMN purchase_id SET NOT NULL;
DROP INDEX licenses_of_purchase;
ALTER TABLE licenses DROP COLUMN code_digest;

CREATE UNIQUE INDEX licenses_of_purchase ON licenses (purchase_id, domain, (CASE WHEN ended = '' THEN '' ELSE id END));
