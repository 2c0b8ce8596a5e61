-- Uploaded files. What they hold is in a folder or a bucket, under their names.
CREATE TABLE media (
    name         text PRIMARY KEY, -- random, never that of the client
    workspace_id bigint NOT NULL REFERENCES workspaces,
    kind         text NOT NULL,    -- picture, audio, video; file is private
    type         text NOT NULL,    -- the media type with which it is served
    size         bigint NOT NULL,  -- bytes
    digest       text NOT NULL,    -- SHA-256, in hex
    width        bigint NOT NULL,  -- pixels; 0 for what is not a picture
    height       bigint NOT NULL,
    title        text NOT NULL,    -- what a file is called for those who download it
    item_id      bigint UNIQUE REFERENCES items ON DELETE SET NULL, -- whose file it is
    created_at   text NOT NULL,
    unused_since text              -- when it was first seen that nothing refers to it
);

-- Links by which buyers download the file of an item.
CREATE TABLE download_links (
    digest        text PRIMARY KEY, -- of its token
    purchase_id   bigint NOT NULL,  -- no foreign key, as with licenses
    created_at    text NOT NULL,
    created_by    text NOT NULL,
    expires_at    text NOT NULL,
    downloaded_at text              -- when it was first used
);

CREATE INDEX download_links_of_purchase ON download_links (purchase_id, created_at);
