-- The purchase that a user manages at the store: also one that is paid beside a grant.
ALTER TABLE memberships ADD COLUMN purchase_id bigint NOT NULL DEFAULT 0;
UPDATE memberships SET purchase_id = source_id WHERE source = 'store';
