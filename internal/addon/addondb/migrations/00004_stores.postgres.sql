-- A kept purchase code is bound to one store; those that are there to the one that was saved.
ALTER TABLE purchase_codes ADD COLUMN store text NOT NULL DEFAULT '';
UPDATE purchase_codes SET store = coalesce((SELECT value FROM meta WHERE name = 'addon_store'), '');

-- Two stores may give their licenses the same name.
ALTER TABLE licenses DROP CONSTRAINT licenses_license_id_key;
ALTER TABLE licenses ADD UNIQUE (code_id, license_id);
