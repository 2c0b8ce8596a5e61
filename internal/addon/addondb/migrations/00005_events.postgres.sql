-- What happened to memberships and purchases, in the order of commits: a transaction that adds
-- an event locks the row of event_head until it ends.
CREATE TABLE event_head (
    id   bigint PRIMARY KEY CHECK (id = 1),
    last bigint NOT NULL
);
INSERT INTO event_head (id, last) VALUES (1, 0);

CREATE TABLE events (
    seq        bigint PRIMARY KEY,
    event_id   text COLLATE "C" NOT NULL UNIQUE,
    type       text NOT NULL,
    created_at text NOT NULL,
    body       text NOT NULL -- JSON, as receivers get it
);
CREATE INDEX events_by_time ON events (created_at);

-- Addresses of the site that receive events. paused_for is why one is paused, '' for one
-- that is not.
CREATE TABLE webhooks (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    url           text NOT NULL,
    types         text NOT NULL, -- JSON list, empty for all
    secret_sealed bytea NOT NULL,
    old_sealed    bytea NOT NULL, -- the secret before the last rotation
    old_until     text,
    paused_for    text NOT NULL,
    paused_at     text,
    failing_since text,
    created_at    text NOT NULL,
    rotated_at    text
);

-- What became of an event at a webhook.
CREATE TABLE deliveries (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
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
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    delivery bigint NOT NULL,
    at       text NOT NULL,
    status   bigint NOT NULL, -- of the response, 0 for none
    took_ms  bigint NOT NULL,
    excerpt  text NOT NULL
);
CREATE INDEX delivery_attempts_of ON delivery_attempts (delivery, id);
