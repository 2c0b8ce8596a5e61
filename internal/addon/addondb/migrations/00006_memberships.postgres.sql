-- The account ids that apps hand to the store, and whose they are. Those from before a
-- new key file stay valid.
CREATE TABLE identities (
    account_id text COLLATE "C" PRIMARY KEY,
    user_id    text COLLATE "C" NOT NULL,
    created_at text NOT NULL
);
CREATE INDEX identities_by_user ON identities (user_id);

-- A purchase is one token of the store. The tokens are in sealed alone; token_digest and
-- linked_digest are keyed digests of the token and of the one that it replaces.
CREATE TABLE purchases (
    id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name              text COLLATE "C" NOT NULL UNIQUE,
    platform          text NOT NULL,
    token_digest      bytea NOT NULL,
    sealed            bytea NOT NULL,
    linked_digest     bytea,
    retires           boolean NOT NULL, -- it takes the place of the one that it replaces
    superseded_by     bigint REFERENCES purchases (id),
    user_id           text COLLATE "C" NOT NULL, -- '' for nobody
    transferred       boolean NOT NULL, -- to its owner, by the site's staff
    transferred_at    text,
    environment       text NOT NULL,
    application       text NOT NULL,
    state             text NOT NULL, -- the store's
    status            text NOT NULL, -- ours
    status_since      text NOT NULL,
    access            boolean NOT NULL,
    unverified        boolean NOT NULL,
    started_at        text,
    expires_at        text,
    auto_resume_at    text,
    canceled_by       text NOT NULL,
    region            text NOT NULL,
    account_id        text COLLATE "C" NOT NULL,
    pending_order     text COLLATE "C" NOT NULL,
    acknowledged      boolean NOT NULL,
    acknowledge_since text, -- since when an acknowledgement is due
    reads             bigint NOT NULL, -- how many answers of the store were written
    read_at           text NOT NULL,
    created_at        text NOT NULL,
    UNIQUE (platform, token_digest)
);
CREATE INDEX purchases_by_user ON purchases (user_id);
CREATE INDEX purchases_by_linked ON purchases (linked_digest);
CREATE INDEX purchases_unacknowledged ON purchases (id) WHERE acknowledge_since IS NOT NULL;
CREATE INDEX purchases_with_access ON purchases (read_at) WHERE access;

CREATE TABLE purchase_items (
    purchase_id  bigint NOT NULL REFERENCES purchases (id),
    position     bigint NOT NULL,
    product_id   text NOT NULL,
    base_plan_id text NOT NULL,
    offer_id     text NOT NULL,
    phase        text NOT NULL,
    order_id     text COLLATE "C" NOT NULL,
    expires_at   text,
    package_id   bigint NOT NULL, -- 0 while the product is not mapped
    counts       boolean NOT NULL, -- it is paid
    prepaid      boolean NOT NULL,
    will_renew   boolean NOT NULL,
    action       text NOT NULL, -- what the user has to do
    deferred     text NOT NULL, -- the product that replaces it at its end
    currency     text NOT NULL,
    price        text NOT NULL, -- of a renewal, '' when it is not known
    PRIMARY KEY (purchase_id, position)
);
CREATE INDEX purchase_items_by_order ON purchase_items (order_id);

CREATE TABLE purchase_history (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    purchase_id bigint NOT NULL REFERENCES purchases (id),
    at          text NOT NULL,
    cause       text NOT NULL,
    state       text NOT NULL,
    status      text NOT NULL,
    expires_at  text,
    order_id    text COLLATE "C" NOT NULL,
    detail      text NOT NULL
);
CREATE INDEX purchase_history_by_purchase ON purchase_history (purchase_id, id);
CREATE INDEX purchase_history_by_order ON purchase_history (order_id);
CREATE INDEX purchase_history_by_time ON purchase_history (at);

-- What users have: derived from purchases and grants in the transactions that change them.
CREATE TABLE memberships (
    user_id     text COLLATE "C" PRIMARY KEY,
    status      text NOT NULL,
    package_id  bigint NOT NULL,
    product_id  text NOT NULL,
    source      text NOT NULL, -- store, grant, '' for none
    source_id   bigint NOT NULL,
    environment text NOT NULL,
    since       text,
    until       text,
    will_renew  boolean NOT NULL,
    action      text NOT NULL,
    unverified  boolean NOT NULL,
    version     bigint NOT NULL,
    updated_at  text NOT NULL
);

CREATE TABLE grants (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id    text COLLATE "C" NOT NULL,
    package_id bigint NOT NULL,
    reason     text NOT NULL,
    granted_by text NOT NULL,
    created_at text NOT NULL,
    ends_at    text,
    ended_by   text NOT NULL,
    ended_at   text -- when it was ended early
);
CREATE INDEX grants_by_user ON grants (user_id);

-- Notifications of the store. Their bodies are sealed.
CREATE TABLE inbox (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    message_id   text COLLATE "C" NOT NULL UNIQUE,
    kind         text NOT NULL,
    code         bigint NOT NULL,
    token_digest bytea,
    sealed       bytea NOT NULL,
    received_at  text NOT NULL,
    processed_at text,
    result       text NOT NULL
);
CREATE INDEX inbox_open ON inbox (token_digest) WHERE processed_at IS NULL;

-- What people have to know. An alert that comes again is counted.
CREATE TABLE alerts (
    kind        text COLLATE "C" NOT NULL,
    subject     text COLLATE "C" NOT NULL,
    message     text NOT NULL,
    count       bigint NOT NULL,
    first_at    text NOT NULL,
    last_at     text NOT NULL,
    resolved_at text,
    PRIMARY KEY (kind, subject)
);
