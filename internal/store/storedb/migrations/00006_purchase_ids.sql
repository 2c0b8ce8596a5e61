-- A purchase's stable id. Those that are there get theirs in portions before the next
-- step (purchaseids.go), in the order of their digests, so that the index grows at its
-- end. It leaves rows without an id out, so that it is empty until then.
ALTER TABLE purchases ADD COLUMN id bigint;
CREATE UNIQUE INDEX purchases_by_id ON purchases (id) WHERE id IS NOT NULL;
