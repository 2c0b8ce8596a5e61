-- Who invited; NULL is the operator. An invitation works while that user could still make it.
ALTER TABLE invitations ADD COLUMN inviter bigint REFERENCES users ON DELETE CASCADE;

UPDATE invitations SET inviter = (SELECT u.id FROM users u WHERE u.email = invitations.invited_by);

-- Those of users who have another e-mail by now, or were removed: nobody else's has an @.
DELETE FROM invitations WHERE inviter IS NULL AND invited_by LIKE '%@%';

CREATE INDEX invitations_of_inviter ON invitations (inviter);
