-- The same text on both engines: SQLite takes a bytea as a blob. Both indexes hold all that a search and a sum read of
-- the blocks that they leave out.
CREATE TABLE request_blocks (
    first_id bigint NOT NULL,
    last_id  bigint NOT NULL,
    calls    bigint NOT NULL,
    filter   bytea  NOT NULL,
    data     bytea  NOT NULL,
    PRIMARY KEY (first_id, last_id)
);
CREATE INDEX request_blocks_last ON request_blocks (last_id, first_id, calls);

CREATE TABLE request_sums (
    workspace_id bigint NOT NULL,
    day          bigint NOT NULL,
    result       text   NOT NULL,
    hours        bytea  NOT NULL,
    keys         bytea  NOT NULL,
    items        bytea  NOT NULL,
    PRIMARY KEY (workspace_id, day, result)
);

-- It is that of the log before.
CREATE TABLE IF NOT EXISTS request_gaps (
    from_at  text   NOT NULL,
    until_at text   NOT NULL,
    calls    bigint NOT NULL
);
