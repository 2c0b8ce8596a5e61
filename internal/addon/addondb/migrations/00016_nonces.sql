-- +goose Up
-- The nonces of signed calls, by which no process serves a call a second time. A row is deleted when its call is too old
-- for every clock.
CREATE TABLE nonces (
    digest     text PRIMARY KEY, -- of the credential and the nonce
    expires_at text NOT NULL
);
