-- Events that limits count, by network or by the name of a code, until ends_at
-- (milliseconds since 1970).
CREATE TABLE limits (
    name    text PRIMARY KEY NOT NULL,
    n       bigint NOT NULL,
    ends_at bigint NOT NULL
) WITHOUT ROWID;
