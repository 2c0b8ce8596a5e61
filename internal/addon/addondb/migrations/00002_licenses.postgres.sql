CREATE TABLE purchase_codes (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hint    text NOT NULL,
    sealed  bytea NOT NULL,
    kept_at text NOT NULL
);

CREATE TABLE licenses (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    license_id      text COLLATE "C" NOT NULL UNIQUE, -- the store's name for it
    code_id         bigint NOT NULL REFERENCES purchase_codes (id),
    domain          text NOT NULL,
    domains         text NOT NULL, -- those that it opens for
    item_id         bigint NOT NULL,
    item_name       text NOT NULL,
    license_type    text NOT NULL,
    supported_until text,
    issued_at       text NOT NULL,
    made_at         text NOT NULL,
    moved_at        text,
    checked_at      text,
    answer          text NOT NULL, -- the store's last answer whether it is good, '' while it was not asked
    file            text NOT NULL
);
