-- What happened to memberships and purchases, in the order of commits: a transaction that adds
-- an event locks the row of event_head until it ends.
CREATE TABLE event_head (
    id   integer PRIMARY KEY CHECK (id = 1),
    last bigint NOT NULL
);
INSERT INTO event_head (id, last) VALUES (1, 0);

CREATE TABLE events (
    seq        integer PRIMARY KEY,
    event_id   text NOT NULL UNIQUE,
    type       text NOT NULL,
    created_at text NOT NULL,
    body       text NOT NULL -- JSON, as receivers get it
);
CREATE INDEX events_by_time ON events (created_at);

-- Addresses of the site that receive events. paused_for is why one is paused, '' for one
-- that is not.
CREATE TABLE webhooks (
    id            integer PRIMARY KEY AUTOINCREMENT,
    url           text NOT NULL,
    types         text NOT NULL, -- JSON list, empty for all
    secret_sealed blob NOT NULL,
    old_sealed    blob NOT NULL, -- the secret before the last rotation
    old_until     text,
    paused_for    text NOT NULL,
    paused_at     text,
    failing_since text,
    created_at    text NOT NULL,
    rotated_at    text
);

-- What became of an event at a webhook.
CREATE TABLE deliveries (
    id         integer PRIMARY KEY AUTOINCREMENT,
    event      bigint NOT NULL,
    webhook    bigint NOT NULL,
    state      text NOT NULL, -- pending, held, delivered, failed
    attempts   bigint NOT NULL,
    next_at    text,
    created_at text NOT NULL,
    ended_at   text,
    UNIQUE (event, webhook)
);
CREATE INDEX deliveries_of_webhook ON deliveries (webhook, id);

CREATE TABLE delivery_attempts (
    id       integer PRIMARY KEY AUTOINCREMENT,
    delivery bigint NOT NULL,
    at       text NOT NULL,
    status   bigint NOT NULL, -- of the response, 0 for none
    took_ms  bigint NOT NULL,
    excerpt  text NOT NULL
);
CREATE INDEX delivery_attempts_of ON delivery_attempts (delivery, id);
