-- run_at is when a job may be begun next. While a job runs, that is the end of its lease.
UPDATE jobs SET run_at = lease_until WHERE state = 'running' AND lease_until IS NOT NULL;
ALTER TABLE jobs DROP COLUMN lease_until;

-- A kind has one open job of each key, '' for jobs without one. again_at is set when
-- somebody asks for a job that runs: it is run once more, from then.
ALTER TABLE jobs ADD COLUMN key text NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN again_at text;

-- failures is the position in the schedule of the kind. interrupted counts the runs since
-- the last failure whose process died.
ALTER TABLE jobs ADD COLUMN failures bigint NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN interrupted bigint NOT NULL DEFAULT 0;

DROP INDEX jobs_open;
CREATE INDEX jobs_due ON jobs (kind, run_at, id) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX jobs_by_key ON jobs (kind, key) WHERE ended_at IS NULL AND key <> '';
