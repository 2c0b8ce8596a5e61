-- One index finds the licenses of a purchase and keeps out a second one in use for a
-- domain.
DROP INDEX licenses_in_use;
DROP INDEX licenses_of_purchase;
CREATE UNIQUE INDEX licenses_of_purchase ON licenses (code_digest, domain, (CASE WHEN ended = '' THEN '' ELSE id END));
