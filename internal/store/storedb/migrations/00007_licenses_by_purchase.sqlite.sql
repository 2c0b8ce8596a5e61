-- Licenses refer to a purchase by its id, which no new key file changes. claim is what
-- the license's file says of the purchase: NULL for the name that this key file makes
-- of its code; a new key file keeps the one of the old.
CREATE TABLE licenses_by_id (
    id          text PRIMARY KEY NOT NULL,
    purchase_id bigint NOT NULL,
    domain      text NOT NULL,
    wildcard    boolean NOT NULL,
    free        boolean NOT NULL,
    issued_at   text NOT NULL,
    ended       text NOT NULL,
    ended_at    text,
    claim       text
) WITHOUT ROWID;

INSERT INTO licenses_by_id (id, purchase_id, domain, wildcard, free, issued_at, ended, ended_at)
SELECT l.id, p.id, l.domain, l.wildcard, l.free, l.issued_at, l.ended, l.ended_at
FROM licenses l LEFT JOIN purchases p ON p.code_digest = l.code_digest ORDER BY l.id;
DROP TABLE licenses;
ALTER TABLE licenses_by_id RENAME TO licenses;

CREATE UNIQUE INDEX licenses_of_purchase ON licenses (purchase_id, domain, (CASE WHEN ended = '' THEN '' ELSE id END));
CREATE INDEX licenses_by_date ON licenses (issued_at, id);
