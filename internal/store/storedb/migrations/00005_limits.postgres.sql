-- Events that limits count, by network or by the name of a code, until ends_at
-- (milliseconds since 1970). Unlogged: they are not worth waiting for a disk or a
-- standby, and a crash of the database may forget them.
CREATE UNLOGGED TABLE limits (
    name    text PRIMARY KEY,
    n       bigint NOT NULL,
    ends_at bigint NOT NULL
);
