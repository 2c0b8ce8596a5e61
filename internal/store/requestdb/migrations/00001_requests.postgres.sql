CREATE TABLE request_parts (
    first_id bigint PRIMARY KEY,
    end_id   bigint NOT NULL,
    calls    bigint NOT NULL
);

CREATE TABLE requests (
    id           bigint NOT NULL,
    workspace_id bigint NOT NULL,
    key_id       bigint NOT NULL,
    item_id      bigint NOT NULL,
    purchase_id  bigint NOT NULL,
    endpoint     text   NOT NULL,
    method       text   NOT NULL,
    status       bigint NOT NULL,
    reason       text   NOT NULL,
    micros       bigint NOT NULL,
    address      text   NOT NULL,
    agent        text   NOT NULL,
    sent         text   NOT NULL
) PARTITION BY RANGE (id);
CREATE INDEX requests_id ON requests (id);

CREATE TABLE request_slots (
    kind  bigint NOT NULL,
    value bigint NOT NULL,
    slot  bigint NOT NULL,
    PRIMARY KEY (kind, value, slot)
) PARTITION BY RANGE (slot);

CREATE TABLE request_counts (
    workspace_id bigint NOT NULL,
    hour         bigint NOT NULL,
    item_id      bigint NOT NULL,
    key_id       bigint NOT NULL,
    result       text   NOT NULL,
    calls        bigint NOT NULL,
    PRIMARY KEY (workspace_id, hour, item_id, key_id, result)
);

CREATE TABLE request_days (
    workspace_id bigint NOT NULL,
    subject      bigint NOT NULL,
    day          bigint NOT NULL,
    subject_id   bigint NOT NULL,
    result       text   NOT NULL,
    calls        bigint NOT NULL,
    PRIMARY KEY (workspace_id, subject, day, subject_id, result)
);

CREATE TABLE request_days_done (
    day bigint PRIMARY KEY
);

CREATE TABLE request_gaps (
    from_at  text   NOT NULL,
    until_at text   NOT NULL,
    calls    bigint NOT NULL
);
