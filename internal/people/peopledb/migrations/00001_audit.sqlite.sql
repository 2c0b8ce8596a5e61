CREATE TABLE audit (
    id         integer PRIMARY KEY AUTOINCREMENT,
    at         text NOT NULL,
    actor_kind text NOT NULL,
    actor      text NOT NULL,
    face       text NOT NULL,
    address    text NOT NULL,
    action     text NOT NULL,
    workspace  text NOT NULL,
    subject    text NOT NULL,
    detail     text NOT NULL
);
