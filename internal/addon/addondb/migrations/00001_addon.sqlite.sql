CREATE TABLE definitions (
    name          text PRIMARY KEY,
    kind          text NOT NULL,
    secret        boolean NOT NULL,
    fallback      text NOT NULL, -- the default value
    registered_at text NOT NULL
);

CREATE TABLE draft (
    id       integer PRIMARY KEY CHECK (id = 1),
    revision bigint NOT NULL
);

CREATE TABLE settings (
    name  text PRIMARY KEY,
    kind  text NOT NULL,
    value text NOT NULL
);

CREATE TABLE versions (
    number       integer PRIMARY KEY CHECK (number > 0),
    published_at text NOT NULL,
    actor_kind   text NOT NULL,
    actor        text NOT NULL,
    face         text NOT NULL,
    note         text NOT NULL,
    restored     bigint NOT NULL, -- the version that was brought back, 0 for none
    settings     text NOT NULL,
    body         text NOT NULL    -- the public settings as the apps receive them
);

CREATE TABLE service_accounts (
    id           integer PRIMARY KEY AUTOINCREMENT,
    client_email text NOT NULL,
    project      text NOT NULL,
    fingerprint  text NOT NULL,
    sealed       blob NOT NULL,
    set_at       text NOT NULL
);

CREATE TABLE packages (
    id   integer PRIMARY KEY CHECK (id > 0),
    name text NOT NULL,
    rank bigint NOT NULL,
    paid boolean NOT NULL
);

CREATE TABLE credentials (
    id             integer PRIMARY KEY AUTOINCREMENT,
    label          text NOT NULL UNIQUE,
    key_digest     blob NOT NULL UNIQUE,
    key_hint       text NOT NULL,
    key_sealed     blob NOT NULL,
    key_active     boolean NOT NULL,
    secret_hint    text NOT NULL,
    secret_sealed  blob NOT NULL,
    secret_active  boolean NOT NULL,
    created_at     text NOT NULL,
    rotated_at     text,
    last_used_at   text,
    last_used_from text NOT NULL,
    used_count     bigint NOT NULL
);
