-- The calls themselves are in a table for each part, see parts.go.
CREATE TABLE request_parts (
    first_id integer PRIMARY KEY,
    end_id   integer NOT NULL,
    calls    integer NOT NULL
);

CREATE TABLE request_counts (
    workspace_id integer NOT NULL,
    hour         integer NOT NULL,
    item_id      integer NOT NULL,
    key_id       integer NOT NULL,
    result       text    NOT NULL,
    calls        integer NOT NULL,
    PRIMARY KEY (workspace_id, hour, item_id, key_id, result)
) WITHOUT ROWID;

CREATE TABLE request_days (
    workspace_id integer NOT NULL,
    subject      integer NOT NULL,
    day          integer NOT NULL,
    subject_id   integer NOT NULL,
    result       text    NOT NULL,
    calls        integer NOT NULL,
    PRIMARY KEY (workspace_id, subject, day, subject_id, result)
) WITHOUT ROWID;

CREATE TABLE request_days_done (
    day integer PRIMARY KEY
);

CREATE TABLE request_gaps (
    from_at  text    NOT NULL,
    until_at text    NOT NULL,
    calls    integer NOT NULL
);
