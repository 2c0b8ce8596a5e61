CREATE TABLE workspaces (
    id                integer PRIMARY KEY AUTOINCREMENT,
    username          text NOT NULL UNIQUE,
    firstname         text NOT NULL,
    lastname          text NOT NULL,
    email             text NOT NULL,
    balance           bigint NOT NULL,
    currency          text NOT NULL,
    heading           text NOT NULL,
    description       text NOT NULL,
    contact_email     text NOT NULL,
    social_links      text NOT NULL,
    avatar            text NOT NULL,
    cover             text NOT NULL,
    registered_at     text NOT NULL,
    always_200        boolean NOT NULL,
    refuse_query_keys boolean NOT NULL,
    quota             bigint NOT NULL
);

CREATE TABLE items (
    id           integer PRIMARY KEY CHECK (id > 0),
    workspace_id bigint NOT NULL REFERENCES workspaces,
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
    body         text NOT NULL -- the item as the API prints it, made from the columns above
);

CREATE INDEX items_of_workspace ON items (workspace_id, id);

CREATE TABLE keys (
    id                  integer PRIMARY KEY AUTOINCREMENT,
    workspace_id        bigint NOT NULL REFERENCES workspaces,
    name                text NOT NULL,
    class               text NOT NULL,
    item_id             bigint REFERENCES items,
    hint                text NOT NULL,
    digest              blob NOT NULL UNIQUE,
    sealed              blob,
    previous_digest     blob UNIQUE,
    previous_sealed     blob,
    previous_expires_at text,
    created_at          text NOT NULL,
    expires_at          text,
    revoked_at          text,
    last_used_at        text,
    last_used_from      text NOT NULL DEFAULT '',
    used_count          bigint NOT NULL DEFAULT 0,
    UNIQUE (workspace_id, name)
);

-- Found by a keyed digest of the folded code, a number, by which SQLite finds a
-- row in the fewest steps; the text stays beside it to be compared.
CREATE TABLE purchases (
    code_digest     integer PRIMARY KEY,
    code            text NOT NULL,
    workspace_id    bigint NOT NULL REFERENCES workspaces,
    item_id         bigint NOT NULL REFERENCES items,
    license         text NOT NULL,
    price           bigint NOT NULL,
    currency        text NOT NULL,
    supported_until text,
    downloaded      boolean NOT NULL,
    sold_at         text NOT NULL,
    state           text NOT NULL,
    state_at        text,
    buyer_name      text NOT NULL,
    buyer_email     text NOT NULL
);

CREATE INDEX purchases_by_date ON purchases (workspace_id, sold_at, code_digest);
