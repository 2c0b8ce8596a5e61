-- +goose Up
-- Files that were uploaded and wait for somebody to say how they are to be imported. name is
-- that of the file in the data folder; options is how it was tried last.
CREATE TABLE import_uploads (
    id           integer PRIMARY KEY AUTOINCREMENT,
    workspace_id bigint NOT NULL REFERENCES workspaces,
    name         text NOT NULL,
    size         bigint NOT NULL,
    options      text NOT NULL,
    created_at   text NOT NULL
);
