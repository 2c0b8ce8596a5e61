-- The purchase that took the place of a token, 0 for none: also of tokens that lie behind the one
-- that it replaces, and of which nobody has told the addon yet.
CREATE TABLE token_successors (
    token_digest bytea PRIMARY KEY,
    successor    bigint NOT NULL
);
CREATE INDEX token_successors_by_successor ON token_successors (successor);
INSERT INTO token_successors (token_digest, successor) SELECT linked_digest, max(id) FROM purchases WHERE retires AND linked_digest IS NOT NULL GROUP BY linked_digest;
DROP INDEX purchases_by_linked;
