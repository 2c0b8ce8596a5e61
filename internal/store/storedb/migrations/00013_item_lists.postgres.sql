-- Files that were uploaded and wait for somebody to say how they are to be imported. name is
-- that of the file in the data folder; options is how it was tried last.
CREATE TABLE import_uploads (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    workspace_id bigint NOT NULL REFERENCES workspaces,
    name         text NOT NULL,
    size         bigint NOT NULL,
    options      text NOT NULL,
    created_at   text NOT NULL
);

-- Orders of the list of items.
CREATE INDEX items_by_name ON items (workspace_id, lower(name), id);
CREATE INDEX items_by_price ON items (workspace_id, regular, id);
CREATE INDEX items_by_publication ON items (workspace_id, published_at, id);

-- What became of the versions of items. number counts those of an item from 1 on.
CREATE TABLE item_versions (
    item_id bigint NOT NULL REFERENCES items ON DELETE CASCADE,
    number  bigint NOT NULL,
    version text NOT NULL,
    at      text NOT NULL,
    actor   text NOT NULL,
    notes   text NOT NULL,
    PRIMARY KEY (item_id, number)
);
-- Who set the versions of now, and when, is not known; the item was published then.
INSERT INTO item_versions (item_id, number, version, at, actor, notes)
    SELECT id, 1, version, published_at, '', '' FROM items WHERE version <> '';

-- The history of an item or a purchase is a part of the audit log.
CREATE INDEX audit_by_subject ON audit (subject, id);

-- Purchases are found by the beginning of a buyer's name or e-mail address.
ALTER TABLE purchases ALTER COLUMN buyer_name TYPE text COLLATE "C", ALTER COLUMN buyer_email TYPE text COLLATE "C";
CREATE INDEX purchases_by_buyer_name ON purchases (workspace_id, lower(buyer_name), sold_at DESC) WHERE buyer_name <> '';
CREATE INDEX purchases_by_buyer_email ON purchases (workspace_id, lower(buyer_email), sold_at DESC) WHERE buyer_email <> '';
