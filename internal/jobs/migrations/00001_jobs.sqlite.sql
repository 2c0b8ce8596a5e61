-- Work that outlives the request that asked for it, and a restart. lease names the run
-- that works on a job until lease_until.
CREATE TABLE jobs (
    id          integer PRIMARY KEY AUTOINCREMENT,
    kind        text NOT NULL,
    payload     text NOT NULL,
    state       text NOT NULL, -- queued, running, done, failed, cancelled
    attempts    bigint NOT NULL,
    run_at      text NOT NULL,
    lease       text NOT NULL,
    lease_until text,
    progress    text NOT NULL,
    result      text NOT NULL,
    error       text NOT NULL,
    created_at  text NOT NULL,
    ended_at    text
);

CREATE INDEX jobs_open ON jobs (id) WHERE ended_at IS NULL;
