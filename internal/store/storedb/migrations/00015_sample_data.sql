-- The workspace whose sample data an import is: it can be undone at any time. 0 is another import.
ALTER TABLE imports ADD COLUMN sample_of bigint NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX imports_sample ON imports (sample_of) WHERE sample_of <> 0;
