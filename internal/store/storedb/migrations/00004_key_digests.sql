-- The digests of imported keys are keyed with the key file, which a migration does not
-- have: the store does that once, when it is prepared.
INSERT INTO meta (name, value) VALUES ('key_digests', 'plain');
