-- What a job belongs to, 0 for nothing. Jobs from before name it in their payload.
ALTER TABLE jobs ADD COLUMN scope bigint NOT NULL DEFAULT 0;
UPDATE jobs SET scope = coalesce(json_extract(payload, '$.workspace_id'), 0);
CREATE INDEX jobs_by_scope ON jobs (scope, kind, id);
