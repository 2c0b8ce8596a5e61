-- The events of a user are found without their bodies.
ALTER TABLE events ADD COLUMN user_id text NOT NULL DEFAULT '';
UPDATE events SET user_id = coalesce(json_extract(body, '$.user_id'), '');
CREATE INDEX events_by_user ON events (user_id, seq);

-- Customers are listed by their last change, all of them or those of a status.
CREATE INDEX memberships_by_change ON memberships (updated_at, user_id);
CREATE INDEX memberships_by_status ON memberships (status, updated_at, user_id);

-- An erasure finds the notifications about a token.
CREATE INDEX inbox_by_token ON inbox (token_digest);
