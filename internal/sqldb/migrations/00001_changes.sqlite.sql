CREATE TABLE meta (
    name  text PRIMARY KEY,
    value text NOT NULL
);

CREATE TABLE changes (
    id     integer PRIMARY KEY AUTOINCREMENT,
    topic  text NOT NULL,
    ref    text NOT NULL,
    at     text NOT NULL
);
