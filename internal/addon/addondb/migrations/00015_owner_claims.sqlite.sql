-- +goose Up
-- Users who presented a purchase that nobody owns and that another backend made: the site decides.
CREATE TABLE owner_claims (
    purchase_id bigint NOT NULL REFERENCES purchases (id),
    user_id     text NOT NULL,
    refused     boolean NOT NULL,
    claimed_at  text NOT NULL,
    PRIMARY KEY (purchase_id, user_id)
);
CREATE INDEX owner_claims_by_user ON owner_claims (user_id);
