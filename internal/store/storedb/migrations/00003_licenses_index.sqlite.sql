-- A new license writes as few pages as can be: the table is in the order of the
-- ids, which begin with their time, and one index finds the licenses of a purchase
-- and keeps out a second one in use for a domain.
CREATE TABLE licenses_by_id (
    id          text PRIMARY KEY NOT NULL,
    code_digest bigint NOT NULL,
    domain      text NOT NULL,
    wildcard    boolean NOT NULL,
    free        boolean NOT NULL,
    issued_at   text NOT NULL,
    ended       text NOT NULL,
    ended_at    text
) WITHOUT ROWID;

INSERT INTO licenses_by_id SELECT id, code_digest, domain, wildcard, free, issued_at, ended, ended_at FROM licenses ORDER BY id;
DROP TABLE licenses;
ALTER TABLE licenses_by_id RENAME TO licenses;

CREATE UNIQUE INDEX licenses_of_purchase ON licenses (code_digest, domain, (CASE WHEN ended = '' THEN '' ELSE id END));
CREATE INDEX licenses_by_date ON licenses (issued_at, id);
