-- What an undo needs to know of the parts that stay.
ALTER TABLE refunded_parts ADD COLUMN charged_back boolean NOT NULL DEFAULT false; -- by the buyer's bank
-- The state_at of the purchase that its parts have ended, '' for none. NULL if they have not ended it.
ALTER TABLE refunded_parts ADD COLUMN ended_at text;
