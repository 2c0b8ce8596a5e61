ALTER TABLE audit ADD COLUMN before text NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN after text NOT NULL DEFAULT '';

CREATE TABLE users (
    id           integer PRIMARY KEY AUTOINCREMENT,
    email        text NOT NULL UNIQUE,
    password     text NOT NULL,   -- argon2id
    generation   bigint NOT NULL, -- sessions of earlier ones are over
    is_first     boolean NOT NULL,
    totp         blob,            -- sealed; NULL: signing in asks for no code
    totp_pending blob,            -- sealed, waits for its first code
    totp_step    bigint NOT NULL, -- the last time step whose code was used
    created_at   text NOT NULL,
    password_at  text NOT NULL,
    signed_in_at text
);

-- Two first administrators at once are one too many.
CREATE UNIQUE INDEX first_user ON users (is_first) WHERE is_first;

CREATE TABLE sessions (
    id         integer PRIMARY KEY AUTOINCREMENT,
    digest     blob NOT NULL UNIQUE,
    user_id    bigint REFERENCES users,
    generation bigint NOT NULL,
    data       blob NOT NULL,
    address    text NOT NULL,
    agent      text NOT NULL,
    created_at text NOT NULL,
    seen_at    text NOT NULL,
    expires_at text NOT NULL,
    ended_at   text -- ended rows stay until they expire, or a late save would revive them
);

CREATE INDEX sessions_of_user ON sessions (user_id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

CREATE TABLE links (
    digest     blob PRIMARY KEY,
    purpose    text NOT NULL,
    user_id    bigint REFERENCES users,
    expires_at text NOT NULL,
    used_at    text
);

CREATE TABLE recovery_codes (
    user_id bigint NOT NULL REFERENCES users,
    digest  blob NOT NULL,
    PRIMARY KEY (user_id, digest)
);
