-- How the columns of CSV were read last: header is the SHA-256 of their folded names.
CREATE TABLE import_mappings (
    workspace_id bigint NOT NULL REFERENCES workspaces,
    header       text NOT NULL,
    mapping      text NOT NULL,
    used_at      text NOT NULL,
    PRIMARY KEY (workspace_id, header)
);

-- Imports that can be undone, and what they did. They are kept for a day.
CREATE TABLE imports (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created_at text NOT NULL,
    actor      text NOT NULL,
    file       text NOT NULL,
    counts     text NOT NULL,
    undone_at  text
);

-- The rows that an import added or changed, as it found them (before) and as it left
-- them. One that it added has no row before.
CREATE TABLE import_items (
    import_id    bigint NOT NULL,
    before       boolean NOT NULL,
    id           bigint NOT NULL,
    workspace_id bigint NOT NULL,
    kind         text NOT NULL,
    support      boolean NOT NULL,
    name         text NOT NULL,
    description  text NOT NULL,
    category     text NOT NULL,
    sub_category text NOT NULL,
    options      text NOT NULL,
    version      text NOT NULL,
    demo_link    text NOT NULL,
    tags         text NOT NULL,
    media        text NOT NULL,
    regular      bigint NOT NULL,
    extended     bigint NOT NULL,
    currency     text NOT NULL,
    published_at text NOT NULL,
    body         text NOT NULL,
    licensing    text NOT NULL,
    PRIMARY KEY (import_id, before, id)
);

CREATE TABLE import_purchases (
    import_id       bigint NOT NULL,
    before          boolean NOT NULL,
    id              bigint NOT NULL,
    code            text NOT NULL,
    workspace_id    bigint NOT NULL,
    item_id         bigint NOT NULL,
    license         text NOT NULL,
    price           bigint NOT NULL,
    currency        text NOT NULL,
    supported_until text,
    downloaded      boolean NOT NULL,
    sold_at         text NOT NULL,
    state           text NOT NULL,
    state_at        text,
    buyer_name      text NOT NULL,
    buyer_email     text NOT NULL,
    PRIMARY KEY (import_id, before, id)
);
