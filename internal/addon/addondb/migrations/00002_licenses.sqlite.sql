CREATE TABLE purchase_codes (
    id      integer PRIMARY KEY AUTOINCREMENT,
    hint    text NOT NULL,
    sealed  blob NOT NULL,
    kept_at text NOT NULL
);

CREATE TABLE licenses (
    id              integer PRIMARY KEY AUTOINCREMENT,
    license_id      text NOT NULL UNIQUE, -- the store's name for it
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
