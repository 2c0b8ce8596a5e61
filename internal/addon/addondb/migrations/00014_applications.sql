-- A verification waits for the store as the application in which the purchase was made, also when the settings name another one.
ALTER TABLE queued_verifications ADD COLUMN application text NOT NULL DEFAULT '';

-- A notification of an earlier application is of purchases that are known.
CREATE INDEX purchases_by_application ON purchases (application);

-- Both are by application from now on. An alert whose cause is still there opens again.
UPDATE alerts SET resolved_at = last_at WHERE kind = 'store_not_authorised' AND subject = '' AND resolved_at IS NULL;
DELETE FROM meta WHERE name = 'iap_voided_until';
