-- A kept purchase code is bound to one store; those that are there to the one that was saved.
ALTER TABLE purchase_codes ADD COLUMN store text NOT NULL DEFAULT '';
UPDATE purchase_codes SET store = coalesce((SELECT value FROM meta WHERE name = 'addon_store'), '');

-- Two stores may give their licenses the same name.
CREATE TABLE new_licenses (
    id              integer PRIMARY KEY AUTOINCREMENT,
    license_id      text NOT NULL, -- the store's name for it
    code_id         bigint NOT NULL REFERENCES purchase_codes (id),
    domain          text NOT NULL,
    domains         text NOT NULL, -- those that it opens for
    item_id         bigint NOT NULL,
    item_name       text NOT NULL,
    license_type    text NOT NULL,
    supported_until text,
    issued_at       text NOT NULL,
    made_at         text NOT NULL,
    moved_at        text,
    checked_at      text,
    answer          text NOT NULL, -- the store's last answer whether it is good, '' while it was not asked
    file            text NOT NULL,
    UNIQUE (code_id, license_id)
);
INSERT INTO new_licenses (id, license_id, code_id, domain, domains, item_id, item_name, license_type, supported_until, issued_at, made_at, moved_at, checked_at, answer, file)
SELECT id, license_id, code_id, domain, domains, item_id, item_name, license_type, supported_until, issued_at, made_at, moved_at, checked_at, answer, file FROM licenses;
DROP TABLE licenses;
ALTER TABLE new_licenses RENAME TO licenses;
