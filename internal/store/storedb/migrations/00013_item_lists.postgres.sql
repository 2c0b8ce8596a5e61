-- +goose Up
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
